// What stands in for a sub-problem that has not been searched: a value and a distribution.
//
// A search with bounds (search/anytime_search.hpp) has three of them, one for each value that its nodes
// carry, and the sampler that belongs to a value falls back on the same object off the store:
//
//   value   meaning at an unsearched sub-problem j              its distribution q makes
//   L       ELBO of q: E_q[log gamma_j - log q] <= V_j          L(root) = log Z - KL(P_L || P*) exactly
//   U       gamma_j(x) <= exp(U_j) q(x) for all x, so V_j <= U  weights of P_U at most exp(U(root))
//   V       any estimate of V_j                                 the paper's P_X
//
// with gamma_j(x) = exp of the sum of the factors at level j and below, and levels as in
// space/search_space.hpp. x is indexed by variable; a level's value reads only the states of its ancestors, which must
// be legal: the search asks too often for a check.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "treesample/math/random.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/space/search_space.hpp"
#include "treesample/stop.hpp"
#include "treesample/value/mini_bucket.hpp"
#include "treesample/value/value_function.hpp"

namespace treesample {

class Fallback {
 public:
  virtual ~Fallback() = default;

  [[nodiscard]] virtual double log_value(int level, std::span<const int> x) const = 0;
  // values[a] = log_value with x[variable] = a, the variable of the level's parent. Overwrites x[variable].
  virtual void log_values(int level, int variable, std::span<int> x, std::span<double> values) const;
  // True when the value is V_j up to rounding and q the conditional distribution: nothing is left to search.
  [[nodiscard]] virtual bool is_exact(int level) const { return level < 0; }
  // True when q is uniform: passes over a store are then exact (evaluate/divergence.hpp).
  [[nodiscard]] virtual bool is_uniform() const { return false; }
  // False when it was made for another space, which a search refuses.
  [[nodiscard]] virtual bool fits(const SearchSpace& /*space*/) const { return true; }

  // Draws the states of the level's variable and of all its descendants. Returns log q of them.
  virtual double sample_below(int level, std::span<int> x, Random& random) const = 0;
  [[nodiscard]] virtual double log_prob_below(int level, std::span<const int> x) const = 0;
  // q of the level's variable alone, given the states of its ancestors: sample_below draws level by level from it.
  virtual void probabilities(int level, std::span<const int> x, std::span<double> probs) const = 0;
};

// One distribution per variable; what `product_fallback` draws from.
using LocalDistributions = std::vector<std::vector<double>>;
LocalDistributions uniform_distributions(const FactorGraph& graph);
// Coordinate ascent on the ELBO of a product distribution (mean field), from a start near uniform that the
// seed decides. States that cannot occur together with the others get probability 0 where that is found;
// the ELBO of the result may still be -inf in a model with zeros. Needs tables.
// `should_stop` ends it with what there is.
LocalDistributions mean_field(const FactorGraph& graph, int sweeps, std::uint64_t seed,
                              const ShouldStop& should_stop = {});

// What follows takes time linear in the table entries; `should_stop` ends it with Error (kInterrupted).

// L: the ELBO of independent variables, entropies plus expected factors given the ancestors' states. With
// uniform distributions this is Jensen's bound, sum log K_i + sum of the factors' means. Every factor is a table.
std::shared_ptr<const Fallback> product_fallback(const FactorGraph& graph, const SearchSpace& space,
                                                 const LocalDistributions& distributions,
                                                 const ShouldStop& should_stop = {});

// U: sum log K_i + sum of the factors' maxima given the ancestors' states, and the uniform distribution. A function
// has its declared maximum, at whatever states; null when one declares none.
std::shared_ptr<const Fallback> maxima_fallback(const FactorGraph& graph, const SearchSpace& space,
                                                const ShouldStop& should_stop = {});

// U: weighted mini-buckets and their proposal.
std::shared_ptr<const Fallback> mini_bucket_fallback(std::shared_ptr<const WeightedMiniBucket> buckets);

// V: log sum exp of Q_phi, and its softmax level by level.
std::shared_ptr<const Fallback> value_fallback(std::shared_ptr<const ValueFunction> value, const SearchSpace& space);

}  // namespace treesample
