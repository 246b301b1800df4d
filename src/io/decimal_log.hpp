// Between non-negative decimal numbers in files and log-values in models, without the limits of a
// linear double: the text "1e-400" is a fine log-value.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace treesample {

// Largest decimal exponent that is read, and largest finite |log-value| that is written: up to here a
// log-value resolves single digits of the exponent.
inline constexpr double kMaxDecimalLog = 1e15;

// The log of a decimal number such as 0, .5, 12.25, 1e-400 or -0. Nothing when the token is anything else:
// other signs, inf, nan, hexadecimal, or an exponent beyond kMaxDecimalLog.
std::optional<double> log_of_decimal(std::string_view token);

// Appends exp(log_value) as log_of_decimal reads it. Requires -inf or |log_value| <= kMaxDecimalLog.
void append_exp_decimal(std::string& text, double log_value);

}  // namespace treesample
