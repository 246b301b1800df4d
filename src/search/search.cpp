// The search, top to bottom: search, step, traverse, expand, make_room. New nodes are in leaf_nodes.cpp, backing up is
// in node_backup.cpp, dives are in dive.cpp, passes over all nodes in sweep.cpp.
#include "treesample/search/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "search/search_state.hpp"
#include "search/search_team.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/log_value.hpp"

namespace treesample {
namespace {}  // namespace

SearchState::SearchState(const FactorGraph& graph, const std::shared_ptr<const SearchSpace>& space,
                         const LeafValues& leaves, const Limits& limits, const SearchOptions& options,
                         const Observer& observer)
    : space_(*space),
      limits_(limits),
      options_(options),
      rule_(make_rule(*space, leaves, options)),
      store_(std::make_shared<BoundStore>(space, rule_->looks_at_q_phi())),
      nodes_(*store_, leaves, rule_->goes_by_estimates() && !leaves.estimate),
      rewards_(graph, *space, limits, options.answer_order, rule_->goes_by_estimates()),
      backup_(graph, *store_, *rule_, nodes_.calibration().is_on()),
      components_(*space, !rule_->goes_by_estimates()),
      memory_(*store_, limits.bytes),
      watch_(*store_, limits, observer, options.seconds_per_node, graph.has_only_tables() ? kMostBetweenLooks : 1),
      path_{.nodes = {}, .x = Assignment(graph.num_variables(), -1)} {
  nodes_.add_roots(path_.x);
}

SearchState::SearchState(const SearchState& first, std::shared_ptr<BoundStore> store, const Limits& share,
                         const SearchOptions& options, std::span<const BoundStore::Extent> kept,
                         const ShouldStop& should_stop)
    : space_(first.space_),
      limits_(share),
      options_(options),
      rule_(make_rule(space_, first.leaves(), options)),
      store_(std::move(store)),
      nodes_(first.nodes_, *store_),
      rewards_(first.rewards_, share),
      backup_(first.backup_, *store_, *rule_),
      components_(first.components_),
      memory_(*store_, share.bytes, kept),
      watch_(*store_, share, {.should_stop = should_stop}, options.seconds_per_node, kMostBetweenLooks),
      path_(first.path_),
      bounds_(first.bounds_),
      counts_{.traversals = first.counts_.traversals} {}

SearchReport SearchState::run() {
  SearchReport report;
  follow_first_configurations();
  if (!SearchTeam::can_search(*this)) {
    search(report);
    settle();
  } else {
    SearchTeam(*this).search(report);
  }
  tighten_bounds(root_bounds(*store_));
  if (report.stop == StopReason::kExact && bounds_.upper == kInf) {
    throw Error(ErrorCode::kNumeric,
                fmt::format("search: log Z, or that of a part of the model, cannot be bounded: factors are above "
                            "{}, more than the numbers of the search can hold, or cancel beyond all digits",
                            kMaxLogValue));
  }
  report.log_z = bounds_;
  if (report.stop == StopReason::kExact && !bounds_.is_exact()) report.stop = StopReason::kRounding;
  report.estimate = bounds_.clamp(root_estimate(*store_));
  refit();
  report.spent = rewards_.budget().spent();
  report.num_traversals = counts_.traversals;
  report.num_dives = counts_.dives;
  report.num_collapses = memory_.num_collapses();
  report.num_recalibrations = counts_.recalibrations;
  report.num_nodes = store_->num_nodes();
  report.num_expansions = store_->num_expansions();
  report.used_bytes = store_->used_bytes();
  report.seconds = watch_.run().seconds();
  return report;
}

void SearchState::follow_first_configurations() {
  for (const Assignment& x : options_.first_configurations) {
    for (std::size_t r = 0; r < space_.roots.size(); ++r) follow({space_.roots[r], store_->root_links()[r]}, x);
  }
}

RoundEnd SearchState::search(SearchReport& report, const Round& round) {
  report.stop = StopReason::kInterrupted;
  while (true) {
    if (space_.log_constant == kNegInf || is_solved(*store_)) {
      report.stop = StopReason::kExact;
      return RoundEnd::kStops;
    }
    tighten_bounds(root_bounds(*store_));
    if (is_closed_up_to_rounding()) {
      report.stop = StopReason::kExact;
      return RoundEnd::kStops;
    }
    if (limits_.gap > 0.0 && bounds_.upper - bounds_.lower <= limits_.gap) {
      report.stop = StopReason::kGap;
      return RoundEnd::kStops;
    }
    if (watch_.run().is_told() && counts_.traversals % options_.observer_interval == 0) {
      watch_.run().tell({.phase = "search",
                         .spent = rewards_.budget().spent(),
                         .log_z = bounds_,
                         .estimate = bounds_.clamp(root_estimate(*store_)),
                         .num_nodes = store_->num_nodes()});
      if (watch_.run().is_asked_to_stop()) return RoundEnd::kStops;
    }
    if (counts_.traversals >= round.last_traversal) return RoundEnd::kGoesOn;
    const Outcome outcome = step();
    if (outcome == Outcome::kBlocked && !rewards_.has_pending()) return RoundEnd::kIsDry;
    if (outcome == Outcome::kBudgetSpent) {
      report.stop = StopReason::kBudget;
      return RoundEnd::kStops;
    }
    if (const std::optional<Error>& failure = rewards_.failure()) {
      if (failure->code() == ErrorCode::kInterrupted) return RoundEnd::kStops;
      // A declared property is wrong, so every bound made from it may be wrong.
      if (failure->code() == ErrorCode::kArgument) throw Error(ErrorCode::kNumeric, failure->what());
      report.stop = StopReason::kFactorFailed;
      report.error = failure;
      return RoundEnd::kStops;
    }
    if (nodes_.calibration().is_due() && watch_.has_time_to_sweep()) recalibrate();
    if (memory_.is_full() && !rewards_.has_pending() && !make_room()) {
      report.stop = StopReason::kMemory;
      return RoundEnd::kStops;
    }
    if (watch_.is_asked_to_stop()) {
      report.stop = watch_.why_stop();
      return RoundEnd::kStops;
    }
    if (watch_.seconds_then() >= round.end) return RoundEnd::kGoesOn;
  }
}

// Makes one traversal or, when all workers are busy or nothing can be submitted, takes the rewards of earlier ones.
// Nodes are given back only when none is pending.
SearchState::Outcome SearchState::step() {
  const bool is_full = memory_.is_full();
  bool can_submit = !is_full;
  if (!rewards_.has_pending() || (rewards_.has_room() && !is_full)) {
    const Outcome outcome = traverse();
    if (outcome == Outcome::kProgress) ++counts_.traversals;
    if (outcome == Outcome::kProgress || outcome == Outcome::kFailed || !rewards_.has_pending()) return outcome;
    can_submit = false;
  }
  return wait_for_rewards(can_submit);
}

// Waits until there are rewards or, if more can be submitted, until a worker is free.
SearchState::Outcome SearchState::wait_for_rewards(bool can_submit) {
  std::vector<RewardAnswer> answers = rewards_.wait(can_submit);
  if (rewards_.failure()) return Outcome::kFailed;
  for (RewardAnswer& answer : answers) {
    PendingExpansion pending = rewards_.take(answer);
    if (answer.error) continue;  // the other answers are paid for
    const Place place = pending.node;
    path_ = std::move(pending.path);
    node(place).is_pending = false;
    add_edges(place, {std::move(answer.rewards), std::move(answer.magnitudes)});
    back_up(place);
    if (is_dive_due(place)) dive(place);
    backup_.back_up_path(path_);
  }
  backup_.release_blocked();
  return rewards_.failure() ? Outcome::kFailed : Outcome::kProgress;
}

// Goes from the roots along the chosen edges to a node without expansion, expands it, and continues below it. Post: the
// bounds of the path are up to date; kBudgetSpent only if no expansion could be paid for, kBlocked if all roots are
// pending. With the mass rule, kBudgetSpent as soon as one expansion could not be paid for: free levels lead to more
// paid ones than can be tried.
SearchState::Outcome SearchState::traverse() {
  path_.nodes.clear();
  Outcome outcome = Outcome::kBlocked;
  const bool by_estimates = rule_->goes_by_estimates();
  int num_left = by_estimates ? 1 : options_.expansions_per_traversal;
  std::span<const int> levels = space_.roots;
  const NodeIndex* links = store_->root_links().data();
  std::uint32_t ahead = BoundNode::kNoExpansion;  // prefetched: of the node after the next one
  while (true) {
    const EdgeBounds* new_edges = nullptr;  // for a rule that goes by estimates: of a node that is expanded here
    const int component = levels.size() == 1 ? 0 : components_.choose(*store_, levels, links);
    if (component < 0) break;
    const int level = levels[component];
    const NodeIndex index = links[component];
    const auto is_closed = [this, level, index] { return !store_->node(level, index).is_open(); };
    if (is_closed()) break;  // closed through another path
    if (!store_->node(level, index).is_expanded()) {
      if (num_left == 0) break;
      const Outcome begun = begin_expansion({level, index});
      if (by_estimates || begun == Outcome::kProgress || outcome == Outcome::kBlocked) outcome = begun;
      if (begun != Outcome::kProgress || is_closed()) break;
      const EdgeBounds& edges = backup_.back_up({level, index});
      if (by_estimates) new_edges = &edges;
      if (!by_estimates || (!rewards_.is_free(level) && rewards_.is_asking(level))) --num_left;
      if (is_dive_due({level, index})) {
        dive({level, index});
        break;
      }
      if (num_left == 0 || is_closed() || watch_.is_asked_to_stop()) break;
    }
    const Expansion expansion = store_->expansion(level, store_->node(level, index));
    const int action =
        new_edges != nullptr ? rule_->choose_at_new(*new_edges, expansion) : static_cast<int>(expansion.choice());
    ahead = store_->fetch_ahead(level, expansion, action, ahead);
    expansion.add_visit(action);
    path_.nodes.push_back({level, index});
    path_.x[store_->variable(level)] = action;
    levels = store_->children(level);
    links = expansion.links(action);
  }
  if (!path_.nodes.empty() && outcome == Outcome::kBlocked) outcome = Outcome::kProgress;  // choices are up to date now
  backup_.back_up_path(path_);
  return rewards_.failure() ? Outcome::kFailed : outcome;
}

// Evaluates the edges of the node below the path, or submits them.
SearchState::Outcome SearchState::begin_expansion(Place place) {
  if (!can_expand(place.level)) return Outcome::kBudgetSpent;
  if (rewards_.has_queue() && !rewards_.is_free(place.level)) {
    submit(place);
    return Outcome::kProgress;
  }
  return expand(place) ? Outcome::kProgress : Outcome::kFailed;
}

// The node is pending afterwards, unless its rewards are known without a program.
void SearchState::submit(Place place) {
  if (const RewardRow* const row = rewards_.submit(place, path_)) {
    add_edges(place, *row);
  } else {
    node(place).is_pending = true;
  }
}

// Evaluates all edges of a node. Returns false when a factor failed.
bool SearchState::expand(Place place) {
  const RewardRow* const row = rewards_.evaluate(place.level, path_.x);
  if (row != nullptr) add_edges(place, *row);
  return row != nullptr;
}

void SearchState::add_edges(Place place, const RewardRow& row) {
  nodes_.add_edges(place, row, path_.x);
  backup_.see_rewards(place.level, row);
}

bool SearchState::expand_below(SearchPath path, Place place) {
  if (node(place).is_expanded()) return true;  // through another path
  path_ = std::move(path);
  const bool is_expanded = can_expand(place.level) && !watch_.is_asked_to_stop() && expand(place);
  if (is_expanded) back_up(place);
  backup_.back_up_path(path_);
  return is_expanded;
}

// Returns false when there is nothing to give back.
bool SearchState::make_room() {
  const bool has_room = memory_.give_back(bounds_);
  backup_.forget_blocked_if([this](Place place) {
    BoundNode& blocked = node(place);
    if (!blocked.is_expanded()) blocked.is_pending = false;  // what it waited for is no longer below it
    return !blocked.is_expanded();
  });
  return has_room;
}

// True when the gap is no larger than the sum of the outward roundings of one backup per level. Never with the mass
// rule: its answer is P_V, for which closed bounds mean nothing.
bool SearchState::is_closed_up_to_rounding() const {
  if (!std::isfinite(bounds_.upper) || rule_->goes_by_estimates()) return false;
  const double rounding = 0x1.0p-50 * space_.num_levels() * (1.0 + std::abs(bounds_.upper));
  return bounds_.upper - bounds_.lower <= rounding;
}

void SearchOptions::validate() const {
  check_range("SearchOptions", "dive_interval", dive_interval, 0, 1 << 30);
  check_range("SearchOptions", "expansions_per_traversal", expansions_per_traversal, 1, 1 << 30);
  check_range("SearchOptions", "observer_interval", observer_interval, 1, 1 << 30);
  check_range("SearchOptions", "expansions_before_sharing", expansions_before_sharing, 1, 1 << 30);
  check_range("SearchOptions", "traversals_per_round", traversals_per_round, 0, 1 << 30);
  check_argument(c >= 0.0 && std::isfinite(c), "SearchOptions", "c must be a number of at least 0");
  check_argument(epsilon >= 0.0 && std::isfinite(epsilon), "SearchOptions", "epsilon must be a number of at least 0");
  check_at_least("SearchOptions", "seconds_per_node", seconds_per_node, 0.0);
}

SearchResult search(const FactorGraph& graph, const SearchSpace& space, const LeafValues& leaves, const Limits& limits,
                    const SearchOptions& options, const Observer& observer) {
  limits.validate();
  options.validate();
  check_space("search", graph, space);
  leaves.check_fit("search", space);
  for (const Assignment& x : options.first_configurations) graph.check_assignment(x, "search");
  SearchState state(graph, std::make_shared<const SearchSpace>(space), leaves, limits, options, observer);
  const SearchReport report = state.run();
  return {state.store(), state.leaves(), report, state.backup().reward_rounding()};
}

}  // namespace treesample
