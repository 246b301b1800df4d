// Algorithm 2 of the paper, top to bottom: tree_sample, tree_traversal, expand, backup. Its Q-UCT, for all nodes of a
// path at once, is in selection.cpp.
#include "treesample/search/tree_sample.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <utility>

#include "search/soft_bellman.hpp"
#include "search/tree_search.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr std::size_t kCacheBytes = std::size_t{8} << 20;  // while the nodes take less, nothing is fetched ahead

// A node's number of states: known to the compiler when it is common to all levels, else its own.
template <int kCommon>
constexpr auto own_or_common(const Node&, std::integral_constant<int, kCommon> common) {
  return common;
}
int own_or_common(const Node& node, int) { return node.num_states(); }

}  // namespace

TreeSearch::TreeSearch(const FactorGraph& graph, const std::shared_ptr<const SearchSpace>& space,
                       const SearchOptions& options, std::shared_ptr<const ValueFunction> prior)
    : space_(*space),
      options_(options),
      prior_(std::move(prior)),
      store_(std::make_shared<NodeStore>(space, !prior_->is_uniform())),
      reward_(graph, *space),
      budget_(options.budget, options.budget_unit),
      selection_(*store_, options),
      check_interval_(graph.has_only_tables() ? 256 : 1),
      x_(graph.num_variables(), -1),
      path_(*store_) {
  for (int n = 0; n < space_.num_levels(); ++n) {
    const std::vector<int>& children = space_.levels[n].children;
    LevelFacts facts{children.data(),
                     static_cast<int>(children.size()),
                     space_.levels[n].variable,
                     has_shared_children(space_, n),
                     store_->blank(n).has_stamps(),
                     0};
    for (const int child : children) {
      const std::vector<int>& context = space_.levels[child].context;
      if (space_.levels[child].is_shared && (context.empty() || context.back() != n)) facts.lag = 1;
    }
    facts_.push_back(facts);
    common_num_states_ = n == 0 || common_num_states_ == space_.levels[n].num_states ? space_.levels[n].num_states : 0;
    fewest_factors_ = std::min(fewest_factors_, reward_.num_factors(n));
    if (!store_->has_prior()) initialise(n, store_->blank(n));  // all new nodes of a level are alike
  }
}

