#include "search/bound_values.hpp"

#include <algorithm>
#include <cmath>

namespace treesample {
namespace {

constexpr double kLargest = 0x1.fffffffffffffp383;  // mantissa
constexpr int kMaxUnit = INT16_MAX, kMinUnit = INT16_MIN;

// log(a / b), with 0 / 0 = 1.
double log_ratio(const WideNumber& a, const WideNumber& b) {
  if (b.mantissa == 0.0) return a.mantissa == 0.0 ? 0.0 : kInf;
  if (a.mantissa == kInf) return kInf;
  const double bits = WideNumber::kUnitBits * static_cast<double>(a.exponent - b.exponent);
  return log_one(a.mantissa / b.mantissa) + bits * (kLn2High + kLn2Low);
}

}  // namespace

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
  return {lower * (1.0 - WideNumber::of_log_error(log_lower)), upper * (1.0 + WideNumber::of_log_error(log_upper)),
          estimate};
}

double BoundValues::log_upper_gap() const { return log_ratio(upper(), lower()); }
double BoundValues::log_estimate_gap() const { return log_ratio(estimate(), lower()); }

void BoundValues::set_log_estimate(double log_estimate) {
  *this = BoundValues(lower(), upper(), WideNumber::of_log(log_estimate));
}

void BoundValues::normalise() { *this = BoundValues(lower() * 1.0, upper() * 1.0, estimate() * 1.0); }

BoundValues& BoundValues::multiply_slowly(const BoundValues& other) {
  return *this = BoundValues(lower() * other.lower(), upper() * other.upper(), estimate() * other.estimate());
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
  const int unit = common.unit();
  const bool has_lower = common.lower_ > 0.0;  // otherwise it is too small for the common unit
  for (BoundValues& value : values) {
    value.lower_ = has_lower ? value.lower().in_unit(unit - common.units_below(), kLargest) : 0.0;
    value.upper_ = value.upper().in_unit(unit);
    value.estimate_ = value.estimate().in_unit(unit + common.units_off(), kLargest);
    value.units_ = common.units_;
  }
}

}  // namespace treesample
