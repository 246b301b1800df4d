// The search with bounds, top to bottom: anytime_search, traverse, expand, back_up, dive, collapse.
#include "treesample/search/anytime_search.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "search/bound_store.hpp"
#include "search/collapse.hpp"
#include "search/edge_bounds.hpp"
#include "search/q_uct.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/reward.hpp"

namespace treesample {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
// Part of the memory limit at which nodes are given back; the rest is for looking which, and for the samplers.
constexpr double kFullShare = 0.75;
// Expansions that one dive may make, per level of the space.
constexpr std::int64_t kDiveFuelPerLevel = 4;

enum class Outcome { kProgress, kSolved, kBudgetSpent };

class Search {
 public:
  Search(const FactorGraph& graph, std::shared_ptr<const SearchSpace> space, const LeafValues& leaves,
         const AnytimeOptions& options);
  AnytimeReport run(const AnytimeObserver& observer);
  [[nodiscard]] std::shared_ptr<BoundStore> store() const { return store_; }

 private:
  struct Step {
    int level = 0;
    NodeIndex index = kNoNode;
  };

  Outcome traverse();
  [[nodiscard]] bool can_expand(int level) const;
  void expand(int level, NodeIndex index);
  NodeIndex child_node(int level);
  NodeIndex create_node(int level);
  void back_up(int level, NodeIndex index);
  int choose(int level, const Expansion& expansion) const;
  void follow(int level, NodeIndex index, const Assignment& x);
  [[nodiscard]] bool is_dive_due(int level, NodeIndex index);
  void dive(int level, NodeIndex index);
  bool dive(int level, NodeIndex index, std::int64_t& fuel);
  [[nodiscard]] int next_dive_action(int level, const BoundNode& node, std::vector<bool>& is_tried);
  bool make_room();
  void tighten_bounds();
  void settle();

  const SearchSpace& space_;
  const LeafValues& leaves_;
  const AnytimeOptions options_;
  std::shared_ptr<BoundStore> store_;
  Reward reward_;
  Budget budget_;
  EdgeBounds edges_;
  ComponentRule components_;
  Assignment x_;  // by variable; -1 off the current path
  std::vector<Step> path_;
  LogBounds bounds_;  // of log Z, the best so far
  std::int64_t num_traversals_ = 0, num_dives_ = 0, num_collapses_ = 0;
};

Search::Search(const FactorGraph& graph, std::shared_ptr<const SearchSpace> space, const LeafValues& leaves,
               const AnytimeOptions& options)
    : space_(*space),
      leaves_(leaves),
      options_(options),
      store_(std::make_shared<BoundStore>(space)),
      reward_(graph, *space),
      budget_(options.budget, options.budget_unit),
      edges_(*space),
      components_(*space),
      x_(graph.num_variables(), -1) {
  for (std::size_t r = 0; r < space_.roots.size(); ++r) store_->root_links()[r] = create_node(space_.roots[r]);
}

AnytimeReport Search::run(const AnytimeObserver& observer) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  constexpr int kClockInterval = 64;
  const auto full_bytes = static_cast<std::size_t>(kFullShare * static_cast<double>(options_.memory_limit_bytes));
  AnytimeReport report;
  report.stop = StopReason::kInterrupted;
  for (const Assignment& x : options_.first_configurations) {
    for (std::size_t r = 0; r < space_.roots.size(); ++r) follow(space_.roots[r], store_->root_links()[r], x);
  }
  while (true) {
    if (space_.log_constant == kNegInf || is_solved(*store_)) {
      report.stop = StopReason::kExact;
      break;
    }
    tighten_bounds();
    if (options_.gap > 0.0 && bounds_.upper - bounds_.lower <= options_.gap) {
      report.stop = StopReason::kGap;
      break;
    }
    if (observer && num_traversals_ % options_.observer_interval == 0 &&
        !observer({budget_.spent(), bounds_, root_estimate(*store_), store_->num_nodes(), seconds()})) {
      break;  // interrupted
    }
    if (traverse() == Outcome::kBudgetSpent) {
      report.stop = StopReason::kBudget;
      break;
    }
    ++num_traversals_;
    if (store_->used_bytes() > full_bytes && !make_room()) {
      report.stop = StopReason::kMemory;
      break;
    }
    if (num_traversals_ % kClockInterval == 0 && seconds() > options_.time_limit_seconds) {
      report.stop = StopReason::kTime;
      break;
    }
  }
  settle();
  tighten_bounds();
  report.log_z = bounds_;
  report.spent = budget_.spent();
  report.num_traversals = num_traversals_;
  report.num_dives = num_dives_;
  report.num_collapses = num_collapses_;
  report.num_nodes = store_->num_nodes();
  report.num_expansions = store_->num_expansions();
  report.used_bytes = store_->used_bytes();
  report.search_seconds = seconds();
  return report;
}

