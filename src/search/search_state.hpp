// The state of a search with bounds, and which file has which part of it.
//
// Where the graph's queue has several workers, expansions are submitted and the search goes on: the node that waits for
// its rewards is pending, and so is a node all of whose open edges lead to pending nodes. Visits are counted on the way
// down and pending nodes are not chosen, so that traversals spread. When the rewards arrive, the path that asked for
// them is backed up.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "search/bound_store.hpp"
#include "search/calibration.hpp"
#include "search/edge_bounds.hpp"
#include "search/selection_rule.hpp"
#include "space/run_watch.hpp"
#include "treesample/error.hpp"
#include "treesample/math/random.hpp"
#include "treesample/search/search.hpp"
#include "treesample/space/reward.hpp"
#include "treesample/space/reward_queue.hpp"

namespace treesample {

// What the stores of several threads have in common. Every path from a root down meets the cut, at a node that belongs
// to one thread alone.
struct SharedPart {
  std::vector<BoundStore::Extent> common;   // by level
  std::vector<BoundStore::Place> above;     // nodes above the cut, children before parents
  std::vector<std::vector<bool>> is_above;  // by level and node of the common part
  std::vector<BoundStore::Place> cut;
  std::vector<int> owner;           // by node of the cut
  std::int64_t num_traversals = 0;  // before the search was shared
};
// How far a search goes before it looks around: as many traversals, or until its clock shows so many seconds.
struct Round {
  std::int64_t last_traversal = INT64_MAX;
  double end = std::numeric_limits<double>::infinity();
};
enum class RoundEnd { kGoesOn, kStops, kIsDry };  // kIsDry: nothing is left that may be searched here
struct CutNews {
  BoundValues values;
  bool is_complete = false;
};

class SearchState {
 public:
  SearchState(const FactorGraph& graph, const std::shared_ptr<const SearchSpace>& space, const LeafValues& leaves,
              const Limits& limits, const SearchOptions& options, const Observer& observer);
  SearchReport run();
  [[nodiscard]] std::shared_ptr<BoundStore> store() const { return store_; }
  [[nodiscard]] const LeafValues& leaves() const { return leaves_; }
  [[nodiscard]] std::vector<double> reward_rounding() const { return edges_.reward_rounding(); }

  // search_member.cpp: one of several threads, each with a state and a store of its own, see search_team.hpp.
  SearchState(const SearchState& first, std::shared_ptr<BoundStore> store, const SharedPart& shared, int member,
              int num_members, const ShouldStop& should_stop);
  // Takes the others' values of their nodes of the cut, before a round; gives the values of its own, after it.
  void hear(std::span<const CutNews> news);
  void tell(std::span<CutNews> news) const;
  // Takes the bounds of a member, of all nodes that both have, and what it has spent.
  void absorb(const SearchState& member);

 private:
  friend class SearchTeam;
  enum class Outcome { kProgress, kBlocked, kBudgetSpent, kFailed };

  struct Step {
    int level = 0;
    NodeIndex index = kNoNode;
  };

  // A node on a path from a root down and the action taken there; the last node has none.
  struct PathStep {
    int level = 0;
    NodeIndex index = kNoNode;
    int action = -1;
  };
  using Path = std::vector<PathStep>;

  // An expansion that waits for its rewards.
  struct Pending {
    std::vector<Step> path;
    Assignment x;  // the states on the path
    Step node;
  };

  // The leaf values of a node.
  struct Leaf {
    double lower = 0.0, upper = 0.0;
    std::optional<double> estimate = {};  // where it was asked for
  };
  // The leaf values for all edges of a node.
  struct LeafRow {
    bool is_known = false;
    std::vector<double> lower, upper, estimate;
  };
  // The leaf values of a level's last new node, and the same as numbers: many nodes have equal leaf values.
  struct LastLeaf {
    double lower = NAN, upper = NAN, estimate = NAN;
    BoundValues values;
  };

