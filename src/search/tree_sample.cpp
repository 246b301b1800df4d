// Algorithm 2 of the paper, top to bottom: tree_sample, tree_traversal, expand, backup. Its Q-UCT, for all nodes of a
// path at once, is in selection.cpp.
#include "treesample/search/tree_sample.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "search/search_rounding.hpp"
#include "search/tree_search.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr std::size_t kCacheBytes = std::size_t{8} << 20;  // while the nodes take less, nothing is fetched ahead
constexpr int kLevelOfHints = 18;  // where a traversal, as it begins to wait for memory, leaves the last one's hints

}  // namespace

// Alg. 2, TreeSample. Pre: an empty store. Post: the budget is not exceeded; the store is settled.
SearchReport TreeSearch::tree_sample() {
  const int observer_interval = options_.observer_interval > 0 ? options_.observer_interval : 16 * check_interval_;
  const int check_interval = std::gcd(check_interval_, observer_interval);
  SearchReport report;
  report.stop = space_.log_constant == kNegInf ? StopReason::kExact : StopReason::kInterrupted;
  while (report.stop != StopReason::kExact) {
    const Outcome outcome = (this->*tree_traversal_)();
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
    if (store_->held_bytes() > limits_.bytes) {
      report.stop = StopReason::kMemory;
      break;
    }
    if (report.num_traversals % check_interval != 0) continue;
    fetches_ahead_ = store_->held_bytes() > kCacheBytes;
    if (watch_.is_told() && report.num_traversals % observer_interval == 0) {
      watch_.tell({.phase = "search",
                   .spent = budget_.spent(),
                   .estimate = root_log_value(*store_),
                   .num_nodes = store_->num_nodes()});
    }
    if (const auto reason = watch_.reason_to_stop()) {
      report.stop = *reason;
      break;
    }
  }
  settle(*store_);
  const double log_z = root_log_value(*store_);
  check_log_size(log_z);
  report.estimate = log_z;
  if (report.stop == StopReason::kExact) {
    report.log_z = LogBounds::around(log_z, search_rounding(graph_, space_, function_magnitudes_, log_z));
    if (!report.log_z.is_exact()) report.stop = StopReason::kRounding;
  }
  report.spent = budget_.spent();
  report.num_nodes = store_->num_nodes();
  report.used_bytes = store_->used_bytes();
  report.seconds = watch_.seconds();
  return report;
}

// Alg. 2, TreeTraversal. Pre: values of the nodes that only one edge leads to are up to date.
// Post: one more edge is evaluated, or a node completed elsewhere is known to the edge above it, or
// (kSolved) nothing is left to do, or (kBudgetSpent, kFailed) no value has changed.
template <class Shape>
TreeSearch::Outcome TreeSearch::tree_traversal() {
  if (!budget_.allows(fewest_factors_)) return is_solved() ? Outcome::kSolved : Outcome::kBudgetSpent;
  if (store_->make_room()) path_.set_length(0);  // no hints: the views are of nodes that moved
  std::swap(path_, last_path_);
  const LevelFacts* const all_facts = facts_.data();
  Step* const path = path_.first();
  int length = 0;
  std::span<const int> components = space_.roots;
  NodeIndex* links = store_->root_links().data();
  while (true) {
    if (components.empty()) break;  // below the last level
    const bool is_only_one = Shape::kIsOneArray || components.size() == 1;
    const int component = is_only_one ? 0 : selection_.choose_component(components, links);
    if (component < 0) break;
    const int level = components[component];
    const auto node = visit(level, links[component]).template as<Shape>();
    if (node.is_complete()) break;
    const int action = static_cast<int>(node.choice());
    const LevelFacts& facts = all_facts[level];
    Step& step = path[length++];
    step = {node.template as<AnyShape>(), level, action,
            facts.rewards.factors != nullptr ? facts.rewards.at(action, x_.data()) : node.factors()[action]};
    x_[facts.variable] = action;
    if (Shape::kHasHints && fetches_ahead_) {
      fetch_ahead(level + NodeHints::kFarthest, node.hints(action).farthest());
      if (length == kLevelOfHints) last_path_.leave_hints<Shape>();
    }
    if (!node.is_expanded(action)) {
      if (!budget_.allows(reward_.price(level))) return Outcome::kBudgetSpent;
      if (!expand(step)) return Outcome::kFailed;
      break;
    }
    components = facts.children_span();
    links = node.links(action);
  }
  if (length == 0) return Outcome::kSolved;  // not even a root is left
  if (Shape::kHasHints && fetches_ahead_ && length < kLevelOfHints) last_path_.leave_hints<Shape>();
  path_.set_length(length);
  backup<Shape>();
  return Outcome::kProgress;
}

// The node behind a link, created if need be, with its choice of action up to date. Inline, as expand is: called once
// per level.
inline Node TreeSearch::visit(int level, NodeIndex& link) {
  if (link == kNoNode) link = create_node(level);
  const Node node = store_->node(level, link);
  if (facts_[level].has_shared_children) refresh(level, node);
  return node;
}

