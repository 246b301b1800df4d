// L, U and V of a sub-problem or of an edge as numbers, not as logarithms: backing up then takes only products and
// sums.
//
// Each is a WideNumber, m 2^(768 e). The values of a node and its children nearly always have equal exponents: the
// search works on the mantissas m and only checks that the exponents are equal. The three exponents fit into 32 bits,
// because L and V are close to U:
//
//   bits 0..15   e of U, signed; of V where U is inf, of L where both are
//   bits 16..23  that minus e of L:   L may be 135,000 nats below U
//   bits 24..31  e of V minus that:   V may be 68,000 nats off U
//
// A value that does not fit is moved away from the truth: L down to 0, U up to inf. V, an estimate, is moved to the
// nearest number that fits.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "math/wide_number.hpp"

namespace treesample {

inline constexpr double kInf = std::numeric_limits<double>::infinity();

// Factors that move bounds outward, for logarithms with an error of at most `error` < 1.
struct Outward {
  Outward() = default;
  explicit Outward(double error) : down(1.0 - error), up(1.0 / (1.0 - error)) {}
  double down = 1.0, up = 1.0;
};

class BoundValues {
 public:
  // All 0: an impossible sub-problem.
  BoundValues() = default;
  // L = U = V = a mantissa. The caller accounts for rounding.
  explicit BoundValues(double value) : lower_(value), upper_(value), estimate_(value) {}
  BoundValues(const WideNumber& lower, const WideNumber& upper, const WideNumber& estimate);
  // L and U are moved outward by the rounding errors.
  static BoundValues of_logs(double log_lower, double log_upper, double log_estimate);

  [[nodiscard]] bool is_dead() const { return upper_ == 0.0; }
  // True when log L = -inf: nothing is known to be possible.
  [[nodiscard]] bool has_no_lower() const { return lower_ == 0.0; }

  [[nodiscard]] WideNumber lower() const { return {lower_, lower_ == 0.0 ? 0 : unit() - units_below()}; }
  [[nodiscard]] WideNumber upper() const { return {upper_, is_number(upper_) ? unit() : 0}; }
  [[nodiscard]] WideNumber estimate() const { return {estimate_, is_number(estimate_) ? unit() + units_off() : 0}; }
  [[nodiscard]] double log_lower() const { return lower().log(); }
  [[nodiscard]] double log_upper() const { return upper().log(); }
  [[nodiscard]] double log_estimate() const { return estimate().log(); }
  // log U - log L and log V - log L.
  [[nodiscard]] double log_upper_gap() const;
  [[nodiscard]] double log_estimate_gap() const;

  // log V relative to its unit, to compare values with the same units.
  [[nodiscard]] double log_estimate_in_unit() const {
    if (is_number(estimate_)) [[likely]]
      return log_one(estimate_);
    return estimate_ == 0.0 ? -std::numeric_limits<double>::infinity() : estimate_;
  }

  void set_log_estimate(double log_estimate);

  // The product of each of the three. Pre: the mantissas are in their range, and neither side is dead. The caller
  // accounts for rounding.
  BoundValues& operator*=(const BoundValues& other) {
    if (units_ != 0 && other.units_ != 0) [[unlikely]]
      return multiply_slowly(other);
    units_ += other.units_;  // one of them is 0
    scale_by(other);
    if (!is_normalised()) [[unlikely]]
      normalise();
    return *this;
  }
  // A factor of 2^-192 .. 2^192 times the values, as a summand: mantissas may leave their range.
  [[nodiscard]] BoundValues times_factor(double factor) const {
    BoundValues result;
    result.set_product(*this, factor);
    return result;
  }
  // The same in place, number by number: a copy of the whole would have to wait for numbers that were just written.
  void set_product(const BoundValues& values, double factor) {
    lower_ = values.lower_ * factor;
    upper_ = values.upper_ * factor;
    estimate_ = values.estimate_ * factor;
    units_ = values.units_;
  }

  [[nodiscard]] bool has_units_of(const BoundValues& other) const { return units_ == other.units_; }
  // Pre: both have the same units.
  void add(const BoundValues& other) {
    lower_ += other.lower_;
    upper_ += other.upper_;
    estimate_ += other.estimate_;
  }
  // Gives all values the same units, for a sum. Numbers too small to matter in it become 0.
  static void align(std::span<BoundValues> values);

  // L := max(L, L of the backup), U := min(U, U of the backup), V := V of the backup, at least L and, unless it is
  // free, at most U. The backup is a sum; its L and U are moved outward first.
  void tighten(BoundValues backup, const Outward& outward, bool is_estimate_free) {
    backup.lower_ *= outward.down;
    backup.upper_ *= outward.up;
    const bool is_common =
        units_ == backup.units_ && units_off() == 0 && backup.estimate_ != 0.0 && backup.is_normalised();
    if (!is_common) [[unlikely]]
      return tighten_slowly(backup, is_estimate_free);
    lower_ = backup.lower_ > lower_ ? backup.lower_ : lower_;
    upper_ = backup.upper_ < upper_ ? backup.upper_ : upper_;
    estimate_ = is_estimate_free || backup.estimate_ < upper_ ? backup.estimate_ : upper_;
    if (units_below() == 0 && estimate_ < lower_) estimate_ = lower_;  // in another unit V is larger anyway
  }

  // exp(U) - exp(L) in units of U.
  [[nodiscard]] double unresolved_mass() const {
    if (units_below() == 0) [[likely]]
      return upper_ - lower_;
    return upper_ - (units_below() == 1 ? lower_ / WideNumber::kUnit : 0.0);
  }

 private:
  static bool is_number(double mantissa) {
    return mantissa > 0.0 && mantissa < std::numeric_limits<double>::infinity();
  }
  static bool is_normalised(double mantissa) {
    return (mantissa >= WideNumber::kLeast && mantissa < WideNumber::kMost) || !is_number(mantissa);
  }
  [[nodiscard]] bool is_normalised() const {
    return is_normalised(lower_) && is_normalised(upper_) && is_normalised(estimate_);
  }
  [[nodiscard]] int unit() const { return static_cast<std::int16_t>(units_ & 0xffff); }
  [[nodiscard]] int units_below() const { return static_cast<int>(units_ >> 16 & 0xff); }
  [[nodiscard]] int units_off() const { return static_cast<std::int8_t>(units_ >> 24); }
  void scale_by(const BoundValues& other) {
    lower_ *= other.lower_;
    upper_ *= other.upper_;
    estimate_ *= other.estimate_;
  }
  void normalise();
  BoundValues& multiply_slowly(const BoundValues& other);
  void tighten_slowly(BoundValues backup, bool is_estimate_free);  // by value: tighten() keeps it in registers

  double lower_ = 0.0, upper_ = 0.0, estimate_ = 0.0;  // mantissas
  std::uint32_t units_ = 0;
};

}  // namespace treesample