  // search.cpp
  void follow_first_configurations();
  // The reason to stop goes into the report.
  RoundEnd search(SearchReport& report, const Round& round = {});
  // The time that the passes after the search will take.
  [[nodiscard]] double seconds_after() const {
    return options_.seconds_per_node * static_cast<double>(store_->num_nodes());
  }
  // Asks the clock and the observer, now and then; to be called after expansions and traversals.
  bool is_asked_to_stop() {
    if (!why_stop_ && looks_.is_due()) look();
    return why_stop_.has_value();
  }
  void look();
  Outcome step();
  Outcome wait_for_rewards(bool can_submit);
  Outcome traverse();
  // For a rule that goes by estimates: the free levels, and those at which its traversals end (pre of the latter: not
  // free).
  [[nodiscard]] bool is_free(int level) const { return rule_->goes_by_estimates() && reward_.num_factors(level) == 0; }
  [[nodiscard]] bool is_asking(int level) const { return !has_functions_ || !reward_.functions(level).empty(); }
  Outcome begin_expansion(int level, NodeIndex index);
  void back_up_path();
  void back_up(int level, NodeIndex index);
  void back_up_values(const Step& step, bool may_wait);
  void release_blocked();
  [[nodiscard]] std::size_t full_bytes() const;
  bool make_room();
  void tighten_bounds();
  [[nodiscard]] bool is_closed_up_to_rounding() const;

  // expand.cpp
  bool expand(int level, NodeIndex index);
  void add_edges(int level, NodeIndex index);
  NodeIndex child_node(const Level& here, std::size_t child);
  [[nodiscard]] bool is_exact_leaf(int level) const { return leaves_.upper && leaves_.upper->is_exact(level); }
  Leaf leaf_of(const Level& here, std::size_t child);
  NodeIndex create_node(int level, Leaf leaf);

  // search_budget.cpp
  [[nodiscard]] bool can_expand(int level);
  [[nodiscard]] std::int64_t num_new_calls(int level);

  // dive.cpp
  void follow(int root, NodeIndex root_index, const Assignment& x);
  [[nodiscard]] bool is_dive_due(int level, NodeIndex index) const;
  void dive(int level, NodeIndex index);
  void dive(int top_level, NodeIndex top_index, std::int64_t fuel);
  [[nodiscard]] Step child_of(const Step& step, int action, std::size_t child) const;
  [[nodiscard]] int next_dive_action(int level, const BoundNode& node, std::vector<bool>& is_tried);

  // search_member.cpp
  void back_up_above(const SharedPart& shared);
  // Expands the last node of a path, as a traversal would. Returns false when that is impossible.
  bool expand_below(const Path& path);

  // sweep.cpp
  void settle();
  void recalibrate();
  void refit();
  [[nodiscard]] bool has_time_to_sweep() const;
  // Returns false when it was asked to stop: the estimates of some nodes are then older than those of others.
  template <typename LeafEstimate>
  bool sweep(LeafEstimate leaf_estimate);

  const SearchSpace& space_;
  CalibrationSchedule calibration_;
  LeafValues leaves_;
  const Limits limits_;
  const SearchOptions options_;
  const RunWatch watch_;
  const std::unique_ptr<SelectionRule> rule_;
  std::shared_ptr<BoundStore> store_;
  Reward reward_;
  Budget budget_;
  EdgeBounds edges_;
  ComponentRule components_;
  Assignment x_;  // by variable; -1 off the current path
  std::vector<Step> path_;
  // For the node that is being expanded; magnitudes are Reward::magnitude() of each reward.
  std::vector<double> edge_rewards_, edge_magnitudes_;
  std::vector<LeafRow> leaf_rows_;           // by child level
  std::vector<LastLeaf> last_leaves_;        // by level
  std::unique_ptr<RewardQueue> rewards_;     // null with one worker
  std::map<std::int64_t, Pending> pending_;  // by id in that queue
  std::vector<Step> blocked_;                // expanded nodes that are pending
  std::optional<Error> failure_;
  LogBounds bounds_;        // the best bounds on log Z so far
  bool has_zeros_ = false;  // an impossible state was met
  const bool has_functions_;
  std::int64_t num_traversals_ = 0, num_dives_ = 0, num_collapses_ = 0, num_recalibrations_ = 0;
  std::int64_t num_evaluations_then_ = 0;       // when memory was last given back
  static constexpr int kMostBetweenLooks = 64;  // of expansions and traversals; a function may take seconds
  LookSchedule looks_;
  std::optional<StopReason> why_stop_;   // once there is a reason: an observer may ask only once
  double sweep_seconds_per_node_ = 0.0;  // measured in the last sweep
  const SharedPart* shared_ = nullptr;   // null unless this is a member
  int member_ = 0;
};

}  // namespace treesample
