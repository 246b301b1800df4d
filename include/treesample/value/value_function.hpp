// Q_phi: the state-action values that stand in for what has not been evaluated (the paper's prior).
// The search uses them to initialise new nodes and to scale exploration, sampling falls back on them
// off the store, and SIS/SMC propose from their softmax.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "treesample/space/search_space.hpp"

namespace treesample {

class ValueFunction {
 public:
  virtual ~ValueFunction() = default;

  // True for the constant of the paper's section 4.1 alone: Q_phi_n(a | x) = sum of log K_j over the
  // descendants of n. Stores then keep no prior, and passes over a store are exact.
  [[nodiscard]] virtual bool is_uniform() const { return false; }

  // q[r * K + a] = Q_phi_n(a | x_r) for the K = num_states of the level, for `count` prefixes.
  // `prefixes` holds count rows of one state per variable (indexed by variable, not by level);
  // variables that are not assigned are -1. -inf is legal, NaN and +inf are not.
  virtual void q_values(int level, std::span<const int> prefixes, int count, std::span<double> q) const = 0;

  // False when it was made for another space: methods refuse it then, because its levels would be others. One that
  // knows no space, or fits any, need not say anything.
  [[nodiscard]] virtual bool fits(const SearchSpace& /*space*/) const { return true; }
};

// Throws Error (kArgument) unless there is none or it fits the space.
void check_fits(const char* function, const ValueFunction* prior, const SearchSpace& space);

// The paper's default (N - n) log K, for any numbers of states and any space.
class UniformValue final : public ValueFunction {
 public:
  explicit UniformValue(const SearchSpace& space);
  [[nodiscard]] bool is_uniform() const override { return true; }
  [[nodiscard]] bool fits(const SearchSpace& space) const override { return space.fingerprint == fingerprint_; }
  void q_values(int level, std::span<const int> prefixes, int count, std::span<double> q) const override;

 private:
  std::vector<double> log_states_below_;
  std::uint64_t fingerprint_ = 0;  // of the space
};

}  // namespace treesample