// From the roots along the chosen edges to a node without expansion, which gets one. Post: the bounds of the path
// are up to date; kBudgetSpent only if that expansion could not be paid for.
Outcome Search::traverse() {
  path_.clear();
  Outcome outcome = Outcome::kProgress;
  int num_left = options_.expansions_per_traversal;
  std::span<const int> levels = space_.roots;
  const NodeIndex* links = store_->root_links().data();
  while (true) {
    const int component = levels.size() == 1 ? 0 : components_.choose(*store_, levels, links);
    if (component < 0) break;
    const int level = levels[component];
    const NodeIndex index = links[component];
    if (store_->node(level, index).is_complete) break;  // by another path
    if (store_->node(level, index).expansion == kNoNode) {
      if (num_left == 0) break;
      if (!can_expand(level)) {
        outcome = num_left < options_.expansions_per_traversal ? Outcome::kProgress : Outcome::kBudgetSpent;
        break;
      }
      expand(level, index);
      back_up(level, index);
      --num_left;
      if (is_dive_due(level, index)) {
        dive(level, index);
        break;
      }
      if (store_->node(level, index).is_complete) break;
    }
    const Expansion expansion = store_->expansion(level, store_->node(level, index));
    const int action = static_cast<int>(expansion.choice());
    expansion.add_visit(action);
    path_.push_back({level, index});
    x_[space_.levels[level].variable] = action;
    levels = space_.levels[level].children;
    links = expansion.links(action);
  }
  for (std::size_t i = path_.size(); i-- > 0;) {
    back_up(path_[i].level, path_[i].index);
    x_[space_.levels[path_[i].level].variable] = -1;
  }
  return outcome;
}

// Expands the nodes that a configuration passes from a node down.
void Search::follow(int level, NodeIndex index, const Assignment& x) {
  const Level& here = space_.levels[level];
  if (store_->node(level, index).is_complete) return;
  if (store_->node(level, index).expansion == kNoNode) {
    if (!can_expand(level)) return;
    expand(level, index);
  }
  const int action = x[here.variable];
  x_[here.variable] = action;
  for (std::size_t j = 0; j < here.children.size(); ++j) {
    const NodeIndex child = store_->expansion(level, store_->node(level, index)).links(action)[j];
    if (child != kNoNode) follow(here.children[j], child, x);
  }
  x_[here.variable] = -1;
  back_up(level, index);
}

// Where nothing is known to be possible, every few traversals.
bool Search::is_dive_due(int level, NodeIndex index) {
  if (options_.dive_interval == 0 || num_traversals_ % options_.dive_interval != 0) return false;
  const BoundNode& node = store_->node(level, index);
  return node.lower == kNegInf && !node.is_complete;
}

void Search::dive(int level, NodeIndex index) {
  std::int64_t fuel = kDiveFuelPerLevel * space_.num_levels();
  ++num_dives_;
  dive(level, index, fuel);
}

bool Search::can_expand(int level) const {
  const std::int64_t num_states = space_.levels[level].num_states;
  const std::int64_t cost =
      options_.budget_unit == BudgetUnit::kReward ? num_states : num_states * reward_.num_factors(level);
  return budget_.used() <= budget_.limit() - cost;
}

