// The approximation that a search yields: Algorithm 1 of the paper.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "treesample/model/approximation.hpp"
#include "treesample/value/value_function.hpp"

namespace treesample {

class NodeStore;

// The approximation of a search: its store of nodes, and the prior off the store (Algorithm 1).
class SearchApproximation final : public Approximation {
 public:
  SearchApproximation(std::shared_ptr<const NodeStore> store, std::shared_ptr<const ValueFunction> prior);

  [[nodiscard]] Assignment sample(Random& random) const override;
  [[nodiscard]] double log_prob(std::span<const int> x) const override;

  // `count` independent samples with their log-probabilities. What sample and log_prob give one by one, but
  // the prior is asked once per level, for all samples that are off the store: a network answers a batch in
  // a fraction of the time. The samples are others than those of `sample` for the same random stream.
  struct SampleBatch {
    std::vector<int> states;  // rows of one state per variable
    std::vector<double> log_probs;
  };
  [[nodiscard]] SampleBatch sample_batch(int count, Random& random) const;

  // V(root): the search's estimate of log Z; exact when is_exact().
  [[nodiscard]] double log_z() const { return log_z_; }
  // All sub-problems are solved: log_z() and the distribution are exact (lemma 1).
  [[nodiscard]] bool is_exact() const { return is_exact_; }

  // Exact marginals of P_X by one pass over the store. Only when has_exact_marginals(): off the store
  // a prior that is not uniform has no closed form.
  [[nodiscard]] bool has_exact_marginals() const;
  [[nodiscard]] Marginals marginals() const;

  // The Q-values along x, from the first level on: calls visit(level, Q_n( . | x_<n)) for every node of the
  // store that x passes and below which something was evaluated. Any other node, in the store or not, still
  // has the values of the prior.
  using PathVisitor = std::function<void(int level, std::span<const double> q)>;
  void visit_path(std::span<const int> x, const PathVisitor& visit) const;

  // Probability under P_X of the configurations of which some factor was not evaluated. Importance
  // weights vary only there: with fewer than several samples there, a standard error says nothing.
  [[nodiscard]] double unexplored_mass() const;

  // The best configuration among those whose factors were all evaluated; none when there is no such.
  [[nodiscard]] std::optional<Configuration> best() const;

  // The nodes themselves, for tests and tools inside the library.
  [[nodiscard]] const NodeStore& store() const { return *store_; }

 private:
  std::shared_ptr<const NodeStore> store_;
  std::shared_ptr<const ValueFunction> prior_;
  double log_z_ = 0.0;
  bool is_exact_ = false;
};

}  // namespace treesample
