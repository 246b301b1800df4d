// A forest of regression trees: for functions that rules decide, a few variables at a time.
//
// Each tree is grown from values drawn with replacement. A split divides the states of a variable into two sets, or,
// where a variable is ordered, at a level; each split is the best one among half of the variables. A prediction is the
// mean over the trees; their spread is its standard deviation. The held-out prediction of a value is that of the trees
// that have not seen it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "treesample/blackbox/surrogate.hpp"

namespace treesample {

struct ForestOptions {
  int num_trees = 50;
  int max_points = 3000;  // more values are thinned: the best half stays, and an even choice of the others

  // Throws Error (kArgument) naming the field, its value and what is allowed.
  void validate() const;
};

class Forest final : public Surrogate {
 public:
  explicit Forest(Domain domain, const ForestOptions& options = {});
  ~Forest() override;

  [[nodiscard]] std::string name() const override { return "forest"; }
  void fit(const ToldValues& told, const ShouldStop& should_stop) override;
  // The leaves of the trees take it in; their splits stay.
  void add(std::span<const int> x, double value) override;
  void predict(std::span<const int> rows, std::span<Prediction> out) const override;
  [[nodiscard]] std::vector<std::optional<double>> held_out() const override;
  // One of the trees.
  [[nodiscard]] std::unique_ptr<DrawnFunction> draw(Random& random) const override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace treesample