// Evaluates all edges of a node. Their children are new nodes, or known ones where the context was met before.
void Search::expand(int level, NodeIndex index) {
  const Level& here = space_.levels[level];
  BoundNode& node = store_->node(level, index);
  store_->create_expansion(level, node);
  const Expansion expansion = store_->expansion(level, node);
  for (int a = 0; a < here.num_states; ++a) {
    x_[here.variable] = a;
    const double reward = reward_.evaluate(level, x_, budget_);
    expansion.set_evaluated(a);
    expansion.rewards()[a] = reward;
    for (std::size_t j = 0; j < here.children.size() && reward != kNegInf; ++j) {
      expansion.links(a)[j] = child_node(here.children[j]);
    }
  }
  x_[here.variable] = -1;
}

NodeIndex Search::child_node(int level) {
  if (!space_.levels[level].is_shared) return create_node(level);
  NodeIndex& known = store_->find_or_insert(level, x_);
  if (known == kNoNode) known = create_node(level);
  return known;
}

// A node with the values of the fall-backs.
NodeIndex Search::create_node(int level) {
  const NodeIndex index = store_->create_node(level);
  BoundNode& node = store_->node(level, index);
  node.upper = leaves_.upper ? leaves_.upper->log_value(level, x_) : kInf;
  node.is_complete = node.upper == kNegInf;
  node.lower = kNegInf;
  if (!node.is_complete) {
    const bool is_exact = leaves_.upper && leaves_.upper->is_exact(level);
    if (leaves_.lower && !is_exact) node.lower = leaves_.lower->log_value(level, x_);
    if (leaves_.lower_bound) node.lower = std::max(node.lower, leaves_.lower_bound(level, x_));
    node.is_complete = is_exact;
  }
  node.estimate = leaves_.estimate && !node.is_complete ? leaves_.estimate->log_value(level, x_) : node.upper;
  node.estimate = std::clamp(node.estimate, node.lower, std::max(node.lower, node.upper));
  return index;
}

void Search::back_up(int level, NodeIndex index) {
  BoundNode& node = store_->node(level, index);
  edges_.gather(*store_, level, node);
  edges_.back_up(node);
  const Expansion expansion = store_->expansion(level, node);
  if (!node.is_complete) expansion.choice() = static_cast<std::uint32_t>(choose(level, expansion));
}

int Search::choose(int level, const Expansion& expansion) const {
  if (options_.select == SelectRule::kGap) return edges_.widest();
  double visits = 1.0;
  for (int a = 0; a < edges_.num_states(); ++a) visits += expansion.visits(a);
  const double bonus = options_.c * std::max(space_.levels[level].log_states_below, options_.epsilon);
  int chosen = -1;
  double best = kNegInf;
  for (int a = 0; a < edges_.num_states(); ++a) {
    if (edges_.is_complete(a)) continue;
    const double score = q_uct(edges_.estimate(a), bonus * std::sqrt(visits), 1.0 / (1.0 + expansion.visits(a)));
    if (chosen >= 0 && !(score > best + tie_tolerance(best))) continue;
    chosen = a;
    best = score;
  }
  return chosen;
}

// Depth-first below a node until its L is finite or it is dead. False when neither was reached within the fuel.
// Pre: x_ holds the path down to the node.
bool Search::dive(int level, NodeIndex index, std::int64_t& fuel) {
  const auto is_done = [&] {
    const BoundNode& node = store_->node(level, index);
    return node.is_complete || node.lower != kNegInf;
  };
  if (is_done()) return true;
  if (store_->node(level, index).expansion == kNoNode) {
    if (fuel-- <= 0 || !can_expand(level)) return false;
    expand(level, index);
    back_up(level, index);
  }
  const Level& here = space_.levels[level];
  std::vector<bool> is_tried(here.num_states, false);
  while (!is_done()) {
    const int action = next_dive_action(level, store_->node(level, index), is_tried);
    if (action < 0) break;
    x_[here.variable] = action;
    for (std::size_t j = 0; j < here.children.size(); ++j) {
      const NodeIndex child = store_->expansion(level, store_->node(level, index)).links(action)[j];
      if (!dive(here.children[j], child, fuel)) break;
      if (store_->node(here.children[j], child).upper == kNegInf) break;
    }
    back_up(level, index);
  }
  x_[here.variable] = -1;
  return is_done();
}

