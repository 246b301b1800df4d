// The search, top to bottom: search, step, traverse, back_up, make_room. Expanding a node is in expand.cpp, dives are
// in dive.cpp, passes over all nodes in sweep.cpp.
#include "treesample/search/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "search/collapse.hpp"
#include "search/search_state.hpp"
#include "search/search_team.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/log_value.hpp"

namespace treesample {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
// The share of the memory limit at which nodes are given back; the rest is for choosing them, and for the samplers.
constexpr double kFullShare = 0.75;

}  // namespace

SearchState::SearchState(const FactorGraph& graph, const std::shared_ptr<const SearchSpace>& space,
                         const LeafValues& leaves, const Limits& limits, const SearchOptions& options,
                         const Observer& observer)
    : space_(*space),
      leaves_(leaves),
      limits_(limits),
      options_(options),
      watch_(limits, observer),
      rule_(make_rule(*space, leaves, options)),
      store_(std::make_shared<BoundStore>(space, rule_->looks_at_q_phi())),
      reward_(graph, *space),
      budget_(budget_of(limits, graph.evaluation_queue())),
      edges_(*space, rule_->goes_by_estimates() && !leaves.estimate),
      components_(*space, !rule_->goes_by_estimates()),
      x_(graph.num_variables(), -1),
      last_leaves_(space->levels.size()),
      has_functions_(!graph.has_only_tables()),
      looks_(graph.has_only_tables() ? kMostBetweenLooks : 1) {
  edges_.see_factors(graph, *space);
  const EvaluationQueue* const queue = graph.evaluation_queue();
  if (queue != nullptr && queue->max_under_way() > 1) {
    rewards_ = std::make_unique<RewardQueue>(graph, space_, budget_, options.answer_order);
  }
  if (rule_->goes_by_estimates() && !leaves_.estimate) {
    leaves_.estimate = calibration_.start(space_);
  }
  for (std::size_t r = 0; r < space_.roots.size(); ++r) {
    const int root = space_.roots[r];
    const double lower = leaves_.lower && !is_exact_leaf(root) ? leaves_.lower->log_value(root, x_) : kNegInf;
    const double upper = leaves_.upper ? leaves_.upper->log_value(root, x_) : kInf;
    store_->root_links()[r] = create_node(root, {lower, upper, {}});
  }
}

SearchReport SearchState::run() {
  SearchReport report;
  follow_first_configurations();
  if (!SearchTeam::can_search(*this)) {
    search(report);
    settle();
  } else {
    SearchTeam(*this).search(report);
  }
  tighten_bounds();
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
  report.spent = budget_.spent();
  report.num_traversals = num_traversals_;
  report.num_dives = num_dives_;
  report.num_collapses = num_collapses_;
  report.num_recalibrations = num_recalibrations_;
  report.num_nodes = store_->num_nodes();
  report.num_expansions = store_->num_expansions();
  report.used_bytes = store_->used_bytes();
  report.seconds = watch_.seconds();
  return report;
}

void SearchState::follow_first_configurations() {
  for (const Assignment& x : options_.first_configurations) {
    for (std::size_t r = 0; r < space_.roots.size(); ++r) follow(space_.roots[r], store_->root_links()[r], x);
  }
}

RoundEnd SearchState::search(SearchReport& report, const Round& round) {
  report.stop = StopReason::kInterrupted;
  while (true) {
    if (space_.log_constant == kNegInf || is_solved(*store_)) {
      report.stop = StopReason::kExact;
      return RoundEnd::kStops;
    }
    tighten_bounds();
    if (is_closed_up_to_rounding()) {
      report.stop = StopReason::kExact;
      return RoundEnd::kStops;
    }
    if (limits_.gap > 0.0 && bounds_.upper - bounds_.lower <= limits_.gap) {
      report.stop = StopReason::kGap;
      return RoundEnd::kStops;
    }
    if (watch_.is_told() && num_traversals_ % options_.observer_interval == 0) {
      watch_.tell({.phase = "search",
                   .spent = budget_.spent(),
                   .log_z = bounds_,
                   .estimate = bounds_.clamp(root_estimate(*store_)),
                   .num_nodes = store_->num_nodes()});
      if (watch_.is_asked_to_stop()) return RoundEnd::kStops;
    }
    if (num_traversals_ >= round.last_traversal) return RoundEnd::kGoesOn;
    const Outcome outcome = step();
    if (outcome == Outcome::kBlocked && pending_.empty()) return RoundEnd::kIsDry;
    if (outcome == Outcome::kBudgetSpent) {
      report.stop = StopReason::kBudget;
      return RoundEnd::kStops;
    }
    if (failure_) {
      if (failure_->code() == ErrorCode::kInterrupted) return RoundEnd::kStops;
      // A declared property is wrong, so every bound made from it may be wrong.
      if (failure_->code() == ErrorCode::kArgument) throw Error(ErrorCode::kNumeric, failure_->what());
      report.stop = StopReason::kFactorFailed;
      report.error = failure_;
      return RoundEnd::kStops;
    }
    if (calibration_.is_due() && has_time_to_sweep()) recalibrate();
    if (store_->used_bytes() > full_bytes() && pending_.empty() && !make_room()) {
      report.stop = StopReason::kMemory;
      return RoundEnd::kStops;
    }
    if (is_asked_to_stop()) {
      report.stop = *why_stop_;
      return RoundEnd::kStops;
    }
    if (looks_.seconds() >= round.end) return RoundEnd::kGoesOn;
  }
}

