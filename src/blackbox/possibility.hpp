// Where a function has a finite value, and where it fails or is -inf.
//
// A Gaussian process is fitted to +1 where a value is finite and -1 elsewhere. Its prediction m of a configuration,
// made without that configuration, is turned into a probability by logistic regression on all that is known:
//
//   P(possible | x) = 1 / (1 + exp(-(a + b m))),   b >= 0
//
// Where the guess of the value is large and nothing is possible, a probability that is merely small leaves much of the
// mass there. In a model that is right, as much of the guessed mass of what turned out impossible was believed as of
// what turned out possible was not,
//
//   sum over impossible of exp(guess) P^k = sum over possible of exp(value) (1 - P^k),
//
// by predictions of each configuration without itself. Where the left side is larger, k >= 1 makes it as small.
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
  // `guesses` has the guess of the value at each configuration that has none, in this order. Values are logarithms in
  // this unit (Surrogate::unit), and so is what is added below.
  void fit(const ToldValues& told, std::span<const int> failed, std::span<const double> guesses, double unit,
           const ShouldStop& should_stop);
  // Whether anything was impossible: otherwise everything is possible for all that is known.
  [[nodiscard]] bool has_any() const { return process_ != nullptr; }
  // The logarithms of the probabilities are added. `rows` holds out.size() configurations.
  void add_log(std::span<const int> rows, std::span<double> out) const;
  // The same for neighbours, as Surrogate::predict_neighbours.
  void add_log_neighbours(std::span<const int> x, std::span<double> out) const;
  // The same over the whole domain, the last variable changing fastest.
  void add_log_all(std::span<double> out) const;

 private:
  struct Seen {
    double prediction = 0.0;  // without itself, between -3 and 3
    bool is_possible = false;
    double log_density = 0.0;  // the value, or its guess
  };
  void regress(std::span<const Seen> seen, double num_possible, double count);
  void sharpen(std::span<const Seen> seen);
  [[nodiscard]] double log_chance(double prediction) const;

  Domain domain_;
  std::unique_ptr<GaussianProcess> process_;  // null where nothing was impossible
  double intercept_ = 0.0, slope_ = 0.0, power_ = 1.0, unit_ = 1.0;
};

}  // namespace treesample