// The incomplete edge with the largest V of those that were not tried; -1 when there is none.
int Search::next_dive_action(int level, const BoundNode& node, std::vector<bool>& is_tried) {
  edges_.gather(*store_, level, node);
  int chosen = -1;
  for (int a = 0; a < edges_.num_states(); ++a) {
    if (edges_.is_complete(a) || is_tried[a]) continue;
    if (chosen < 0 || edges_.estimate(a) > edges_.estimate(chosen)) chosen = a;
  }
  if (chosen >= 0) is_tried[chosen] = true;
  return chosen;
}

// Gives back half of the memory. False when that is not possible.
bool Search::make_room() {
  const std::size_t before = store_->used_bytes();
  ++num_collapses_;
  collapse_least(*store_, 0.5);
  return store_->used_bytes() < before - before / 10;
}

void Search::tighten_bounds() {
  const LogBounds now = root_bounds(*store_);
  bounds_ = {std::max(bounds_.lower, now.lower), std::min(bounds_.upper, now.upper)};
}

// Children before parents: nodes that several edges lead to were backed up along one of them only.
void Search::settle() {
  const bool has_shared =
      std::any_of(space_.levels.begin(), space_.levels.end(), [](const Level& level) { return level.is_shared; });
  for (int n = space_.num_levels() - 1; has_shared && n >= 0; --n) {
    for (NodeIndex i = 0; i < store_->end_index(n); ++i) {
      const BoundNode& node = store_->node(n, i);
      if (!node.is_given_back && node.expansion != kNoNode && !node.is_complete) back_up(n, i);
    }
  }
}

}  // namespace

LeafValues mini_bucket_leaves(const FactorGraph& graph, const SearchSpace& space,
                              std::shared_ptr<const WeightedMiniBucket> buckets,
                              const LocalDistributions& distributions) {
  LeafValues leaves;
  leaves.lower = product_fallback(graph, space, distributions);
  leaves.upper = mini_bucket_fallback(buckets);
  leaves.lower_bound = [buckets](int level, std::span<const int> x) { return buckets->log_lower(level, x); };
  return leaves;
}

void AnytimeOptions::validate() const {
  check_range("AnytimeOptions", "budget", budget, 0, std::numeric_limits<std::int64_t>::max());
  check_range("AnytimeOptions", "dive_interval", dive_interval, 0, 1 << 30);
  check_range("AnytimeOptions", "expansions_per_traversal", expansions_per_traversal, 1, 1 << 30);
  check_range("AnytimeOptions", "observer_interval", observer_interval, 1, 1 << 30);
  check_argument(c >= 0.0 && std::isfinite(c), "AnytimeOptions", "c must be a number of at least 0");
  check_argument(epsilon >= 0.0 && std::isfinite(epsilon), "AnytimeOptions", "epsilon must be a number of at least 0");
  check_argument(gap >= 0.0, "AnytimeOptions", "gap must be at least 0");
  check_argument(time_limit_seconds >= 0.0, "AnytimeOptions", "time_limit_seconds must be at least 0");
}

AnytimeResult anytime_search(const FactorGraph& graph, const SearchSpace& space, const LeafValues& leaves,
                             const AnytimeOptions& options, const AnytimeObserver& observer) {
  options.validate();
  for (const Assignment& x : options.first_configurations) graph.check_assignment(x, "anytime_search");
  Search search(graph, std::make_shared<const SearchSpace>(space), leaves, options);
  const AnytimeReport report = search.run(observer);
  return {search.store(), leaves, report};
}

}  // namespace treesample
