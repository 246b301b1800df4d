// What an inference method hands back: a normalised distribution P_X that can be sampled and scored.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "treesample/math/random.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/value/value_function.hpp"

namespace treesample {

// marginals[v][s] = probability that variable v is in state s.
using Marginals = std::vector<std::vector<double>>;

class Approximation {
 public:
  virtual ~Approximation() = default;
  // One independent sample. Throws Error (kArgument) when no state has positive probability (Z = 0).
  [[nodiscard]] virtual Assignment sample(Random& random) const = 0;
  // log P_X(x), exact; -inf for an impossible x. Over all x the probabilities sum to 1.
  [[nodiscard]] virtual double log_prob(std::span<const int> x) const = 0;
};

struct Configuration {
  Assignment x;
  double log_density = 0.0;  // log gamma_hat(x)
};

class NodeStore;

// The approximation of a search: its store of nodes, and the prior off the store (Algorithm 1).
class SearchApproximation final : public Approximation {
 public:
  SearchApproximation(std::shared_ptr<const NodeStore> store, std::shared_ptr<const ValueFunction> prior);

  [[nodiscard]] Assignment sample(Random& random) const override;
  [[nodiscard]] double log_prob(std::span<const int> x) const override;

  // V(root): the search's estimate of log Z; exact when is_exact().
  [[nodiscard]] double log_z() const { return log_z_; }
  // All sub-problems are solved: log_z() and the distribution are exact (lemma 1).
  [[nodiscard]] bool is_exact() const { return is_exact_; }

  // Exact marginals of P_X by one pass over the store. Only when has_exact_marginals(): off the store
  // a prior that is not uniform has no closed form.
  [[nodiscard]] bool has_exact_marginals() const;
  [[nodiscard]] Marginals marginals() const;

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

// Marginals from samples, for approximations without a closed form.
Marginals sampled_marginals(const Approximation& approximation, const FactorGraph& graph, int num_samples,
                            Random& random);

}  // namespace treesample
