// A model whose large tables are made of small ones (src/exact/table_structure.hpp), for elimination: a table over k
// causes becomes a chain of k tables over three variables, and the work no longer grows as 2^k but with the width of
// what the causes share.
//
// The variables of the original model come first, those of the chains after them. Sums over the latter give the
// original tables, so log Z and marginals are the same, up to a slack that is computed entry by entry. The most
// probable configuration is not: it has no maximum over the others.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "treesample/model/approximation.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/stop.hpp"

namespace treesample {

class DecomposedModel {
 public:
  // The same graph gives the same model. `should_stop` ends it with Error (kInterrupted).
  explicit DecomposedModel(const FactorGraph& graph, const ShouldStop& should_stop = {});

  [[nodiscard]] const FactorGraph& graph() const { return graph_; }
  [[nodiscard]] int num_decomposed() const { return num_decomposed_; }  // tables; 0: the graph is the original one
  // log Z differs from that of the original model by at most this.
  [[nodiscard]] double log_slack() const { return log_slack_; }

 private:
  FactorGraph graph_;
  int num_decomposed_ = 0;
  double log_slack_ = 0.0;
};

// What is known of a decomposed model, for the first variables alone.
class OriginalApproximation final : public Approximation {
 public:
  OriginalApproximation(const FactorGraph& original, std::shared_ptr<const Approximation> decomposed, double log_z);
  [[nodiscard]] Assignment sample(Random& random) const override;
  [[nodiscard]] double log_prob(std::span<const int> x) const override;

 private:
  FactorGraph original_;
  std::shared_ptr<const Approximation> decomposed_;
  double log_z_;
};

}  // namespace treesample
