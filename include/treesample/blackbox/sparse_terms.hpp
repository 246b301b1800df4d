// Sparse terms: main effects, pairs, and larger terms where the values support them.
//
// The regression is that of a learned search (surrogate/learned_function.hpp): terms are chosen one by one for the
// evidence of the values. Beside it, all pairs, and all pairs and triples, are tried where there are at least twice as
// many values as such terms have features; the most probable of these models is used. So a function with many small
// pairs is exact as soon as its values determine it, while one with a few terms is found from fewer values than there
// are pairs.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "treesample/blackbox/surrogate.hpp"
#include "treesample/surrogate/learned_function.hpp"

namespace treesample {

struct SparseTermsOptions {
  int max_points = 3000;  // more values are thinned: the best half stays, and an even choice of the others
  bool is_noisy = false;  // what the terms do not explain is noise, not a part of the function

  // Throws Error (kArgument) naming the field, its value and what is allowed.
  void validate() const;
};

class SparseTerms final : public Surrogate {
 public:
  explicit SparseTerms(Domain domain, const SparseTermsOptions& options = {});
  ~SparseTerms() override;

  [[nodiscard]] std::string name() const override { return "sparse terms"; }
  void fit(const ToldValues& told, const ShouldStop& should_stop) override;
  void add(std::span<const int> x, double value) override;
  void predict(std::span<const int> rows, std::span<Prediction> out) const override;
  void predict_means(std::span<const int> rows, std::span<double> means) const override;
  [[nodiscard]] const LearnedTerms* terms() const override { return &learned(); }
  void predict_all(std::span<double> means) const override;
  void predict_neighbours(std::span<const int> x, std::span<double> means) const override;
  [[nodiscard]] std::vector<std::optional<double>> held_out() const override;
  // A sample of all coefficients.
  [[nodiscard]] std::unique_ptr<DrawnFunction> draw(Random& random) const override;

  // The tables of the terms; no terms before the first fit.
  [[nodiscard]] const LearnedTerms& learned() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace treesample
