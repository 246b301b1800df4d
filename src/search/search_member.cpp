#include "search/search_member.hpp"

#include <utility>

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

SearchMember::SearchMember(const SearchState& first, std::shared_ptr<BoundStore> store, const SharedPart& shared,
                           int number, int num_members, const ShouldStop& should_stop)
    : shared_(shared),
      number_(number),
      state_(first, std::move(store), share_of(first.limits(), first.watch().run().seconds(), num_members),
             share_of(first.options(), num_members), shared.common, should_stop) {}

// The nodes of other members are pending here: nothing below them may be chosen.
void SearchMember::hear(std::span<const CutNews> news) {
  for (std::size_t k = 0; k < news.size(); ++k) {
    BoundNode& node = state_.store()->node(shared_.cut[k].level, shared_.cut[k].index);
    if (shared_.owner[k] == number_ || node.is_complete) continue;
    node.tighten(news[k].values, Outward(), false);
    node.is_complete = news[k].is_complete;
    node.is_pending = !node.is_complete;
  }
  state_.backup().release_blocked();
  back_up_above(state_, shared_);
}

void SearchMember::tell(std::span<CutNews> news) const {
  for (std::size_t k = 0; k < news.size(); ++k) {
    if (shared_.owner[k] != number_) continue;
    const BoundNode& node = state_.store()->node(shared_.cut[k].level, shared_.cut[k].index);
    news[k] = {node, node.is_complete};
  }
}

void SearchMember::report_to(SearchState& first) const {
  if (state_.store() != first.store()) {
    for (int n = 0; n < first.space().num_levels(); ++n) {
      for (NodeIndex i = 0; i < shared_.common[n].nodes; ++i) {
        BoundNode& node = first.store()->node(n, i);
        const BoundNode& ours = state_.store()->node(n, i);
        if (node.is_complete) continue;
        node.tighten(ours, Outward(), false);
        node.is_complete = ours.is_complete;
      }
    }
  }
  first.backup().see_rewards(state_.backup());
  first.rewards().spend(state_.rewards().budget().spent());
  first.tighten_bounds(state_.bounds());
  first.counts().traversals += state_.counts().traversals - shared_.num_traversals;
  first.counts().dives += state_.counts().dives;
  first.memory().add_collapses(state_.memory().num_collapses());
}

// Every node above the cut has an expansion; nodes without one are in the cut.
void back_up_above(SearchState& state, const SharedPart& shared) {
  for (const BoundStore::Place& place : shared.above) {
    if (!state.store()->node(place.level, place.index).is_complete) state.back_up(place);
  }
  // Nodes above the cut are backed up in every round anyway; others are not blocked for long.
  state.backup().forget_blocked_if([&](BoundStore::Place place) {
    const std::vector<bool>& is_above = shared.is_above[place.level];
    return place.index < is_above.size() && is_above[place.index];
  });
}

}  // namespace treesample
