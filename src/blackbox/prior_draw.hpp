// A function drawn from a Gaussian process with the mixed kernel (blackbox/mixed_kernel.hpp), before any value is
// known.
//
//   f = sqrt(c0) z + sqrt(s1) E(x) + sqrt(s2 / 2M) sum_m A_m(x) B_m(x) + sqrt(s3 / M) sum_m S_m(x),   m = 1 .. M
//
// z is a normal number, and E, A_m and B_m are draws with covariance e1: sums of a normal number for each state of each
// variable. The product A_m B_m has the covariance e1^2, twice e2 and main effects besides. S_m is +1 or -1, by a hash
// of the states of some variables: v is left out with probability exp(-w_v). Two configurations have the same sign
// where all variables in which they differ are left out, and independent ones otherwise: the covariance is the product
// of the kernel. The levels of an ordered variable are cut into ranges instead, at random places at the rate w_v:
// states between the same cuts count as one. For p = 2 the rate is sqrt(w_v); the draw is then rougher than the kernel.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "blackbox/mixed_kernel.hpp"
#include "treesample/math/random.hpp"

namespace treesample {

class PriorDraw {
 public:
  PriorDraw(const MixedKernel& kernel, std::vector<int> num_states, Random& random);

  [[nodiscard]] double at(std::span<const int> x) const;
  // Adds the values at all configurations that differ from x in one variable at most: for each state of the first
  // variable, then of the second one, ...
  void add_neighbours(std::span<const int> x, std::span<double> out) const;

 private:
  // One number for each state of each variable, all of them M times, and what they add up to.
  using Effects = std::vector<double>;
  [[nodiscard]] Effects main_effects(const MixedKernel& kernel, int count, Random& random) const;
  void add_codes(const MixedKernel& kernel, Random& random);
  [[nodiscard]] std::size_t place(std::span<const int> x, std::size_t v) const {
    return first_[v] + static_cast<std::size_t>(x[v]);
  }

  std::vector<int> num_states_;
  std::vector<std::size_t> first_;  // place of the first state of each variable
  std::size_t num_places_ = 0;
  double constant_ = 0.0, pair_scale_ = 0.0, sign_scale_ = 0.0;
  Effects own_, left_, right_;        // E, A and B
  std::vector<std::uint64_t> codes_;  // of S_m; added up, and hashed
};

}  // namespace treesample
