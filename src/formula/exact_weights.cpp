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

// A decimal number such as -0.25, 3 or 1e-3; the parser has checked its form.
Fraction decimal(std::string_view text) {
  std::string digits;
  std::int64_t exponent = 0;
  bool is_behind_point = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.') {
      is_behind_point = true;
    } else if (c == 'e' || c == 'E') {
      exponent += std::strtoll(std::string(text.substr(i + 1)).c_str(), nullptr, 10);
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

// 1 - a.
Fraction rest_of(const Fraction& a) {
  Fraction rest{Integer(-1), a.below};
  rest.above *= a.above;
  rest.above += a.below;
  return rest;
}

}  // namespace

ExactWeights exact_weights(const Formula& formula, const std::vector<char>& is_hidden) {
  ExactWeights weights;
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
    weights.denominator *= below;
    for (const Integer* const weight : {&pair.first, &pair.second}) {
      weights.has_negative = weights.has_negative || weight->is_negative();
      weights.has_zero = weights.has_zero || weight->is_zero();
    }
    weights.states[v - 1] = std::move(pair);
  }
  return weights;
}

}  // namespace treesample
