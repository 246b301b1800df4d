#include "search/tree_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// A traversal can be as long as the space is deep.
constexpr int kLevelsBetweenLooks = 1 << 18;

// Worth making beforehand: few beside the evaluations to come, and small beside a cache.
std::size_t num_table_entries(const Limits& limits) {
  return static_cast<std::size_t>(std::clamp<std::int64_t>(limits.budget / 8, 0, 1 << 16));
}

}  // namespace

TreeSearch::TreeSearch(const FactorGraph& graph, const std::shared_ptr<const SearchSpace>& space,
                       std::shared_ptr<const ValueFunction> prior, const Limits& limits, const SearchOptions& options,
                       const Observer& observer)
    : graph_(graph),
      space_(*space),
      limits_(limits),
      options_(options),
      watch_(limits, observer),
      prior_(std::move(prior)),
      reward_(graph, *space),
      reward_tables_(graph, *space, reward_, num_table_entries(limits)),
      store_(std::make_shared<NodeStore>(space, !prior_->is_uniform(), reward_tables_.are_missing())),
      budget_(limits.budget, limits.unit),
      selection_(*store_, options),
      check_interval_(graph.has_only_tables() ? std::clamp(kLevelsBetweenLooks / (space->num_levels() + 1), 1, 256)
                                              : 1),
      x_(graph.num_variables(), -1),
      function_magnitudes_(space_.levels.size(), 0.0),
      path_(space_.num_levels()),
      last_path_(space_.num_levels()) {
  for (int n = 0; n < space_.num_levels(); ++n) {
    const std::vector<int>& children = space_.levels[n].children;
    LevelFacts facts{children.data(),
                     static_cast<int>(children.size()),
                     space_.levels[n].variable,
                     has_shared_children(space_, n),
                     store_->blank(n).has_stamps(),
                     0,
                     reward_tables_[n]};
    for (const int child : children) {
      const std::vector<int>& context = space_.levels[child].context;
      if (space_.levels[child].is_shared && (context.empty() || context.back() != n)) facts.lag = 1;
    }
    facts_.push_back(facts);
    fewest_factors_ = std::min(fewest_factors_, reward_.num_factors(n));
    if (!store_->has_prior()) initialise(n, store_->blank(n));  // all new nodes of a level are alike
  }
  specialise();
}

// A node whose values are the prior's.
NodeIndex TreeSearch::create_node(int level) {
  const NodeIndex index = store_->create(level);
  if (store_->has_prior()) {
    initialise(level, store_->node(level, index));
  } else if (options_.ties == TieRule::kRandom) {
    selection_.choose(level, store_->node(level, index));  // all edges tie
  }
  return index;
}

void TreeSearch::initialise(int level, const Node& node) {
  std::vector<double> q(static_cast<std::size_t>(node.num_states()), space_.levels[level].log_states_below);
  if (store_->has_prior()) {
    prior_->q_values(level, x_, 1, q);
    for (const double value : q) {
      if (!is_log_value(value)) {
        throw Error(ErrorCode::kNumeric, fmt::format("the value function returned {} for variable {}", value,
                                                     space_.levels[level].variable));
      }
    }
    std::copy(q.begin(), q.end(), node.priors());
  }
  set_q(node, q);
  selection_.choose(level, node);
}

}  // namespace treesample