void SearchState::look() {
  looks_.looked(watch_.seconds());
  if (watch_.is_time_over(seconds_after())) why_stop_ = StopReason::kTime;
  if (watch_.is_asked_to_stop()) why_stop_ = StopReason::kInterrupted;
}

// Makes one traversal or, when all workers are busy or nothing can be submitted, takes the rewards of earlier ones.
// Nodes are given back only when none is pending.
SearchState::Outcome SearchState::step() {
  const bool is_full = store_->used_bytes() > full_bytes();
  bool can_submit = !is_full;
  if (pending_.empty() || (rewards_->has_room() && !is_full)) {
    const Outcome outcome = traverse();
    if (outcome == Outcome::kProgress) ++num_traversals_;
    if (outcome == Outcome::kProgress || outcome == Outcome::kFailed || pending_.empty()) return outcome;
    can_submit = false;
  }
  return wait_for_rewards(can_submit);
}

// Waits until there are rewards or, if more can be submitted, until a worker is free.
SearchState::Outcome SearchState::wait_for_rewards(bool can_submit) {
  std::vector<RewardAnswer> answers;
  try {
    answers = rewards_->wait(can_submit);
  } catch (const Error& error) {
    failure_ = error;
    return Outcome::kFailed;
  }
  for (RewardAnswer& answer : answers) {
    Pending pending = std::move(pending_.extract(answer.id).mapped());
    if (answer.error) {
      failure_ = std::move(answer.error);
      continue;  // the other answers are paid for
    }
    const auto [level, index] = pending.node;
    path_ = std::move(pending.path);
    x_ = std::move(pending.x);
    store_->node(level, index).is_pending = false;
    edge_rewards_ = std::move(answer.rewards);
    edge_magnitudes_ = std::move(answer.magnitudes);
    add_edges(level, index);
    back_up(level, index);
    if (is_dive_due(level, index)) dive(level, index);
    back_up_path();
  }
  release_blocked();
  return failure_ ? Outcome::kFailed : Outcome::kProgress;
}

// Goes from the roots along the chosen edges to a node without expansion, expands it, and continues below it. Post: the
// bounds of the path are up to date; kBudgetSpent only if no expansion could be paid for, kBlocked if all roots are
// pending. With the mass rule, kBudgetSpent as soon as one expansion could not be paid for: free levels lead to more
// paid ones than can be tried.
SearchState::Outcome SearchState::traverse() {
  path_.clear();
  Outcome outcome = Outcome::kBlocked;
  const bool by_estimates = rule_->goes_by_estimates();
  int num_left = by_estimates ? 1 : options_.expansions_per_traversal;
  std::span<const int> levels = space_.roots;
  const NodeIndex* links = store_->root_links().data();
  std::uint32_t ahead = BoundNode::kNoExpansion;  // prefetched: of the node after the next one
  while (true) {
    bool is_new = false;
    const int component = levels.size() == 1 ? 0 : components_.choose(*store_, levels, links);
    if (component < 0) break;
    const int level = levels[component];
    const NodeIndex index = links[component];
    const auto is_closed = [&] { return !store_->node(level, index).is_open(); };
    if (is_closed()) break;  // closed through another path
    if (!store_->node(level, index).is_expanded()) {
      if (num_left == 0) break;
      const Outcome begun = begin_expansion(level, index);
      if (by_estimates || begun == Outcome::kProgress || outcome == Outcome::kBlocked) outcome = begun;
      if (begun != Outcome::kProgress || is_closed()) break;
      back_up(level, index);
      is_new = by_estimates;
      if (!by_estimates || (!is_free(level) && is_asking(level))) --num_left;
      if (is_dive_due(level, index)) {
        dive(level, index);
        break;
      }
      if (num_left == 0 || is_closed() || is_asked_to_stop()) break;
    }
    const Expansion expansion = store_->expansion(level, store_->node(level, index));
    // edges_ are still those of a new node.
    const int action = is_new ? rule_->choose_at_new(edges_, expansion) : static_cast<int>(expansion.choice());
    ahead = store_->fetch_ahead(level, expansion, action, ahead);
    expansion.add_visit(action);
    path_.push_back({level, index});
    x_[store_->variable(level)] = action;
    levels = store_->children(level);
    links = expansion.links(action);
  }
  if (!path_.empty() && outcome == Outcome::kBlocked) outcome = Outcome::kProgress;  // choices are up to date now
  back_up_path();
  return failure_ ? Outcome::kFailed : outcome;
}

