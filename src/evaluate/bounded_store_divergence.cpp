#include <cmath>
#include <limits>
#include <vector>

#include "search/bound_store.hpp"
#include "treesample/error.hpp"
#include "treesample/evaluate/divergence.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/value/fallback.hpp"

namespace treesample {
namespace {

struct Moments {
  double energy = 0.0;
  double entropy = 0.0;
};

// Children before parents, for the policy pi of the sampler:
//
//   energy(c)  = sum_a pi(a) (R + sum_j energy(c_j)),     entropy(c) = sum_a pi(a) (sum_j entropy(c_j) - log pi(a))
//
// and below the store the mean of the pending factors and the log of the number of states.
class StoreMoments {
 public:
  StoreMoments(const FactorGraph& graph, const BoundedApproximation& sampler)
      : sampler_(sampler),
        store_(sampler.store()),
        space_(sampler.space()),
        uniform_(product_fallback(graph, space_, uniform_distributions(graph))),
        x_(space_.levels.size(), -1) {
    for (int n = 0; n < space_.num_levels(); ++n) {
      known_.emplace_back(store_.end_index(n), Moments{std::numeric_limits<double>::quiet_NaN(), 0.0});
    }
  }

  Moments at(int level, NodeIndex index) {
    Moments& known = known_[level][index];
    if (std::isnan(known.energy)) known = compute(level, index);
    return known;
  }

 private:
  Moments compute(int level, NodeIndex index) {
    const Level& here = space_.levels[level];
    const BoundNode& node = store_.node(level, index);
    if (!node.is_expanded()) {
      const double entropy = std::log(here.num_states) + here.log_states_below;
      return {uniform_->log_value(level, x_) - entropy, entropy};
    }
    const Expansion expansion = store_.expansion(level, node);
    std::vector<double> probs(here.num_states);
    for (int a = 0; a < here.num_states; ++a) probs[a] = sampler_.edge_value(level, index, a);
    softmax(probs, probs);
    Moments sum;
    for (int a = 0; a < here.num_states; ++a) {
      if (!(probs[a] > 0.0)) continue;
      x_[here.variable] = a;
      Moments below{expansion.reward(a), -std::log(probs[a])};
      for (std::size_t j = 0; j < here.children.size(); ++j) {
        const Moments child = at(here.children[j], expansion.links(a)[j]);
        below.energy += child.energy;
        below.entropy += child.entropy;
      }
      sum.energy += probs[a] * below.energy;
      sum.entropy += probs[a] * below.entropy;
    }
    x_[here.variable] = -1;
    return sum;
  }

  const BoundedApproximation& sampler_;
  const BoundStore& store_;
  const SearchSpace& space_;
  std::shared_ptr<const Fallback> uniform_;
  Assignment x_;
  std::vector<std::vector<Moments>> known_;
};

}  // namespace

std::optional<Divergence> bounded_store_divergence(const FactorGraph& graph,
                                                   const BoundedApproximation& approximation) {
  check_space("bounded_store_divergence", graph, approximation.space());
  check_argument(approximation.log_value() != kNegInf, "bounded_store_divergence",
                 "no configuration has positive probability (Z = 0)");
  if (!graph.has_only_tables() || !approximation.is_uniform_off_store()) return std::nullopt;
  const SearchSpace& space = approximation.space();
  StoreMoments moments(graph, approximation);
  Divergence result;
  result.is_exact = true;
  result.energy = space.log_constant;
  for (std::size_t r = 0; r < space.roots.size(); ++r) {
    const Moments root = moments.at(space.roots[r], approximation.store().root_links()[r]);
    result.energy += root.energy;
    result.entropy += root.entropy;
  }
  result.delta_kl = -result.energy - result.entropy;
  return result;
}

}  // namespace treesample
