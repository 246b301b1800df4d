#include "treesample/store/store_approximation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "math/compensated_sum.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/store/passes.hpp"

namespace treesample {

// Walks through the nodes that a configuration passes. choose(variable, weights) returns the state to continue with.
// below(level, leaf) returns the log-probability of everything outside of the store, from a level on.
template <typename Choose, typename Below>
double StoreApproximation::walk(std::span<int> x, Choose choose, Below below) const {
  const SearchSpace& space = view_->space();
  const bool has_values = view_->has_values();
  std::vector<std::pair<int, NodeIndex>> open;
  for (std::size_t r = 0; r < space.roots.size(); ++r) open.emplace_back(space.roots[r], view_->root(r));
  NodeEdges edges;
  CompensatedSum log_prob;
  while (!open.empty() && log_prob.value() != kNegInf) {
    const auto [level, index] = open.back();
    open.pop_back();
    if (index == kNoNode) {
      log_prob.add(below(level, *view_->below(level)));
      continue;
    }
    const Level& here = space.levels[level];
    view_->read(level, index, StoreView::Read::kWeights, edges);
    const int action = choose(here.variable, edges.weights);
    x[here.variable] = action;
    log_prob.add(edges.log_probability(action, has_values));
    for (std::size_t j = 0; j < here.children.size(); ++j) {
      open.emplace_back(here.children[j], edges.children[static_cast<std::size_t>(action) * here.children.size() + j]);
    }
  }
  return log_prob.value();
}

// Algorithm 1: one state at a time, in the order of the search.
double StoreApproximation::sample_into(std::span<int> x, Random& random, StopCheck* stop) const {
  const auto num_levels = static_cast<std::int64_t>(space().num_levels());
  check_range("sample_into", "number of states", static_cast<std::int64_t>(x.size()), num_levels, num_levels);
  check_argument(log_value_ != kNegInf, "sample", "no configuration of positive probability is known (Z = 0 perhaps)");
  std::fill(x.begin(), x.end(), -1);
  return walk(
      x, [&](int, std::span<const double> weights) { return random.categorical(weights); },
      [&](int level, const LeafValue& leaf) { return leaf.sample_below(level, x, random, stop); });
}

namespace {

// Keeps track of how close a sample is to being given up.
struct Chances {
  double log_least = 0.0;
  double log_ratio = 0.0;  // r over the probability of having continued so far
  double log_prob = 0.0;   // that probability

