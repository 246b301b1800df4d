// A Gaussian process over the configurations of a black box.
//
//   value = f(x) + noise,   f ~ GP(0, k),   noise ~ N(0, nu + tau^2 depth^2)
//
// The kernel has main effects, pairs and interactions of all orders, and knows ordered variables
// (src/blackbox/mixed_kernel.hpp). Its parameters and nu maximise the posterior density given the values. What
// counts is exp(value): a value deep below the best one is evaluated as if it were less exact, by as much as makes the
// values most probable (tau), and depths far beyond those of most values are compressed.
//
// A fit takes O(n^3) for n values, a further value O(n^2). Where there are more than max_points, the best half of these
// and an even choice of all others are used; parameters are fitted to fit_points of them.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "treesample/blackbox/surrogate.hpp"

namespace treesample {

struct GaussianProcessOptions {
  int max_points = 2000;
  int fit_points = 300;
  // Of one evaluation. Without it nu is fitted; it is then a part of the function, unless the black box is noisy.
  std::optional<double> noise_sd = {};
  bool is_noisy = false;

  // Throws Error (kArgument) naming the field, its value and what is allowed.
  void validate() const;
};

class GaussianProcess final : public Surrogate {
 public:
  explicit GaussianProcess(Domain domain, const GaussianProcessOptions& options = {});
  ~GaussianProcess() override;

  [[nodiscard]] std::string name() const override { return "gaussian process"; }
  void fit(const ToldValues& told, const ShouldStop& should_stop) override;
  void add(std::span<const int> x, double value) override;
  void predict(std::span<const int> rows, std::span<Prediction> out) const override;
  [[nodiscard]] std::vector<std::optional<double>> held_out() const override;
  // By matrix products: the kernel is a product over the variables, and these are split into two halves.
  void predict_all(std::span<double> means) const override;
  void predict_means(std::span<const int> rows, std::span<double> means) const override;
  void predict_neighbours(std::span<const int> x, std::span<double> means) const override;
  // A function drawn before any value (src/blackbox/prior_draw.hpp), moved by what it misses of the values.
  [[nodiscard]] std::unique_ptr<DrawnFunction> draw(Random& random) const override;

  // The fitted standard deviation of one evaluation near the best value.
  [[nodiscard]] double noise_sd() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace treesample
