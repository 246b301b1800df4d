// The approximation that the tree search yields: its nodes, and Q_phi outside of the store (Algorithm 1).
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "treesample/store/store_approximation.hpp"

namespace treesample {

class TreeStore;

class TreeApproximation final : public StoreApproximation {
 public:
  // `q_phi` is that of the search.
  TreeApproximation(std::shared_ptr<const TreeStore> store, std::shared_ptr<const LeafValue> q_phi);

  // V(root): the search's estimate of log Z; exact when is_exact().
  [[nodiscard]] double log_z() const { return log_value(); }

  // `count` independent samples with their log-probabilities, as from sample and log_prob, but Q_phi is called once per
  // level for all samples that have left the store: a network answers a batch in a fraction of the time. The samples
  // differ from those of `sample` for the same random stream.
  struct SampleBatch {
    std::vector<int> states;  // rows of one state per variable
    std::vector<double> log_probs;
  };
  [[nodiscard]] SampleBatch sample_batch(int count, Random& random) const;

  // The Q-values along x, from the first level on: calls visit(level, Q_n( . | x_<n)) for every node of the store that
  // x passes and below which something was evaluated. All other nodes, stored or not, still have the values Q_phi.
  using PathVisitor = std::function<void(int level, std::span<const double> q)>;
  void visit_path(std::span<const int> x, const PathVisitor& visit) const;

  // The nodes themselves, for tests and tools inside the library.
  [[nodiscard]] const TreeStore& store() const { return *store_; }

 private:
  std::shared_ptr<const TreeStore> store_;
  std::shared_ptr<const LeafValue> q_phi_;
};

}  // namespace treesample
