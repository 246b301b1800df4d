// Algorithm 2 of the paper, top to bottom: tree_sample, tree_traversal, q_uct, expand, backup.
#include "treesample/search/tree_sample.hpp"

#include <fmt/format.h>

#include <chrono>
#include <climits>
#include <cmath>
#include <utility>

#include "search/node_store.hpp"
#include "search/selection.hpp"
#include "search/soft_bellman.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/vector_math.hpp"
#include "treesample/model/reward.hpp"

namespace treesample {
namespace {

// exp_each is exact up to 700; beyond this an edge is refreshed from its children's logarithms.
constexpr double kLargestLogMultiplier = 690.0;

enum class Outcome { kProgress, kSolved, kBudgetSpent };

class Search {
 public:
  Search(const FactorGraph& graph, std::shared_ptr<const SearchSpace> space, const SearchOptions& options,
         std::shared_ptr<const ValueFunction> prior);
  SearchReport tree_sample(const SearchObserver& observer);
  [[nodiscard]] std::shared_ptr<NodeStore> store() const { return store_; }

 private:
  // One edge of the path from a root to the expansion.
  struct Step {
    int level;
    int action;
    Node node;
  };

  Outcome tree_traversal();
  [[nodiscard]] bool is_solved() const { return is_complete(*store_, space_.roots, store_->root_links().data()); }
  int choose_component(std::span<const int> levels, const NodeIndex* links) const;
  Node visit(int level, NodeIndex& link);
  void expand(const Step& step);
  NodeIndex create_node(int level);
  void backup();
  void initialise(int level, const Node& node);
  void add_step(const Step& step);

