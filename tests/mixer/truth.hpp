// The truth about a mixed case, by enumeration with 113 bits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "mixer/mixed_case.hpp"
#include "support/quad_truth.hpp"

namespace treesample::mixer {

using testing::Quad;

// Every configuration with its log density, the observations included.
class Truth {
 public:
  explicit Truth(const MixedCase& asked) : asked_(asked) {
    Assignment x(asked.num_states.size(), 0);
    for (bool goes_on = true; goes_on;) {
      all_.push_back(x);
      densities_.push_back(density(x, /*with_evidence=*/true));
      goes_on = false;
      for (std::size_t v = x.size(); v-- > 0 && !goes_on;) {
        goes_on = ++x[v] < asked.num_states[v];
        if (!goes_on) x[v] = 0;
      }
    }
    log_z_ = testing::quad_log_sum_exp(densities_);
    most_ = *std::max_element(densities_.begin(), densities_.end());
    for (const Quad value : densities_) probabilities_.push_back(static_cast<double>(expq(value - log_z_)));
  }

  [[nodiscard]] const std::vector<Assignment>& all() const { return all_; }
  [[nodiscard]] const std::vector<Quad>& densities() const { return densities_; }
  [[nodiscard]] const std::vector<double>& probabilities() const { return probabilities_; }
  [[nodiscard]] Quad log_z() const { return log_z_; }
  [[nodiscard]] Quad most() const { return most_; }
  [[nodiscard]] bool is_impossible() const { return isinfq(log_z_) != 0; }

  [[nodiscard]] Quad density(const Assignment& x, bool with_evidence) const {
    Quad sum = 0;
    for (const MixedFactor& factor : asked_.factors) {
      std::size_t entry = 0;
      for (const int v : factor.scope) {
        entry = entry * static_cast<std::size_t>(asked_.num_states[static_cast<std::size_t>(v)]) +
                static_cast<std::size_t>(x[static_cast<std::size_t>(v)]);
      }
      if (factor.log_values[entry] == kNegInf) return -HUGE_VALQ;
      sum += static_cast<Quad>(factor.log_values[entry]);
    }
    if (!with_evidence) return sum;
    for (const Observation& seen : asked_.evidence) {
      if (x[static_cast<std::size_t>(seen.variable)] != seen.state) return -HUGE_VALQ;
    }
    for (const SoftObservation& seen : asked_.soft_evidence) {
      const auto state = static_cast<std::size_t>(x[static_cast<std::size_t>(seen.variable)]);
      if (seen.weights[state] == 0.0) return -HUGE_VALQ;
      sum += logq(static_cast<Quad>(seen.weights[state]));
    }
    return sum;
  }
  // Of the joint states of these variables, the last one fastest: log of the sum of densities.
  [[nodiscard]] std::vector<Quad> log_sums(const std::vector<int>& variables) const {
    std::size_t size = 1;
    for (const int v : variables) size *= static_cast<std::size_t>(asked_.num_states[static_cast<std::size_t>(v)]);
    std::vector<std::vector<Quad>> parts(size);
    for (std::size_t i = 0; i < all_.size(); ++i) {
      std::size_t entry = 0;
      for (const int v : variables) {
        entry = entry * static_cast<std::size_t>(asked_.num_states[static_cast<std::size_t>(v)]) +
                static_cast<std::size_t>(all_[i][static_cast<std::size_t>(v)]);
      }
      parts[entry].push_back(densities_[i]);
    }
    std::vector<Quad> sums;
    for (const std::vector<Quad>& part : parts) sums.push_back(testing::quad_log_sum_exp(part));
    return sums;
  }
  [[nodiscard]] std::vector<double> distribution(const std::vector<int>& variables) const {
    std::vector<double> distribution;
    for (const Quad sum : log_sums(variables)) distribution.push_back(static_cast<double>(expq(sum - log_z_)));
    return distribution;
  }

 private:
  const MixedCase& asked_;
  std::vector<Assignment> all_;
  std::vector<Quad> densities_;
  std::vector<double> probabilities_;
  Quad log_z_ = 0, most_ = 0;
};

inline double plain(Quad value) { return static_cast<double>(value); }

}  // namespace treesample::mixer
