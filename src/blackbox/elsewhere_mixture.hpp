// Draws from a mixture over the configurations of a grid that were not evaluated: P_X, its square root and the uniform
// distribution.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "treesample/math/random.hpp"

namespace treesample {

class ElsewhereMixture {
 public:
  ElsewhereMixture(std::span<const double> log_weights, std::span<const unsigned char> is_open);

  [[nodiscard]] bool has_any() const { return num_open_ > 0; }
  // The log of the learned mass that is left.
  [[nodiscard]] double log_mass() const { return log_mass_; }
  [[nodiscard]] std::size_t draw(Random& random) const;
  [[nodiscard]] double log_prob(std::size_t place) const;

 private:
  struct Part {
    double share = 0.0, power = 0.0;
    std::vector<double> sums = {};  // of the weights, up to and including each
  };
  [[nodiscard]] Part make(double share, double power) const;
  [[nodiscard]] double weight(std::size_t place, double power) const;

  std::vector<double> log_weights_;
  std::vector<unsigned char> is_open_;
  std::size_t num_open_ = 0;
  double top_ = 0.0, log_mass_ = 0.0;
  std::vector<Part> parts_;
};

}  // namespace treesample
