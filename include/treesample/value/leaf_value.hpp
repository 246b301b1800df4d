// Leaf values: the value of a sub-problem before it is searched, and the distribution from which samples below it are
// drawn.
//
// For the sub-problem of level j, given the states of the ancestors, a leaf value has a value and a distribution q of
// the variables from j down. Their meaning depends on their role:
//
//   LeafValues   at an unsearched sub-problem j                 its distribution q makes
//   lower    L   ELBO of q: E_q[log gamma_j - log q] <= V_j     L(root) = log Z - KL(P_L || P*) exactly
//   upper    U   gamma_j(x) <= exp(U_j) q(x) for all x          V_j <= U_j, weights of P_U at most exp(U(root))
//   estimate V   any estimate of V_j: the paper's Q_phi         the paper's P_X; the proposal of SIS and SMC
//
// with gamma_j(x) = exp of the sum of the factors at level j and below, and levels as in space/search_space.hpp. x is
// indexed by variable; a level's value reads only the states of its ancestors. These must be legal: searches call leaf
// values too often for a check.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "treesample/math/random.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/space/search_space.hpp"
#include "treesample/stop.hpp"

namespace treesample {

// Calls visit(level) for a level and all its descendants, parents first.
template <typename Visit>
void for_each_below(const SearchSpace& space, int level, Visit visit) {
  std::vector<int> open = {level};
  while (!open.empty()) {
    const int n = open.back();
    open.pop_back();
    visit(n);
    open.insert(open.end(), space.levels[n].children.begin(), space.levels[n].children.end());
  }
}

// A new leaf value defines log_value or q_values, whichever is more natural; each has a default made from the other.
// The other functions have defaults too. -inf is a legal value, NaN and +inf are not.
class LeafValue {
 public:
  explicit LeafValue(const SearchSpace& space);
  virtual ~LeafValue() = default;
  LeafValue(const LeafValue&) = delete;
  LeafValue& operator=(const LeafValue&) = delete;

  // V_j; log sum exp of the Q-values.
  [[nodiscard]] virtual double log_value(int level, std::span<const int> x) const;
  // values[a] = log_value with x[variable] = a, where `variable` is that of the level's parent. Overwrites x[variable].
  virtual void log_values(int level, int variable, std::span<int> x, std::span<double> values) const;
  // Q_phi: q[r * K + a] = Q_n(a | x_r), where K is num_states of the level, for `count` prefixes. A prefix is a row
  // with one state per variable, -1 for one that is not assigned. The value is the sum of V over the level's children,
  // given a.
  virtual void q_values(int level, std::span<const int> prefixes, int count, std::span<double> q) const;
  // The same for one prefix, given the value that its parent expects: the Q_phi of the edge that leads here minus the
  // reward that was paid for it. Most leaf values ignore it; value/telescoped_value.hpp uses it.
  virtual void q_values_given(int level, std::span<const int> prefix, double /*expected*/, std::span<double> q) const {
    q_values(level, prefix, 1, q);
  }

  // True if the value is V_j up to rounding and q is the conditional distribution: nothing is left to search.
  [[nodiscard]] virtual bool is_exact(int /*level*/) const { return false; }
  // True if q is uniform; passes over a store are then exact (evaluate/divergence.hpp).
  [[nodiscard]] virtual bool is_uniform() const { return false; }
  // True only for the paper's default, whose Q-values are log_states_below. Stores then keep no Q_phi.
  [[nodiscard]] virtual bool counts_states() const { return false; }
  // False if it was made for another space, with other levels; methods then refuse it.
  [[nodiscard]] bool fits(const SearchSpace& space) const { return space.fingerprint == space_.fingerprint; }

  // Draws the states of the level's variable and of all its descendants. Returns their log q. `stop` ends it with Error
  // (kInterrupted).
  double sample_below(int level, std::span<int> x, Random& random, StopCheck* stop = nullptr) const;
  [[nodiscard]] virtual double log_prob_below(int level, std::span<const int> x) const;
  // For U: draws only the level's variable, as sample_below does, and returns by how much the bound of the weight
  // falls. If the fall is not known, it returns nothing and draws nothing.
  struct Step {
    double log_prob = 0.0;
    double log_fall = 0.0;  // U_n - log sum exp of the Q-values: at least 0 up to rounding; +inf: no state is possible
  };
  virtual std::optional<Step> sample_level(int /*level*/, std::span<int> /*x*/, Random& /*random*/) const { return {}; }
  // The distribution q of the level's variable alone, given the states of its ancestors: the softmax of the Q-values.
  virtual void probabilities(int level, std::span<const int> x, std::span<double> probs) const;

 protected:
  // Implements sample_below(). The default draws level by level from probabilities().
  virtual double draw_below(int level, std::span<int> x, Random& random, StopCheck& stop) const;

  // The space given to the constructor, without its contexts.
  [[nodiscard]] const SearchSpace& space() const { return space_; }

 private:
  const SearchSpace space_;
};

// What is known about sub-problems that have not been searched.
struct LeafValues {
  std::shared_ptr<const LeafValue> lower = {};     // null: L = -inf
  std::shared_ptr<const LeafValue> upper = {};     // null: U = +inf
  std::shared_ptr<const LeafValue> estimate = {};  // null: each method documents its default
  // A certified lower bound that needs no sampler; may be empty. If `upper` is exact, it must be exact too.
  std::function<double(int level, std::span<const int> x)> lower_bound = {};

  // Throws Error (kArgument) unless all leaf values fit the space.
  void check_fit(const char* function, const SearchSpace& space) const;
};

// The paper's default Q_phi (section 4.1), for any numbers of states and any space: Q_phi_n(a | x) = sum of log K_j
// over the descendants of n.
class UniformValue final : public LeafValue {
 public:
  using LeafValue::LeafValue;
  [[nodiscard]] bool is_uniform() const override { return true; }
  [[nodiscard]] bool counts_states() const override { return true; }
  void q_values(int level, std::span<const int> prefixes, int count, std::span<double> q) const override;
};

// One distribution per variable, for `product_value`.
using LocalDistributions = std::vector<std::vector<double>>;
LocalDistributions uniform_distributions(const FactorGraph& graph);
// Coordinate ascent on the ELBO of a product distribution (mean field), from a start near uniform that the seed
// decides. States that are found to be impossible together with the others get probability 0; the ELBO of the result
// may still be -inf in a model with zeros. Needs tables. `should_stop` ends it with the result so far.
LocalDistributions mean_field(const FactorGraph& graph, int sweeps, std::uint64_t seed,
                              const ShouldStop& should_stop = {});

// The following functions take time linear in the number of table entries; `should_stop` ends them with Error
// (kInterrupted).

// L: the ELBO of independent variables, entropies plus expected factors given the ancestors' states. With uniform
// distributions this is Jensen's bound, sum log K_i + sum of the factors' means. Every factor must be a table.
std::shared_ptr<const LeafValue> product_value(const FactorGraph& graph, const SearchSpace& space,
                                               const LocalDistributions& distributions,
                                               const ShouldStop& should_stop = {});

// U: sum log K_i + sum of the factors' maxima given the ancestors' states, with the uniform distribution. A function
// counts with its declared maximum, whatever the states. Null if a function declares none.
std::shared_ptr<const LeafValue> maxima_value(const FactorGraph& graph, const SearchSpace& space,
                                              const ShouldStop& should_stop = {});

}  // namespace treesample