void TreeSearch::refresh(int level, Node node) {
  if (!refresh_stale_edges(*store_, level, node)) return;
  node.changed_at() = now_;
  node.refreshed_at() = now_ - facts_[level].lag;
  if (!node.is_complete()) selection_.choose(level, node);
}

// Alg. 2, Expand: pays for R_n of the path's last edge and gives the edge its children. A child level
// that several edges can reach is looked up by its context. False when there is no value.
inline bool TreeSearch::expand(Step& step) {
  const Level& level = space_.levels[step.level];
  // Where R = -inf, only the factors up to the first -inf are paid for, and a table does not know how many.
  if (facts_[step.level].rewards.factors != nullptr && step.factor != 0.0) {
    budget_.spend(reward_.num_factors(step.level));
  } else {
    const std::optional<double> reward = reward_.try_evaluate(step.level, x_, budget_);
    if (!reward) return false;
    double& magnitude = function_magnitudes_[step.level];
    magnitude = std::max(magnitude, reward_.magnitude());
    step.factor = factor_of_reward(*reward);
    if (step.node.has_factors()) step.node.factors()[step.action] = step.factor;
  }
  step.node.set_expanded(step.action);
  if (step.factor == 0.0) return true;  // impossible: complete at once, no children
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

// Alg. 2, backup: V = log sum exp Q, Q = R + V, complete flags and visits, from the last edge of the
// path to the root. exp(R) of all its edges is known, so that the chain from level to level is one product and one sum.
template <class Shape>
void TreeSearch::backup() {
  const std::span<const Step> path = path_.steps();
  const LevelFacts* const all_facts = facts_.data();  // copies, or they are loaded again after each call
  const std::uint32_t now = now_;
  ScaledValue below = scaled_value_below(*store_, all_facts[path.back().level].children_span(),
                                         path.back().node.links(path.back().action));
  bool is_child_complete = true;  // below the last edge: to be seen
  for (std::size_t i = path.size(); i-- > 0;) {
    const auto node = path[i].node.as<Shape>();
    const int action = path[i].action;
    const LevelFacts& facts = all_facts[path[i].level];
    selection_.set_node<Shape>(i, path[i]);
    if (!Shape::kIsOneArray && facts.num_children > 1 && i + 1 < path.size()) {
      below *= scaled_value_below(*store_, facts.children_span(), node.links(action), path[i + 1].level);
    }
    const double others = sum_of_others(node, action);
    const double weight = scale_by_units(path[i].factor, below.unit - node.unit()) * below.sum;
    node.stored_weights()[action] = weight;
    below.sum = others + weight;
    node.add_visit(action);
    if (is_child_complete && is_complete(*store_, facts.children_span(), node.links(action))) {
      node.set_complete(action);
    }
    selection_.set_edge<Shape>(i, path[i], weight, node.edges()[action]);
    if (!(weight >= kLeastWeight) || is_out_of_range(below.sum)) [[unlikely]]
      below.sum = repair(i);
    below.unit = node.unit();
    is_child_complete = node.is_complete();
    if (facts.has_stamps) {
      node.changed_at() = now;
      node.refreshed_at() = now - facts.lag;
    }
  }
  // The next choice of each node is known now, unless a shared node below changes first.
  selection_.choose_all<Shape>(path);
  if (store_->has_prior()) {
    for (const Step& step : path) x_[all_facts[step.level].variable] = -1;
  }
  if (now_ < UINT32_MAX && ++now_ == UINT32_MAX) {
    for (LevelFacts& facts : facts_) facts.lag = 1;  // no time left: refresh always, slow but right
  }
}

// Backs up edge i from its children's values where the node's sum leaves its range or the weight loses bits, and
// returns the sum. A function of its own keeps the chain of backup in a register.
double TreeSearch::repair(std::size_t i) {
  const auto& [node, level, action, factor] = path_.steps()[i];
  refresh_edge(*store_, level, node, action, factor);
  if (is_out_of_range(node.sum())) rebase(node);
  selection_.set_refreshed_edge(i, path_.steps()[i]);
  return node.sum();
}

// Chooses the traversal that is compiled for the shape of all nodes.
void TreeSearch::specialise() {
  with_num_states(store_->common_num_states(), [this](auto known) {
    constexpr int kStates = decltype(known)::value;
    tree_traversal_ = store_->is_one_array() ? &TreeSearch::tree_traversal<NodeShape<kStates, true>>
                                             : &TreeSearch::tree_traversal<NodeShape<kStates, false>>;
  });
}

SearchResult tree_sample(const FactorGraph& graph, const SearchSpace& space, std::shared_ptr<const ValueFunction> prior,
                         const Limits& limits, const SearchOptions& options, const Observer& observer) {
  limits.validate();
  options.validate();
  check_space("tree_sample", graph, space);
  check_fits("tree_sample", prior.get(), space);
  if (!prior) prior = std::make_shared<UniformValue>(space);
  TreeSearch search(graph, std::make_shared<const SearchSpace>(space), prior, limits, options, observer);
  const SearchReport report = search.tree_sample();
  return {SearchApproximation(search.store(), std::move(prior)), report};
}

}  // namespace treesample
