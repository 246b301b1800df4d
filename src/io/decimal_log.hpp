// Converts between non-negative decimal numbers in files and log-values in models. It does not have the limits of a
// linear double: the text "1e-400" is a valid number, because its logarithm is.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace treesample {

// The largest decimal exponent that is read, and the largest finite |log-value| that is written. Up to here a log-value
// still distinguishes neighbouring exponents.
inline constexpr double kMaxDecimalLog = 1e15;

// The log of a decimal number such as 0, .5, 12.25, 1e-400 or -0. None for any other token: other signs, inf, nan,
// hexadecimal, or an exponent beyond kMaxDecimalLog.
std::optional<double> log_of_decimal(std::string_view token);

// A decimal number such as 0.25, or two of them with a slash: the log of the quotient, and that of 1 minus the
// quotient, both right to one unit in the last place of the number. None for any other text, a division by 0 and, for
// the rest, quotients above 1.
std::optional<double> log_of_fraction(std::string_view text);
std::optional<double> log_of_rest(std::string_view text);

// Appends exp(log_value) as log_of_decimal reads it. Requires -inf or |log_value| <= kMaxDecimalLog.
void append_exp_decimal(std::string& text, double log_value);

}  // namespace treesample
