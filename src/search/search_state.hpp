// The state of a search with bounds: its parts, and which file has which step of it.
//
// Where the graph's queue has several workers, expansions are submitted and the search goes on: the node that waits for
// its rewards is pending, and so is a node all of whose open edges lead to pending nodes. Visits are counted on the way
// down and pending nodes are not chosen, so that traversals spread. When the rewards arrive, the path that asked for
// them is backed up.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "search/edge_bounds.hpp"
#include "search/leaf_nodes.hpp"
#include "search/node_backup.hpp"
#include "search/node_rewards.hpp"
#include "search/search_memory.hpp"
#include "search/search_path.hpp"
#include "search/search_watch.hpp"
#include "search/selection_rule.hpp"
#include "treesample/search/search.hpp"

namespace treesample {

// How far a search goes before it looks around: as many traversals, or until its clock shows so many seconds.
struct Round {
  std::int64_t last_traversal = INT64_MAX;
  double end = std::numeric_limits<double>::infinity();
};
enum class RoundEnd { kGoesOn, kStops, kIsDry };  // kIsDry: nothing is left that may be searched here

struct SearchCounts {
  std::int64_t traversals = 0, dives = 0, recalibrations = 0;
};

class SearchState {
 public:
  using Place = BoundStore::Place;
  static constexpr int kMostBetweenLooks = 64;  // of expansions and traversals; a function may take seconds

  SearchState(const FactorGraph& graph, const std::shared_ptr<const SearchSpace>& space, const LeafValues& leaves,
              const Limits& limits, const SearchOptions& options, const Observer& observer);
  // For one of several threads (search_member.hpp), with a store of its own: goes on where `first` is, with its share
  // of the limits. Nodes that `kept` covers keep their expansions.
  SearchState(const SearchState& first, std::shared_ptr<BoundStore> store, const Limits& share,
              const SearchOptions& options, std::span<const BoundStore::Extent> kept, const ShouldStop& should_stop);

  // search.cpp
  SearchReport run();
  // Searches until the round ends or there is a reason to stop, which goes into the report.
  RoundEnd search(SearchReport& report, const Round& round = {});
  void back_up(Place place) { backup_.back_up(place); }
  // Expands a node at the end of a path, as a traversal would. Returns false when that is impossible.
  bool expand_below(SearchPath path, Place place);

  // sweep.cpp
  // Brings the values of all nodes up to date: nodes with several edges above them were backed up along one of them.
  void settle();
  // Returns false when it was asked to stop: the estimates of some nodes are then older than those of others.
  template <typename LeafEstimate>
  bool sweep(LeafEstimate leaf_estimate);

  [[nodiscard]] const SearchSpace& space() const { return space_; }
  [[nodiscard]] const Limits& limits() const { return limits_; }
  [[nodiscard]] const SearchOptions& options() const { return options_; }
  [[nodiscard]] const LeafValues& leaves() const { return nodes_.leaves(); }
  [[nodiscard]] const std::shared_ptr<BoundStore>& store() const { return store_; }
  [[nodiscard]] const SearchWatch& watch() const { return watch_; }
  [[nodiscard]] const NodeRewards& rewards() const { return rewards_; }
  [[nodiscard]] NodeRewards& rewards() { return rewards_; }
  [[nodiscard]] const NodeBackup& backup() const { return backup_; }
  [[nodiscard]] NodeBackup& backup() { return backup_; }
  [[nodiscard]] const SearchMemory& memory() const { return memory_; }
  [[nodiscard]] SearchMemory& memory() { return memory_; }
  [[nodiscard]] const SearchCounts& counts() const { return counts_; }
  [[nodiscard]] SearchCounts& counts() { return counts_; }
  // The best bounds on log Z so far.
  [[nodiscard]] const LogBounds& bounds() const { return bounds_; }
  void tighten_bounds(const LogBounds& others) { bounds_ &= others; }

 private:
  enum class Outcome { kProgress, kBlocked, kBudgetSpent, kFailed };

  // search.cpp
  void follow_first_configurations();
  Outcome step();
  Outcome wait_for_rewards(bool can_submit);
  Outcome traverse();
  Outcome begin_expansion(Place place);
  void submit(Place place);
  bool expand(Place place);
  void add_edges(Place place, const RewardRow& row);
  bool make_room();
  [[nodiscard]] bool is_closed_up_to_rounding() const;
  [[nodiscard]] BoundNode& node(Place place) const { return store_->node(place.level, place.index); }
  [[nodiscard]] bool can_expand(int level) { return rewards_.can_pay(level, path_.x); }

  // dive.cpp
  void follow(Place root, const Assignment& x);
  [[nodiscard]] bool is_dive_due(Place place) const;
  void dive(Place top);
  [[nodiscard]] Place child_of(Place place, int action, std::size_t child) const;
  [[nodiscard]] int next_dive_action(Place place, std::vector<bool>& is_tried);

  // sweep.cpp
  void recalibrate();
  void refit();

  const SearchSpace& space_;
  const Limits limits_;
  const SearchOptions options_;
  const std::unique_ptr<SelectionRule> rule_;
  const std::shared_ptr<BoundStore> store_;
  LeafNodes nodes_;
  NodeRewards rewards_;
  NodeBackup backup_;
  ComponentRule components_;
  SearchMemory memory_;
  SearchWatch watch_;
  SearchPath path_;  // of the traversal, the dive or the expansion that is under way
  LogBounds bounds_;
  SearchCounts counts_;
};

}  // namespace treesample
