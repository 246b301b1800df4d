// One of several threads that search together: how it exchanges bounds between its rounds.
#include <algorithm>

#include "search/search_state.hpp"

namespace treesample {
namespace {

Limits share_of(const Limits& limits, double seconds_passed, int num_members) {
  Limits share = limits;
  share.bytes /= static_cast<std::size_t>(num_members);
  share.seconds = limits.seconds - seconds_passed;
  return share;
}

SearchOptions share_of(SearchOptions options, int num_members) {
  options.seconds_per_node *= num_members;  // the passes at the end go over the nodes of all members
  return options;
}

}  // namespace

SearchState::SearchState(const SearchState& first, std::shared_ptr<BoundStore> store, const SharedPart& shared,
                         int member, int num_members, const ShouldStop& should_stop)
    : space_(first.space_),
      leaves_(first.leaves_),
      limits_(share_of(first.limits_, first.watch_.seconds(), num_members)),
      options_(share_of(first.options_, num_members)),
      watch_(limits_, {.should_stop = should_stop}),
      rule_(make_rule(space_, leaves_, options_)),
      store_(std::move(store)),
      reward_(first.reward_),
      budget_(budget_of(limits_)),
      edges_(first.edges_),
      components_(first.components_),
      x_(first.x_),
      last_leaves_(first.last_leaves_),
      bounds_(first.bounds_),
      has_zeros_(first.has_zeros_),
      has_functions_(first.has_functions_),
      num_traversals_(first.num_traversals_),
      looks_(kMostBetweenLooks),
      shared_(&shared),
      member_(member) {}

// The nodes of other members are pending here: nothing below them may be chosen.
void SearchState::hear(std::span<const CutNews> news) {
  for (std::size_t k = 0; k < news.size(); ++k) {
    BoundNode& node = store_->node(shared_->cut[k].level, shared_->cut[k].index);
    if (shared_->owner[k] == member_ || node.is_complete) continue;
    node.tighten(news[k].values, Outward(), false);
    node.is_complete = news[k].is_complete;
    node.is_pending = !node.is_complete;
  }
  release_blocked();
  back_up_above(*shared_);
}

// Every node above the cut has an expansion; nodes without one are in the cut.
void SearchState::back_up_above(const SharedPart& shared) {
  for (const auto [level, index] : shared.above) {
    if (!store_->node(level, index).is_complete) back_up(level, index);
  }
  // Nodes above the cut are backed up in every round anyway; others are not blocked for long.
  std::erase_if(blocked_, [&](const Step& step) {
    const std::vector<bool>& is_above = shared.is_above[step.level];
    return step.index < is_above.size() && is_above[step.index];
  });
}

bool SearchState::expand_below(const Path& path) {
  const auto [level, index, no_action] = path.back();
  if (store_->node(level, index).is_expanded()) return true;  // through another path
  path_.clear();
  for (const PathStep& step : path) {
    x_[store_->variable(step.level)] = step.action;
    if (step.action >= 0) path_.push_back({step.level, step.index});
  }
  const bool is_expanded = can_expand(level) && !is_asked_to_stop() && expand(level, index);
  if (is_expanded) back_up(level, index);
  back_up_path();
  return is_expanded;
}

void SearchState::tell(std::span<CutNews> news) const {
  for (std::size_t k = 0; k < news.size(); ++k) {
    if (shared_->owner[k] != member_) continue;
    const BoundNode& node = store_->node(shared_->cut[k].level, shared_->cut[k].index);
    news[k] = {node, node.is_complete};
  }
}

void SearchState::absorb(const SearchState& member) {
  const SharedPart& shared = *member.shared_;
  if (member.store_ != store_) {
    for (int n = 0; n < space_.num_levels(); ++n) {
      for (NodeIndex i = 0; i < shared.common[n].nodes; ++i) {
        BoundNode& node = store_->node(n, i);
        const BoundNode& theirs = member.store_->node(n, i);
        if (node.is_complete) continue;
        node.tighten(theirs, Outward(), false);
        node.is_complete = theirs.is_complete;
      }
    }
  }
  edges_.see_rewards(member.edges_);
  budget_.spend(member.budget_.spent());
  bounds_ &= member.bounds_;
  num_traversals_ += member.num_traversals_ - shared.num_traversals;
  num_dives_ += member.num_dives_;
  num_collapses_ += member.num_collapses_;
}

}  // namespace treesample
