// One of the threads that search together: what it hears and tells between its rounds.
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
  options.seconds_per_node *= num_members;  // what follows goes over the nodes of all
  return options;
}

}  // namespace

SearchState::SearchState(const SearchState& first, std::shared_ptr<BoundStore> store, int num_members)
    : space_(first.space_),
      leaves_(first.leaves_),
      limits_(share_of(first.limits_, first.watch_.seconds(), num_members)),
      options_(share_of(first.options_, num_members)),
      watch_(limits_, {}),
      rule_(make_rule(space_, leaves_, options_)),
      store_(std::move(store)),
      reward_(first.reward_),
      budget_(limits_.budget, limits_.unit),
      edges_(first.edges_),
      components_(first.components_),
      x_(first.x_),
      bounds_(first.bounds_),
      has_zeros_(first.has_zeros_),
      has_functions_(first.has_functions_),
      num_traversals_(first.num_traversals_),
      clock_interval_(first.clock_interval_),
      stop_([this] { return watch_.is_time_over(seconds_after()); }) {}

void SearchState::join(const SharedLeaves& shared, int member) {
  shared_ = &shared;
  member_ = member;
}

// The leaves of others are pending here: nothing below them may be chosen. Nodes of this member alone can lead to them
// too, where contexts are equal.
void SearchState::hear(std::span<const LeafNews> news) {
  for (std::size_t k = 0; k < news.size(); ++k) {
    BoundNode& node = store_->node(shared_->leaves[k].level, shared_->leaves[k].index);
    if (shared_->owner[k] == member_ || node.is_complete) continue;
    node.tighten(news[k].values, Outward(), false);
    node.is_complete = news[k].is_complete;
    node.is_pending = !node.is_complete;
  }
  const auto is_common = [this](const Step& step) { return step.index < shared_->common[step.level].nodes; };
  const auto place = [](const Step& step) { return std::pair(step.level, step.index); };
  blocked_.erase(std::remove_if(blocked_.begin(), blocked_.end(), is_common), blocked_.end());
  std::sort(blocked_.begin(), blocked_.end(), [&](const Step& a, const Step& b) { return place(a) < place(b); });
  blocked_.erase(std::unique(blocked_.begin(), blocked_.end(),
                             [&](const Step& a, const Step& b) { return place(a) == place(b); }),
                 blocked_.end());
  release_blocked();
  back_up_shared();
}

// The nodes above the leaves, children before parents.
void SearchState::back_up_shared() {
  for (int n = space_.num_levels() - 1; n >= 0; --n) {
    for (NodeIndex i = 0; i < shared_->common[n].nodes; ++i) {
      const BoundNode& node = store_->node(n, i);
      if (node.expansion < shared_->common[n].expansions && !node.is_complete) back_up(n, i);
    }
  }
}

void SearchState::tell(std::span<LeafNews> news) const {
  for (std::size_t k = 0; k < news.size(); ++k) {
    if (shared_->owner[k] != member_) continue;
    const BoundNode& node = store_->node(shared_->leaves[k].level, shared_->leaves[k].index);
    news[k] = {node, node.is_complete};
  }
}

void SearchState::absorb(SearchState& member) {
  if (member.store_ != store_) {
    std::vector<BoundStore::Place> places;
    for (std::size_t k = 0; k < shared_->leaves.size(); ++k) {
      if (shared_->owner[k] == member.member_) places.push_back(shared_->leaves[k]);
    }
    if (!store_->take(std::move(*member.store_), shared_->common, places)) {
      // Bounds stay, samples are drawn as if these had not been searched.
      for (const BoundStore::Place& place : places) store_->node(place.level, place.index).was_collapsed = true;
    }
    member.store_.reset();
  }
  edges_.see_rewards(member.edges_);
  budget_.spend(member.budget_.spent());
  bounds_ = {std::max(bounds_.lower, member.bounds_.lower), std::min(bounds_.upper, member.bounds_.upper)};
  num_traversals_ += member.num_traversals_ - shared_->num_traversals;
  num_dives_ += member.num_dives_;
  num_collapses_ += member.num_collapses_;
}

void SearchState::end_sharing() {
  for (const BoundStore::Place& place : shared_->leaves) store_->node(place.level, place.index).is_pending = false;
  back_up_shared();
  shared_ = nullptr;
  blocked_.clear();
}

}  // namespace treesample