// Alg. 2, TreeSample. Pre: an empty store. Post: the budget is not exceeded; the store is settled.
SearchReport TreeSearch::tree_sample(const SearchObserver& observer) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  SearchReport report;
  report.stop = space_.log_constant == kNegInf ? StopReason::kExact : StopReason::kInterrupted;
  while (report.stop != StopReason::kExact) {
    const Outcome outcome = tree_traversal();
    if (outcome == Outcome::kFailed) {
      const std::optional<Error>& failure = reward_.failure();
      if (!failure || failure->code() == ErrorCode::kInterrupted) break;
      report.stop = StopReason::kFactorFailed;
      report.error = failure;
      break;
    }
    if (outcome != Outcome::kProgress) {
      report.stop = outcome == Outcome::kSolved ? StopReason::kExact : StopReason::kBudget;
      break;
    }
    ++report.num_traversals;
    if (store_->held_bytes() > options_.memory_limit_bytes) {
      report.stop = StopReason::kMemory;
      break;
    }
    if (report.num_traversals % check_interval_ != 0) continue;
    fetches_ahead_ = store_->held_bytes() > kCacheBytes;
    if (seconds() > options_.time_limit_seconds) {
      report.stop = StopReason::kTime;
      break;
    }
    if (observer && report.num_traversals % (std::int64_t{16} * check_interval_) == 0 &&
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
// (kSolved) nothing is left to do, or (kBudgetSpent, kFailed) no value has changed.
TreeSearch::Outcome TreeSearch::tree_traversal() {
  if (!budget_.allows(fewest_factors_)) return is_solved() ? Outcome::kSolved : Outcome::kBudgetSpent;
  path_.clear();
  std::span<const int> components = space_.roots;
  NodeIndex* links = store_->root_links().data();
  while (true) {
    const int component = components.size() == 1 ? 0 : selection_.choose_component(components, links);
    if (component < 0) break;
    const int level = components[component];
    const Node node = visit(level, links[component]);
    if (node.is_complete()) break;
    const int action = static_cast<int>(node.choice());
    x_[facts_[level].variable] = action;
    path_.add({node, level, action});
    if (fetches_ahead_ && node.has_hints()) fetch_ahead(facts_[level], node.hint(action));
    if (!node.is_expanded(action)) {
      if (!budget_.allows(reward_.price(level))) return Outcome::kBudgetSpent;
      if (!expand(path_.steps().back())) return Outcome::kFailed;
      break;
    }
    components = facts_[level].children_span();
    links = node.links(action);
  }
  if (path_.length() == 0) return Outcome::kSolved;  // not even a root is left
  with_num_states(common_num_states_, [this](auto num_states) { backup(num_states); });
  return Outcome::kProgress;
}

// The node behind a link, created if need be, with its choice of action up to date. Inline, as expand is: called once
// per level.
inline Node TreeSearch::visit(int level, NodeIndex& link) {
  if (link == kNoNode) link = create_node(level);
  const Node node = store_->node(level, link);
  if (facts_[level].has_shared_children && refresh_stale_edges(*store_, level, node)) {
    node.changed_at() = now_;
    node.refreshed_at() = now_ - facts_[level].lag;
    if (!node.is_complete()) selection_.choose(level, node);
  }
  return node;
}

// Alg. 2, Expand: pays for R_n of the path's last edge and gives the edge its children. A child level
// that several edges can reach is looked up by its context. False when there is no value.
inline bool TreeSearch::expand(const Step& step) {
  const Level& level = space_.levels[step.level];
  const std::optional<double> value = reward_.try_evaluate(step.level, x_, budget_);
  if (!value) return false;
  const double reward = *value;
  step.node.set_expanded(step.action);
  step.node.factors()[step.action] = factor_of_reward(reward);
  if (reward == kNegInf) return true;  // impossible: complete at once, no children
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
  return true;
}

// A node whose values are the prior's.
NodeIndex TreeSearch::create_node(int level) {
  const NodeIndex index = store_->create(level);
  if (store_->has_prior()) {
    initialise(level, store_->node(level, index));
  } else if (options_.ties == TieRule::kRandom) {
    selection_.choose(level, store_->node(level, index));  // all edges tie
  }
  return index;
}

void TreeSearch::initialise(int level, const Node& node) {
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
  selection_.choose(level, node);
}

// Alg. 2, backup: V = log sum exp Q, Q = R + V, complete flags and visits, from the last edge of the
// path to the root. All exponentials of the path are known beforehand, and the chain from level to
// level is one product and one sum.
template <class NumStates>
void TreeSearch::backup(NumStates common_num_states) {
  const std::span<const Step> path = path_.steps();
  const double* const multipliers = path_.multiply_out();
  const LevelFacts* const all_facts = facts_.data();  // copies, or they are loaded again after each call
  const std::uint32_t now = now_;
  double child_sum = 1.0;
  bool is_child_complete = true;  // below the last edge: to be seen
  for (std::size_t i = path.size(); i-- > 0;) {
    const auto& [node, level, action] = path[i];
    const LevelFacts& facts = all_facts[level];
    const auto num_states = own_or_common(node, common_num_states);
    double* const weights = node.weights();
    weights[action] = 0.0;  // the sum of the others first: it waits for nothing
    double others = weights[0];
    for (int a = 1; a < num_states; ++a) others += weights[a];
    const double weight = multipliers[i] * child_sum;
    weights[action] = weight;
    child_sum = others + weight;
    node.add_visit(action);
    if (is_child_complete && is_complete(*store_, facts.children_span(), node.links(action))) {
      node.set_complete(action);
    }
    if (is_out_of_range(child_sum)) child_sum = repair(i);
    is_child_complete = node.is_complete();
    if (facts.has_stamps) {
      node.changed_at() = now;
      node.refreshed_at() = now - facts.lag;
    }
    selection_.set_node(i, path[i], num_states);
  }
  // The next choice of each node is known now, unless a shared node below changes first.
  selection_.choose_all(path);
  if (fetches_ahead_) path_.leave_hints();
  if (store_->has_prior()) {
    for (const Step& step : path) x_[all_facts[step.level].variable] = -1;
  }
  if (now_ < UINT32_MAX && ++now_ == UINT32_MAX) {
    for (LevelFacts& facts : facts_) facts.lag = 1;  // no time left: refresh always, slow but right
  }
}

// Backs up edge i where its multiplier is NaN or the node's sum leaves its range, and returns that sum.
// A function of its own keeps the chain of backup in a register.
double TreeSearch::repair(std::size_t i) {
  const auto& [node, level, action] = path_.steps()[i];
  refresh_edge(*store_, level, node, action);
  if (is_out_of_range(node.sum())) {
    rebase(*store_, level, node);
    if (i > 0) path_.invalidate_multiplier(i - 1);  // it was made with the old scale
  }
  return node.sum();
}

SearchResult tree_sample(const FactorGraph& graph, const SearchSpace& space, const SearchOptions& options,
                         std::shared_ptr<const ValueFunction> prior, const SearchObserver& observer) {
  options.validate();
  if (!prior) prior = std::make_shared<UniformValue>(space);
  TreeSearch search(graph, std::make_shared<const SearchSpace>(space), options, prior);
  const SearchReport report = search.tree_sample(observer);
  return {SearchApproximation(search.store(), std::move(prior)), report};
}

}  // namespace treesample
