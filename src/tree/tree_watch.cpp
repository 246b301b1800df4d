#include "tree/tree_watch.hpp"

#include <algorithm>
#include <numeric>

#include "tree/values.hpp"

namespace treesample {
namespace {

// The clock and the observer are consulted after about so many levels, because a traversal can be as long as the space
// is deep.
constexpr int kLevelsBetweenLooks = 1 << 18;

// Traversals between two looks: every one where factors are functions, which may take seconds.
int most_between_looks(const FactorGraph& graph, const SearchSpace& space) {
  return graph.has_only_tables() ? std::clamp(kLevelsBetweenLooks / (space.num_levels() + 1), 1, 256) : 1;
}

}  // namespace

TreeWatch::TreeWatch(const TreeSearchCall& call, const TreeStore& store, const Budget& budget)
    : store_(store),
      budget_(budget),
      most_bytes_(call.limits.bytes),
      interval_(most_between_looks(call.graph, call.space)),
      observer_interval_(call.options.observer_interval > 0 ? call.options.observer_interval : 16 * interval_),
      watch_(call.limits, call.observer) {
  interval_ = std::gcd(interval_, observer_interval_);
}

bool TreeWatch::look() {
  if (watch_.is_told() && num_traversals_ % observer_interval_ == 0) {
    watch_.tell({.phase = "tree search",
                 .spent = budget_.spent(),
                 .estimate = root_log_value(store_),
                 .num_nodes = store_.num_nodes()});
  }
  const std::optional<StopReason> reason = watch_.reason_to_stop();
  reason_ = reason.value_or(reason_);
  return reason.has_value();
}

}  // namespace treesample
