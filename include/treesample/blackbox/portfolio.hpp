// Several surrogates as one, weighed by how well they predict values that they have not seen, where the mass is.
//
//   mean = sum_k w_k mean_k,      sd^2 = sum_k w_k (sd_k^2 + (mean_k - mean)^2)
//
// The weights are those, not negative and with sum 1, that minimise the sum over values of
//
//   importance (value - sum_k w_k prediction_k without it)^2,
//
// where the importance falls with the depth of the value, or of its prediction where that is larger, below the best.
// Terms were chosen for the values from which one is left out, and predict it too well. So what a surrogate predicted
// before a value was told counts as much: the residuals of each are scaled to the geometric mean of both errors.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "treesample/blackbox/surrogate.hpp"

namespace treesample {

class Portfolio final : public Surrogate {
 public:
  // At least one, all over this domain.
  Portfolio(Domain domain, std::vector<std::unique_ptr<Surrogate>> members);
  ~Portfolio() override;

  [[nodiscard]] std::string name() const override { return "portfolio"; }
  void fit(const ToldValues& told, const ShouldStop& should_stop) override;
  void add(std::span<const int> x, double value) override;
  void predict(std::span<const int> rows, std::span<Prediction> out) const override;
  void predict_means(std::span<const int> rows, std::span<double> means) const override;
  // Those of the first member that has some.
  [[nodiscard]] const LearnedTerms* terms() const override;
  void predict_all(std::span<double> means) const override;
  void predict_neighbours(std::span<const int> x, std::span<double> means) const override;
  [[nodiscard]] std::unique_ptr<DrawnFunction> draw(Random& random) const override;
  [[nodiscard]] std::vector<std::optional<double>> held_out() const override { return held_out_; }

  // By name; those of the last fit.
  [[nodiscard]] std::vector<std::pair<std::string, double>> weights() const;

 private:
  void weigh(const ToldValues& told);

  std::vector<std::unique_ptr<Surrogate>> members_;
  std::vector<double> weights_;
  std::vector<std::optional<double>> held_out_;
  std::vector<std::vector<double>> foreseen_;  // by value: what each member predicted before; empty where it did not
};

// A Gaussian process, sparse terms and a forest; `without` has names of those that are left out.
std::unique_ptr<Surrogate> make_portfolio(const Domain& domain, const Noise& noise,
                                          const std::vector<std::string>& without = {});

}  // namespace treesample
