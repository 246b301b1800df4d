#include "search/bound_values.hpp"

#include <algorithm>
#include <cmath>

#include "math/compensated_sum.hpp"
#include "math/vector_kernels.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kLargest = 0x1.fffffffffffffp383;  // mantissa
constexpr double kMostLog = 1e10;                   // larger logarithms fit no exponent
constexpr int kMaxUnit = INT16_MAX, kMinUnit = INT16_MIN;

// log(a / b), with 0 / 0 = 1.
double log_ratio(const WideNumber& a, const WideNumber& b) {
  if (b.mantissa == 0.0) return a.mantissa == 0.0 ? 0.0 : kInf;
  if (a.mantissa == kInf) return kInf;
  const double bits = WideNumber::kUnitBits * static_cast<double>(a.exponent - b.exponent);
  return log_one(a.mantissa / b.mantissa) + bits * (kLn2High + kLn2Low);
}

}  // namespace

WideNumber WideNumber::normalised(double mantissa, int exponent) {
  if (mantissa == 0.0 || mantissa == kInf) return {mantissa, 0};
  for (; mantissa >= kMost; ++exponent) mantissa /= kUnit;
  for (; mantissa < kLeast; --exponent) mantissa *= kUnit;
  return {mantissa, exponent};
}

WideNumber WideNumber::of_log(double log_value) {
  if (std::isinf(log_value)) return {log_value > 0.0 ? kInf : 0.0, 0};
  log_value = std::clamp(log_value, -kMostLog, kMostLog);
  const double exponent = std::round(log_value * (0x1.71547652b82fep+0 / kUnitBits));
  const double bits = exponent * kUnitBits;
  const double mantissa = exp_one((log_value - bits * kLn2High) - bits * kLn2Low);
  return normalised(mantissa, static_cast<int>(exponent));
}

// The error of the exponential, and of reducing the argument of a logarithm that is not small.
double WideNumber::of_log_error(double log_value) {
  const double magnitude = std::isinf(log_value) ? 0.0 : std::min(std::abs(log_value), kMostLog);
  return kEpsilon * (4.0 + (magnitude < 256.0 ? 0.0 : 4.0 * magnitude));
}

double WideNumber::log() const {
  if (mantissa == 0.0) return kNegInf;
  if (mantissa == kInf) return kInf;
  const double bits = static_cast<double>(exponent) * kUnitBits;
  return bits * kLn2High + (log_one(mantissa) + bits * kLn2Low);
}

BoundValues::BoundValues(const WideNumber& lower, const WideNumber& upper, const WideNumber& estimate)
    : lower_(lower.mantissa), upper_(upper.mantissa), estimate_(estimate.mantissa) {
  int unit = lower.exponent;
  if (is_number(estimate_)) unit = estimate.exponent;
  if (is_number(upper_)) unit = upper.exponent;
  if (is_number(upper_) && unit > kMaxUnit) upper_ = kInf;
  if (is_number(upper_) && unit < kMinUnit) upper_ = WideNumber::kLeast;
  unit = std::clamp(unit, kMinUnit, kMaxUnit);
  int off = 0;
  if (is_number(estimate_)) {
    off = std::clamp<int>(estimate.exponent - unit, INT8_MIN, INT8_MAX);
    if (estimate.exponent > unit + off) estimate_ = kLargest;
    if (estimate.exponent < unit + off) estimate_ = WideNumber::kLeast;
  }
  int below = lower_ > 0.0 ? unit - lower.exponent : 0;
  if (below < 0) lower_ = kLargest;
  if (below > UINT8_MAX) lower_ = 0.0;
  if (below < 0 || below > UINT8_MAX) below = 0;
  units_ = (static_cast<std::uint32_t>(unit) & 0xffff) | static_cast<std::uint32_t>(below) << 16 |
           static_cast<std::uint32_t>(off) << 24;
}

BoundValues BoundValues::of_logs(double log_lower, double log_upper, double log_estimate) {
  const WideNumber lower = WideNumber::of_log(log_lower);
  const WideNumber upper = WideNumber::of_log(log_upper);
  const WideNumber estimate = log_estimate == log_upper ? upper : WideNumber::of_log(log_estimate);
  return {lower.times(1.0 - WideNumber::of_log_error(log_lower)),
          upper.times(1.0 + WideNumber::of_log_error(log_upper)), estimate};
}