  bool go_on(double log_fall, Random& random) {
    log_ratio -= log_fall;
    if (log_ratio >= log_least) return true;
    const double log_chance = log_ratio - log_least;
    if (!(random.uniform() < std::exp(log_chance))) return false;
    log_prob += log_chance;
    log_ratio = log_least;
    return true;
  }
};

}  // namespace

double StoreApproximation::sample_or_give_up(std::span<int> x, Random& random, double least, StopCheck* stop) const {
  check_argument(log_value_ != kNegInf && std::ssize(x) == space().num_levels() && least > 0.0 && least <= 1.0,
                 "sample_or_give_up", "needs a place for every variable, and 0 < least <= 1");
  std::fill(x.begin(), x.end(), -1);
  Chances chances{std::log(least)};
  std::vector<int> open, exact;
  const auto below = [&](int level, const LeafValue& leaf) {
    CompensatedSum log_prob;
    open.assign(1, level);
    while (!open.empty()) {
      const int n = open.back();
      open.pop_back();
      if (stop != nullptr) stop->go_on("sample", 16);
      if (leaf.is_exact(n)) {
        exact.push_back(n);
        continue;
      }
      const auto step = leaf.sample_level(n, x, random);
      if (!step) {
        log_prob.add(leaf.sample_below(n, x, random, stop));
        continue;
      }
      if (!chances.go_on(step->log_fall, random)) return kNegInf;
      log_prob.add(step->log_prob);
      const std::vector<int>& children = space().levels[n].children;
      open.insert(open.end(), children.begin(), children.end());
    }
    return log_prob.value();
  };
  CompensatedSum log_prob;
  log_prob.add(walk(
      x, [&](int, std::span<const double> weights) { return random.categorical(weights); }, below));
  if (log_prob.value() == kNegInf) return HUGE_VAL;
  for (const int n : exact) log_prob.add(view_->below(n)->sample_below(n, x, random, stop));
  log_prob.add(chances.log_prob);
  return log_prob.value();
}

Assignment StoreApproximation::sample(Random& random) const {
  Assignment x(space().levels.size(), -1);
  sample_into(x, random);
  return x;
}

double StoreApproximation::log_prob(std::span<const int> x) const {
  check_assignment("log_prob", space(), x);
  if (log_value_ == kNegInf) return kNegInf;
  Assignment prefix(x.size(), -1);
  return walk(
      prefix, [&](int variable, std::span<const double>) { return x[variable]; },
      [&](int level, const LeafValue& leaf) {
        // Leaf values must not see later states: a sampler has not drawn them yet.
        for_each_below(space(), level, [&](int n) {
          const int v = space().levels[n].variable;
          prefix[v] = x[v];
        });
        return leaf.log_prob_below(level, prefix);
      });
}

bool StoreApproximation::has_exact_marginals() const {
  if (view_->is_whole()) return true;
  for (int n = 0; n < space().num_levels(); ++n) {
    if (view_->below(n) != nullptr && !view_->below(n)->is_uniform()) return false;
  }
  return true;
}

// off_store[n] is the probability of reaching level n outside the store, where every state is equally likely.
Marginals StoreApproximation::marginals(const ShouldStop& should_stop) const {
  check_argument(has_exact_marginals(), "marginals", "leaf values are not uniform: use sampled_marginals");
  check_argument(log_value_ != kNegInf, "marginals", "no configuration has positive probability (Z = 0)");
  Marginals marginals(space().levels.size());
  for (const Level& level : space().levels) marginals[level.variable].assign(level.num_states, 0.0);
  std::vector<double> off_store(space().levels.size(), 0.0);
  StopCheck stop(should_stop);
  ReachPass pass(*view_, StoreView::Read::kWeights, should_stop);
  const auto arrive = [&](int level, NodeIndex index, double probability) {
    if (index == kNoNode) {
      off_store[level] += probability;
    } else {
      pass.arrive(level, index, probability);
    }
  };
  for (std::size_t r = 0; r < space().roots.size(); ++r) arrive(space().roots[r], view_->root(r), 1.0);
  pass.run(
      [&](int n, std::uint32_t, double reach, const NodeEdges& edges) {
        stop.go_on("marginals", 8);
        const Level& level = space().levels[n];
        for (int a = 0; a < level.num_states; ++a) {
          const double probability = reach * edges.weights[a] / edges.total;
          marginals[level.variable][a] += probability;
          for (std::size_t j = 0; j < level.children.size() && probability > 0.0; ++j) {
            arrive(level.children[j], edges.children[static_cast<std::size_t>(a) * level.children.size() + j],
                   probability);
          }
        }
        return true;
      },
      [&](int n) {
        const Level& level = space().levels[n];
        for (double& p : marginals[level.variable]) p += off_store[n] / level.num_states;
        for (const int child : level.children) off_store[child] += off_store[n];
        return true;
      });
  for (std::vector<double>& probabilities : marginals) {
    for (double& p : probabilities) p = std::min(p, 1.0);  // rounding may take a sum above 1
  }
  return marginals;
}

// Computes, for each node, the probability of staying on evaluated edges from there on.
double StoreApproximation::unexplored_mass(const ShouldStop& should_stop) const {
  if (is_exact_) return 0.0;
  const NodesByLevel nodes(*view_, should_stop);
  const auto explored = pass_up<double>(
      nodes, StoreView::Read::kRewards, 0.0,
      [&](int n, const NodeEdges& edges, const auto& child) {
        double sum = 0.0;
        for (int a = 0; a < space().levels[n].num_states; ++a) {
          if (edges.is_evaluated[a] == 0 || edges.weights[a] == 0.0) continue;
          double product = edges.weights[a] / edges.total;
          for (std::size_t j = 0; j < space().levels[n].children.size(); ++j) product *= child(a, j);
          sum += product;
        }
        return sum;
      },
      "unexplored_mass", should_stop);
  double product = 1.0;
  for (std::size_t r = 0; r < space().roots.size(); ++r) {
    const NodeIndex root = view_->root(r);
    product *= root == kNoNode ? 0.0 : explored[space().roots[r]][nodes.position(root)];
  }
  return std::max(0.0, 1.0 - product);  // rounding may take the product above 1
}

std::optional<Configuration> StoreApproximation::best(const ShouldStop& should_stop) const {
  return best_in_store(*view_, {}, should_stop);
}

}  // namespace treesample