  const SearchSpace& space_;
  SearchOptions options_;
  std::shared_ptr<const ValueFunction> prior_;
  std::shared_ptr<NodeStore> store_;
  Reward reward_;
  Budget budget_;
  Selection selection_;
  int fewest_factors_ = INT_MAX;  // of any reward
  Assignment x_;                  // by variable; -1 where the current path does not assign
  std::vector<Step> path_;
  std::vector<double> log_multipliers_;  // per edge of the path, see backup
  std::vector<double> multipliers_;
  std::vector<double> other_sums_;  // sum of the weights of the path's siblings
};

Search::Search(const FactorGraph& graph, std::shared_ptr<const SearchSpace> space, const SearchOptions& options,
               std::shared_ptr<const ValueFunction> prior)
    : space_(*space),
      options_(options),
      prior_(std::move(prior)),
      store_(std::make_shared<NodeStore>(space, !prior_->is_uniform())),
      reward_(graph, *space),
      budget_(options.budget, options.budget_unit),
      selection_(*store_, options),
      x_(graph.num_variables(), -1) {
  path_.reserve(space_.levels.size());
  log_multipliers_.resize(padded(space_.levels.size()));
  multipliers_.resize(padded(space_.levels.size()));
  other_sums_.resize(space_.levels.size());
  for (int n = 0; n < space_.num_levels(); ++n) {
    fewest_factors_ = std::min(fewest_factors_, reward_.num_factors(n));
    if (!store_->has_prior()) initialise(n, store_->blank(n));  // all new nodes of a level are alike
  }
}

// Alg. 2, TreeSample. Pre: an empty store. Post: the budget is not exceeded; the store is settled.
SearchReport Search::tree_sample(const SearchObserver& observer) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  SearchReport report;
  report.stop = space_.log_constant == kNegInf ? StopReason::kExact : StopReason::kInterrupted;
  while (report.stop != StopReason::kExact) {
    const Outcome outcome = tree_traversal();
    if (outcome != Outcome::kProgress) {
      report.stop = outcome == Outcome::kSolved ? StopReason::kExact : StopReason::kBudget;
      break;
    }
    ++report.num_traversals;
    if (store_->held_bytes() > options_.memory_limit_bytes) {
      report.stop = StopReason::kMemory;
      break;
    }
    if (report.num_traversals % 256 != 0) continue;
    if (seconds() > options_.time_limit_seconds) {
      report.stop = StopReason::kTime;
      break;
    }
    if (observer && report.num_traversals % 4096 == 0 &&
        !observer({budget_.spent(), root_log_value(*store_), store_->num_nodes(), seconds()})) {
      break;  // interrupted
    }
  }
  settle(*store_);
  report.spent = budget_.spent();
  report.num_nodes = store_->num_nodes();
  report.used_bytes = store_->used_bytes();
  report.search_seconds = seconds();
  return report;
}

// Alg. 2, TreeTraversal. Pre: values of the nodes that only one edge leads to are up to date.
// Post: one more edge is evaluated, or a node completed elsewhere is known to the edge above it, or
// (kSolved) nothing is left to do, or (kBudgetSpent) no value has changed.
Outcome Search::tree_traversal() {
  if (!budget_.allows(fewest_factors_)) return is_solved() ? Outcome::kSolved : Outcome::kBudgetSpent;
  path_.clear();
  std::span<const int> components = space_.roots;
  NodeIndex* links = store_->root_links().data();
  while (true) {
    const int component = components.size() == 1 ? 0 : choose_component(components, links);
    if (component < 0) break;
    const int level = components[component];
    const Node node = visit(level, links[component]);
    if (node.is_complete()) break;
    const int action = static_cast<int>(node.choice());
    x_[space_.levels[level].variable] = action;
    add_step({level, action, node});
    if (!node.is_expanded(action)) {
      if (!budget_.allows(reward_.num_factors(level))) return Outcome::kBudgetSpent;
      expand(path_.back());
      break;
    }
    components = space_.levels[level].children;
    links = node.links(action);
  }
  if (path_.empty()) return Outcome::kSolved;  // not even a root is left
  backup();
  return Outcome::kProgress;
}

// The AND rule: of several independent components, the incomplete one with the fewest visits; -1 when
// there is nothing left to do below this edge.
int Search::choose_component(std::span<const int> levels, const NodeIndex* links) const {
  if (is_complete(*store_, levels, links)) return -1;
  int chosen = -1;
  std::uint64_t fewest = UINT64_MAX;
  for (std::size_t j = 0; j < levels.size(); ++j) {
    std::uint64_t visits = 0;
    if (links[j] != kNoNode) {
      const Node child = store_->node(levels[j], links[j]);
      if (child.is_complete()) continue;
      for (int a = 0; a < child.num_states(); ++a) visits += child.visits(a);
    }
    if (visits < fewest) {
      fewest = visits;
      chosen = static_cast<int>(j);
    }
  }
  return chosen;
}

// The node behind a link, created if need be, with its choice of action up to date.
Node Search::visit(int level, NodeIndex& link) {
  if (link == kNoNode) link = create_node(level);
  const Node node = store_->node(level, link);
  if (!space_.levels[level].is_private_below) {
    // A shared node below may have changed since the last visit.
    refresh(*store_, level, node);
    if (!node.is_complete()) {
      selection_.add(level, node);
      selection_.choose();
    }
  }
  return node;
}

// Alg. 2, Expand: pays for R_n of the path's last edge and gives the edge its children. A child level
// that several edges can reach is looked up by its context.
void Search::expand(const Step& step) {
  const Level& level = space_.levels[step.level];
  const double reward = reward_.evaluate(step.level, x_, budget_);
  step.node.set_expanded(step.action);
  step.node.rewards()[step.action] = reward;
  if (reward == kNegInf) return;  // impossible: complete at once, no children
  NodeIndex* const links = step.node.links(step.action);
  for (std::size_t j = 0; j < level.children.size(); ++j) {
    const int child = level.children[j];
    if (space_.levels[child].is_shared) {
      NodeIndex& known = store_->find_or_insert(child, x_);
      if (known == kNoNode) known = create_node(child);
      links[j] = known;
    } else if (store_->has_prior()) {
      links[j] = create_node(child);
    }
  }
}

// A node whose values are the prior's.
NodeIndex Search::create_node(int level) {
  const NodeIndex index = store_->create(level);
  if (store_->has_prior()) {
    initialise(level, store_->node(level, index));
  } else if (options_.ties == TieRule::kRandom) {
    selection_.add(level, store_->node(level, index));  // all edges tie
    selection_.choose();
  }
  return index;
}

void Search::initialise(int level, const Node& node) {
  if (store_->has_prior()) {
    const std::span<double> q(node.priors(), node.num_states());
    prior_->q_values(level, x_, 1, q);
    for (const double value : q) {
      if (!is_log_value(value)) {
        throw Error(ErrorCode::kNumeric, fmt::format("the value function returned {} for variable {}", value,
                                                     space_.levels[level].variable));
      }
    }
  }
  rebase(*store_, level, node);
  selection_.add(level, node);
  selection_.choose();
}

// Appends an edge to the path and notes what its backup will need. With E the scales, the weight of
// an edge is exp(R + V_others + E_child - E) times the child's sum of weights, where V_others are the
// values of its other components.
void Search::add_step(const Step& step) {
  const auto& [level, action, node] = step;
  if (!path_.empty()) {
    const auto& [above_level, above_action, above] = path_.back();
    double log_multiplier = above.rewards()[above_action] + node.log_scale() - above.log_scale();
    const std::vector<int>& siblings = space_.levels[above_level].children;
    for (std::size_t j = 0; siblings.size() > 1 && j < siblings.size(); ++j) {
      if (siblings[j] != level) log_multiplier += log_value(*store_, siblings[j], above.links(above_action)[j]);
    }
    log_multipliers_[path_.size() - 1] = log_multiplier;
  }
  double others = 0.0;
  with_num_states(node.num_states(), [&, action = action](auto num_states) {
    for (int a = 0; a < num_states; ++a) others += a == action ? 0.0 : step.node.weights()[a];
  });
  other_sums_[path_.size()] = others;
  path_.push_back(step);
}

// Alg. 2, backup: V = log sum exp Q, Q = R + V, complete flags and visits, from the last edge of the
// path to the root. All exponentials of the path are known beforehand, and the chain from level to
// level is one product and one sum.
void Search::backup() {
  std::copy_n(log_multipliers_.begin(), padded(path_.size()), multipliers_.begin());
  exp_each({multipliers_.data(), padded(path_.size())});
  double child_sum = 0.0;
  bool is_child_scale_known = false;  // false below the path's last edge and after a rebase
  for (std::size_t i = path_.size(); i-- > 0;) {
    const auto& [level, action, node] = path_[i];
    if (is_child_scale_known && std::abs(log_multipliers_[i]) < kLargestLogMultiplier) {
      const double weight = multipliers_[i] * child_sum;
      node.weights()[action] = weight;
      child_sum = other_sums_[i] + weight;
      if (path_[i + 1].node.is_complete() && is_complete(*store_, space_.levels[level].children, node.links(action))) {
        node.set_complete(action);
      }
    } else {
      refresh_edge(*store_, level, node, action);
      child_sum = node.sum();
    }
    node.add_visit(action);
    is_child_scale_known = !is_out_of_range(child_sum);
    if (!is_child_scale_known) rebase(*store_, level, node);
    x_[space_.levels[level].variable] = -1;
    // Where a node changes only when it is visited, its next choice is known now.
    if (space_.levels[level].is_private_below && !node.is_complete()) selection_.add(level, node);
  }
  selection_.choose();
}

}  // namespace

void SearchOptions::validate() const {
  check_range("SearchOptions", "budget", budget, 0, INT64_MAX);
  check_at_least("SearchOptions", "c", c, 0.0);
  check_at_least("SearchOptions", "epsilon", epsilon, 0.0);
  check_argument(time_limit_seconds > 0.0, "SearchOptions",
                 fmt::format("time_limit_seconds is {}, allowed are values above 0", time_limit_seconds));
}

const char* to_string(StopReason reason) {
  switch (reason) {
    case StopReason::kExact:
      return "exact";
    case StopReason::kBudget:
      return "budget";
    case StopReason::kTime:
      return "time";
    case StopReason::kMemory:
      return "memory";
    case StopReason::kInterrupted:
      return "interrupted";
  }
  return "";
}

SearchResult tree_sample(const FactorGraph& graph, const SearchSpace& space, const SearchOptions& options,
                         std::shared_ptr<const ValueFunction> prior, const SearchObserver& observer) {
  options.validate();
  if (!prior) prior = std::make_shared<UniformValue>(space);
  Search search(graph, std::make_shared<const SearchSpace>(space), options, prior);
  const SearchReport report = search.tree_sample(observer);
  return {SearchApproximation(search.store(), std::move(prior)), report};
}

}  // namespace treesample