// Evaluates the edges of the node below the path, or submits them, which makes the node pending.
SearchState::Outcome SearchState::begin_expansion(int level, NodeIndex index) {
  if (!can_expand(level)) return Outcome::kBudgetSpent;
  if (!rewards_ || is_free(level)) return expand(level, index) ? Outcome::kProgress : Outcome::kFailed;
  std::optional<RewardAnswer> answer = rewards_->submit({level, 0, space_.levels[level].num_states}, x_);
  if (answer) {
    edge_rewards_ = std::move(answer->rewards);
    edge_magnitudes_ = std::move(answer->magnitudes);
    add_edges(level, index);
  } else {
    pending_[rewards_->last_id()] = {path_, x_, {level, index}};
    store_->node(level, index).is_pending = true;
  }
  return Outcome::kProgress;
}

// Values go up the path one by one; choices, on which no value depends, are made for all its nodes together.
void SearchState::back_up_path() {
  for (std::size_t i = path_.size(); i-- > 0;) back_up_values(path_[i], true);
  rule_->choose_noted();
  std::uint32_t ahead = BoundNode::kNoExpansion;  // where the choice of the node below leads
  for (std::size_t i = path_.size(); i-- > 0;) {
    const auto [level, index] = path_[i];
    const BoundNode& node = store_->node(level, index);
    const Expansion expansion = store_->expansion(level, node);
    int& action = x_[store_->variable(level)];
    if (expansion.has_hints()) expansion.hint(action) = ahead;
    ahead = node.is_open() ? store_->chosen_expansion(level, expansion) : BoundNode::kNoExpansion;
    action = -1;
  }
}

void SearchState::back_up(int level, NodeIndex index) { back_up_values({level, index}, false); }

// Backs up a node and makes its choice, unless that may wait for choose_noted() of the rule.
void SearchState::back_up_values(const Step& step, bool may_wait) {
  BoundNode& node = store_->node(step.level, step.index);
  if (!edges_.back_up_pair(*store_, step.level, node)) {
    edges_.gather(*store_, step.level, node);
    edges_.back_up(node);
  }
  if (node.is_pending) node.is_pending = false;
  if (node.is_complete) return;
  const Expansion expansion = store_->expansion(step.level, node);
  const bool has_several = edges_.num_open() > 1;
  if (has_several && may_wait && rule_->note(step.level, edges_, expansion)) return;
  const int action = has_several ? rule_->choose(step.level, edges_, expansion) : edges_.last_open();
  if (action >= 0) {
    expansion.choice() = static_cast<std::uint32_t>(action);
  } else {
    node.is_pending = true;
    blocked_.push_back(step);
  }
}

// Rewards have arrived: nodes that were pending because of them, over any path, may be chosen again.
void SearchState::release_blocked() {
  std::vector<Step> blocked = std::exchange(blocked_, {});
  std::stable_sort(blocked.begin(), blocked.end(), [](const Step& a, const Step& b) { return a.level > b.level; });
  for (const Step& step : blocked) {
    if (store_->node(step.level, step.index).is_pending) back_up(step.level, step.index);
  }
}

std::size_t SearchState::full_bytes() const {
  return static_cast<std::size_t>(kFullShare * static_cast<double>(limits_.bytes));
}

// Gives back half of the memory. Returns false when that is not possible, or when only free levels were expanded since
// the last time: it would go on for ever.
bool SearchState::make_room() {
  const std::size_t before = store_->used_bytes();
  const std::int64_t num_evaluations = budget_.spent().reward_evaluations;
  if (num_collapses_++ > 0 && num_evaluations == num_evaluations_then_) return false;
  num_evaluations_then_ = num_evaluations;
  collapse_least(*store_, 0.5, shared_ != nullptr ? shared_->common : std::span<const BoundStore::Extent>());
  std::erase_if(blocked_, [this](const Step& step) {
    BoundNode& node = store_->node(step.level, step.index);
    if (!node.is_expanded()) node.is_pending = false;  // what it waited for is no longer below it
    return !node.is_expanded();
  });
  return store_->used_bytes() < before - before / 10;
}

// True when the gap is no larger than the sum of the outward roundings of one backup per level. Never with the mass
// rule: its answer is P_V, for which closed bounds mean nothing.
bool SearchState::is_closed_up_to_rounding() const {
  if (!std::isfinite(bounds_.upper) || rule_->goes_by_estimates()) return false;
  const double rounding = 0x1.0p-50 * space_.num_levels() * (1.0 + std::abs(bounds_.upper));
  return bounds_.upper - bounds_.lower <= rounding;
}

void SearchState::tighten_bounds() { bounds_ &= root_bounds(*store_); }

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
  return {state.store(), state.leaves(), report, state.reward_rounding()};
}

}  // namespace treesample
