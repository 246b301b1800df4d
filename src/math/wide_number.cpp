#include "math/wide_number.hpp"

#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kMostLog = 1e10;  // no exponent in use is large enough for a larger logarithm

}  // namespace

template <int kBits>
BasicWideNumber<kBits> BasicWideNumber<kBits>::normalised(double mantissa, std::int32_t exponent) {
  if (mantissa == 0.0 || mantissa == kInf) return {mantissa, 0};
  for (; mantissa >= kMost; ++exponent) mantissa /= kUnit;
  for (; mantissa < kLeast; --exponent) mantissa *= kUnit;
  return {mantissa, exponent};
}

template <int kBits>
BasicWideNumber<kBits> BasicWideNumber<kBits>::of_log(double log_value) {
  if (std::isinf(log_value)) return {log_value > 0.0 ? kInf : 0.0, 0};
  log_value = std::clamp(log_value, -kMostLog, kMostLog);
  const auto exponent = static_cast<std::int32_t>(unit_of_log(log_value));
  return normalised(exp_one(log_in_unit(log_value, exponent)), exponent);
}

// The error of the exponential. For a logarithm outside of the unit around 1, which has 0.34 kBits nats on either side,
// it includes the error of reducing the argument.
template <int kBits>
double BasicWideNumber<kBits>::of_log_error(double log_value) {
  const double magnitude = std::isinf(log_value) ? 0.0 : std::min(std::abs(log_value), kMostLog);
  return std::numeric_limits<double>::epsilon() * (4.0 + (magnitude < kBits / 3 ? 0.0 : 4.0 * magnitude));
}

template <int kBits>
double BasicWideNumber<kBits>::log() const {
  if (is_zero()) return kNegInf;
  return is_infinite() ? kInf : log_from_unit(log_one(mantissa), exponent);
}

template struct BasicWideNumber<256>;
template struct BasicWideNumber<768>;

}  // namespace treesample
