// The result of an inference method: a normalised distribution P_X that can be sampled and scored.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "treesample/math/random.hpp"
#include "treesample/model/explored_tree.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

// marginals[v][s] = probability that variable v is in state s.
using Marginals = std::vector<std::vector<double>>;

class StoreApproximation;

class Approximation {
 public:
  virtual ~Approximation() = default;
  // This object if it consists of the nodes of a search (store/store_approximation.hpp), over which passes are exact;
  // otherwise null.
  [[nodiscard]] virtual const StoreApproximation* as_store() const { return nullptr; }
  // The `max_nodes` most probable nodes of the search; empty if there was no search.
  [[nodiscard]] virtual ExploredTree explored_tree(std::size_t max_nodes) const {
    static_cast<void>(max_nodes);
    return {};
  }
  // One independent sample. Throws Error (kArgument) if no state has positive probability (Z = 0).
  [[nodiscard]] virtual Assignment sample(Random& random) const = 0;
  // log P_X(x), exact; -inf for an impossible x. Over all x the probabilities sum to 1.
  [[nodiscard]] virtual double log_prob(std::span<const int> x) const = 0;
};

struct Configuration {
  Assignment x;
  double log_density = 0.0;  // log gamma_hat(x)
};

// Marginals from samples, for approximations without a closed form.
Marginals sampled_marginals(const Approximation& approximation, const FactorGraph& graph, int num_samples,
                            Random& random);

}  // namespace treesample
