#include "formula/exact_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "treesample/error.hpp"

namespace treesample {
namespace {

constexpr int kMostExponent = 100'000;

struct Fraction {
  Integer above{0}, below{1};
};

// The exponent that is written in a decimal number.
std::int64_t written_exponent(std::string_view text) {
  const std::size_t at = text.find_first_of("eE");
  return at == std::string_view::npos ? 0 : std::strtoll(std::string(text.substr(at + 1)).c_str(), nullptr, 10);
}

// A decimal number such as -0.25, 3 or 1e-3; the parser has checked its form.
Fraction decimal(std::string_view text) {
  std::string digits;
  std::int64_t exponent = written_exponent(text);
  bool is_behind_point = false;
  for (const char c : text) {
    if (c == '.') {
      is_behind_point = true;
    } else if (c == 'e' || c == 'E') {
      break;
    } else if (c != '+') {
      digits += c;
      if (is_behind_point) --exponent;
    }
  }
  Fraction result;
  result.above = Integer(digits);
  if (result.above.is_zero()) return result;
  if (std::abs(exponent) > kMostExponent) {
    throw Error(
        ErrorCode::kResource,
        fmt::format("the weight {} has more than {} digits, which exact counts do not carry", text, kMostExponent));
  }
  const Integer power = Integer::power(10, static_cast<std::uint64_t>(std::abs(exponent)));
  if (exponent > 0) result.above *= power;
  if (exponent < 0) result.below = power;
  return result;
}

Fraction fraction(std::string_view text) {
  const std::size_t slash = text.find('/');
  Fraction result = decimal(text.substr(0, slash));
  if (slash == std::string_view::npos) return result;
  Fraction divisor = decimal(text.substr(slash + 1));
  result.above *= divisor.below;
  result.below *= divisor.above;
  return result;
}

// More than the product of all denominators has, or one of the weights of each variable.
double digits_together(const Formula& formula, const std::vector<char>& is_hidden) {
  double num_digits = 0.0;
  for (std::size_t i = 0; i < formula.weights.size(); ++i) {
    if (is_hidden[i / 2] != 0) continue;
    std::string_view text = formula.weights[i];
    num_digits += static_cast<double>(text.size());
    for (std::size_t slash = 0; slash != std::string_view::npos; text.remove_prefix(slash + 1)) {
      slash = text.find('/');
      const std::int64_t exponent = written_exponent(text.substr(0, slash));
      num_digits += std::min(std::abs(static_cast<double>(exponent)), double{kMostExponent});
      if (slash == std::string_view::npos) break;
    }
  }
  return num_digits;
}

// The denominator, a sum and their common divisor are there together.
void check_digits(double num_digits, const Limits& limits) {
  constexpr double kBytesPerDigit = 4.0, kMostOfTime = 0.5;
  const char* of = nullptr;
  if (kBytesPerDigit * num_digits > static_cast<double>(limits.bytes)) of = "memory (--memory)";
  if (seconds_for_digits(num_digits) > kMostOfTime * limits.seconds) of = "time (--time)";
  if (of == nullptr) return;
  throw Error(
      ErrorCode::kResource,
      fmt::format("the weights have {:.3g} digits together, too many to be counted with in this {}", num_digits, of));
}

// 1 - a.
Fraction rest_of(const Fraction& a) {
  Fraction rest{Integer(-1), a.below};
  rest.above *= a.above;
  rest.above += a.below;
  return rest;
}

}  // namespace

ExactWeights exact_weights(const Formula& formula, const std::vector<char>& is_hidden, const Limits& limits) {
  ExactWeights weights;
  weights.num_digits = digits_together(formula, is_hidden);
  check_digits(weights.num_digits, limits);
  IntegerProduct denominator;
  for (int v = 1; v <= formula.num_variables && !formula.weights.empty(); ++v) {
    const std::string& is_true = formula.weights[Formula::literal_index(v)];
    const std::string& is_false = formula.weights[Formula::literal_index(-v)];
    if (is_hidden[v - 1] != 0 || (is_true.empty() && is_false.empty())) continue;
    Fraction one = is_true.empty() ? Fraction() : fraction(is_true);
    Fraction zero = is_false.empty() ? Fraction() : fraction(is_false);
    if (is_true.empty()) one = rest_of(zero);
    if (is_false.empty()) zero = rest_of(one);
    // Over one denominator, without what both have in common.
    StatePair pair{std::move(zero.above), std::move(one.above)};
    pair.first *= one.below;
    pair.second *= zero.below;
    Integer below = std::move(zero.below);
    below *= one.below;
    const Integer common = common_divisor(common_divisor(below, pair.first), pair.second);
    for (Integer* const number : {&below, &pair.first, &pair.second}) number->divide_exactly(common);
    if (weights.states.empty()) {
      weights.states.assign(static_cast<std::size_t>(formula.num_variables), {Integer(1), Integer(1)});
    }
    for (const Integer* const weight : {&pair.first, &pair.second}) {
      weights.has_negative = weights.has_negative || weight->is_negative();
      weights.has_zero = weights.has_zero || weight->is_zero();
    }
    weights.states[v - 1] = std::move(pair);
    denominator.multiply(std::move(below));
  }
  weights.denominator = denominator.value();
  return weights;
}

}  // namespace treesample
