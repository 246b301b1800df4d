#include "treesample/tree/evaluated_mass.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "math/compensated_sum.hpp"
#include "math/reward_factor.hpp"
#include "tree/tree_store.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// A logarithm that is off by at most `error`.
struct Approximate {
  double value = kNegInf;
  double error = 0.0;
};

// log sum exp of terms that arrive one by one. Each term has a relative error of a few units in the last place: terms
// are scaled by exp of a difference, and a term that is scaled down by a large factor contributes little to the sum.
class LogSum {
 public:
  void add(const Approximate& term) {
    ++num_terms_;
    error_ = std::max(error_, term.error);
    if (term.value > most_) {
      sum_ = sum_ * std::exp(most_ - term.value) + 1.0;
      most_ = term.value;
    } else {
      sum_ += std::exp(term.value - most_);
    }
  }
  [[nodiscard]] Approximate total() const {
    if (num_terms_ == 0) return {};
    const double value = most_ + std::log(sum_);
    return {value, error_ + kEpsilon * (4.0 * num_terms_ + 8.0 + 2.0 * std::abs(value))};
  }

 private:
  double most_ = kNegInf, sum_ = 0.0, error_ = 0.0, num_terms_ = 0.0;
};

// The soft-Bellman equation (eq. 6) over evaluated edges alone:
//
//   L(x_<n) = log sum over evaluated a of exp(R_n(x_<n, a) + L(x_<n, a)),   L = 0 below the last level.
//
// The search itself keeps V, to which Q_phi contributes wherever something is open.
class EvaluatedMass {
 public:
  EvaluatedMass(const TreeStore& store, const FactorGraph& graph)
      : store_(store), graph_(graph), space_(store.space()), x_(static_cast<std::size_t>(graph.num_variables()), 0) {}

  Approximate run(const ShouldStop& should_stop);

 private:
  struct Frame {  // a node on the path
    NodeIndex index = kNoNode;
    int action = 0;  // the next edge, or the one that the path takes
    Approximate reward = {};
    LogSum sum = {};
  };

  [[nodiscard]] std::optional<Approximate> reward_of(int level, const Node& node, int action) const;

  const TreeStore& store_;
  const FactorGraph& graph_;
  const SearchSpace& space_;
  Assignment x_;
};

// Returns none if the reward is not known accurately enough; the edge then counts as not evaluated. A reward of tables
// is added up again, because the store may keep it only as the difference of two values, which may be much larger.
std::optional<Approximate> EvaluatedMass::reward_of(int level, const Node& node, int action) const {
  if (!node.is_expanded(action)) return {};
  const std::vector<int>& factors = space_.levels[level].factors;
  const auto num_factors = static_cast<double>(factors.size());
  double of_tables = 0.0, magnitude = 0.0;
  int num_functions = 0;
  for (const int m : factors) {
    if (!graph_.factor(m).is_table()) {
      ++num_functions;
      continue;
    }
    const double value = graph_.log_value(m, x_);
    if (value == kNegInf) return Approximate{};
    of_tables += value;
    magnitude += std::abs(value);
  }
  // Each entry is the rounded logarithm of a rounded number: both are known to one unit in the last place.
  if (num_functions == 0) return Approximate{of_tables, kEpsilon * ((num_factors + 1.0) * magnitude + num_factors)};
  // The values of two functions may cancel each other, and neither is stored.
  if (num_functions > 1 || !node.has_factors()) return {};
  const double reward = reward_of_factor(node.factors()[action]);
  if (reward == kNegInf) return Approximate{};
  const double of_function = std::abs(reward) + magnitude;
  return Approximate{reward, kEpsilon * (8.0 + num_factors + (num_factors + 2.0) * (of_function + magnitude))};
}

// Depth first, in the order of the states. If it has to stop early, the sum so far is a lower bound as well.
Approximate EvaluatedMass::run(const ShouldStop& should_stop) {
  const int num_levels = space_.num_levels();
  if (num_levels == 0) return {0.0, 0.0};
  if (store_.root() == kNoNode) return {};
  constexpr int kStepsBetweenLooks = 4096;
  int num_steps = 0;
  bool is_over = false;
  std::vector<Frame> path(static_cast<std::size_t>(num_levels));
  path[0].index = store_.root();
  for (int n = 0;;) {
    Frame& here = path[n];
    if (++num_steps % kStepsBetweenLooks == 0 && should_stop) is_over = is_over || should_stop();
    if (is_over || here.action == space_.levels[n].num_states) {
      const Approximate below = here.sum.total();
      if (n == 0) return below;
      Frame& above = path[--n];
      if (below.value != kNegInf) {
        const double value = above.reward.value + below.value;
        above.sum.add({value, above.reward.error + below.error + kEpsilon * std::abs(value)});
      }
      ++above.action;
      continue;
    }
    const Node node = store_.node(n, here.index);
    x_[space_.levels[n].variable] = here.action;
    const std::optional<Approximate> reward = reward_of(n, node, here.action);
    const bool is_last = n + 1 == num_levels;
    if (!reward || reward->value == kNegInf || (!is_last && node.link(here.action) == kNoNode)) {
      ++here.action;
    } else if (is_last) {
      here.sum.add(*reward);
      ++here.action;
    } else {
      here.reward = *reward;
      const NodeIndex child = node.link(here.action);
      path[++n] = {.index = child};
    }
  }
}

}  // namespace

double log_evaluated_mass(const TreeStore& store, const FactorGraph& graph, const ShouldStop& should_stop) {
  const SearchSpace& space = store.space();
  check_space("log_evaluated_mass", graph, space);
  if (space.log_constant == kNegInf) return kNegInf;
  const Approximate mass = EvaluatedMass(store, graph).run(should_stop);
  if (mass.value == kNegInf) return kNegInf;
  const double value = space.log_constant + mass.value;
  const double error =
      mass.error + space.log_constant_error + kEpsilon * (std::abs(space.log_constant) + std::abs(mass.value) + 1.0);
  return std::nextafter(value - error, -HUGE_VAL);
}

double log_evaluated_mass(const TreeApproximation& approximation, const FactorGraph& graph,
                          const ShouldStop& should_stop) {
  return log_evaluated_mass(approximation.store(), graph, should_stop);
}

}  // namespace treesample
