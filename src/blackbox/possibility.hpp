// Where a function has a finite value, and where it fails or is -inf.
//
// A Gaussian process is fitted to +1 where a value is finite and -1 elsewhere. Its prediction m of a configuration,
// made without that configuration, is turned into a probability by logistic regression on all that is known:
//
//   P(possible | x) = 1 / (1 + exp(-(a + b m))),   b >= 0
//
// Failures at random cannot be predicted: b is then about 0, and everything has the usual chance. Where failures have
// regions or rules, b is large.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "treesample/blackbox/domain.hpp"
#include "treesample/blackbox/gaussian_process.hpp"
#include "treesample/stop.hpp"

namespace treesample {

class Possibility {
 public:
  explicit Possibility(const Domain& domain) : domain_(domain) {}

  // `told` has the values of the function; `failed` has the configurations where it failed, one after the other.
  void fit(const ToldValues& told, std::span<const int> failed, const ShouldStop& should_stop);
  // Whether anything was impossible: otherwise everything is possible for all that is known.
  [[nodiscard]] bool has_any() const { return process_ != nullptr; }
  // The logarithms of the probabilities are added. `rows` holds out.size() configurations.
  void add_log(std::span<const int> rows, std::span<double> out) const;
  // The same for neighbours, as Surrogate::predict_neighbours.
  void add_log_neighbours(std::span<const int> x, std::span<double> out) const;
  // The same over the whole domain, the last variable changing fastest.
  void add_log_all(std::span<double> out) const;

 private:
  [[nodiscard]] double log_chance(double prediction) const;

  Domain domain_;
  std::unique_ptr<GaussianProcess> process_;  // null where nothing was impossible
  double intercept_ = 0.0, slope_ = 0.0;
};

}  // namespace treesample