double BoundValues::log_upper_gap() const { return log_ratio(upper(), lower()); }
double BoundValues::log_estimate_gap() const { return log_ratio(estimate(), lower()); }

void BoundValues::set_log_estimate(double log_estimate) {
  *this = BoundValues(lower(), upper(), WideNumber::of_log(log_estimate));
}

void BoundValues::normalise() { *this = BoundValues(lower().times(1.0), upper().times(1.0), estimate().times(1.0)); }

BoundValues& BoundValues::multiply_slowly(const BoundValues& other) {
  const auto product = [](const WideNumber& a, const WideNumber& b) {
    return WideNumber::normalised(a.mantissa * b.mantissa, a.exponent + b.exponent);
  };
  return *this = BoundValues(product(lower(), other.lower()), product(upper(), other.upper()),
                             product(estimate(), other.estimate()));
}

void BoundValues::tighten_slowly(BoundValues backup, bool is_estimate_free) {
  if (!backup.is_normalised()) backup.normalise();
  const WideNumber lower = std::max(this->lower(), backup.lower());
  const WideNumber upper = std::min(this->upper(), backup.upper());
  WideNumber estimate = std::max(backup.estimate(), lower);
  if (!is_estimate_free) estimate = std::min(estimate, std::max(lower, upper));
  *this = BoundValues(lower, upper, estimate);
}

// Why no sum of aligned values is on the wrong side, given that tighten() then moves L down and U up by at least 8
// 2^-52 of themselves. Let e be the exponent of a number and E the exponent of the unit of its sum. A mantissa m that
// is neither 0 nor inf is in 2^-576 .. 2^576 (times_factor), and the number is m 2^(768 (e - E)) in its unit.
//
//   U    One inf makes the sum inf, whatever the others become. Otherwise E is the largest e, which fits because every
//        e does: only numbers with e < E are moved down, each by less than 2^-190 (e = E - 1, where the quotient may be
//        below the normal numbers, by 2^-1075) or 2^-960 (e < E - 1) in a sum of at least 2^-576; relative to the sum
//        that is less than 2^-380 each.
//   L    E is the largest e of L, unless U or V, which are then finite for all summands, are further away than a
//        BoundValues can express. Below that L becomes 0; where E is less than e, the number is at least
//        2^-576 2^768 = 2^192 in its unit. If e = E + 1 it is m 2^768, or less where that exceeds kLargest; if e is
//        larger it is at least 2^960, and becomes kLargest < 2^384. Both are moved down or not at all. The numbers with
//        e < E move up (by 2^-1075) or down by as small a part of the sum as above.
//   V    as L; it is no bound.
void BoundValues::align(std::span<BoundValues> values) {
  WideNumber lower, upper, estimate;  // in the units that the sums need
  const auto raise = [](WideNumber& most, const WideNumber& value) {
    if (value.mantissa == 0.0 || most.mantissa == kInf) return;
    if (value.mantissa == kInf) {
      most = value;
    } else if (most.mantissa == 0.0 || value.exponent > most.exponent) {
      most = {1.0, value.exponent};
    }
  };
  for (const BoundValues& value : values) {
    raise(lower, value.lower());
    raise(upper, value.upper());
    raise(estimate, value.estimate());
  }
  const BoundValues common(lower, upper, estimate);
  const auto in_units = [](const WideNumber& value, int unit, double most) {
    if (!is_number(value.mantissa)) return value.mantissa;
    const int units = value.exponent - unit;
    if (units == 0) return value.mantissa;
    if (units < 0) return units == -1 ? value.mantissa / WideNumber::kUnit : 0.0;
    return units == 1 ? std::min(value.mantissa * WideNumber::kUnit, most) : most;
  };
  const int unit = common.unit();
  const bool has_lower = common.lower_ > 0.0;  // otherwise it is too small for the common unit
  for (BoundValues& value : values) {
    value.lower_ = has_lower ? in_units(value.lower(), unit - common.units_below(), kLargest) : 0.0;
    value.upper_ = in_units(value.upper(), unit, kInf);
    value.estimate_ = in_units(value.estimate(), unit + common.units_off(), kLargest);
    value.units_ = common.units_;
  }
}

}  // namespace treesample
