// Algorithm 2 of the paper, top to bottom: tree_sample, tree_traversal, q_uct, expand, backup. To read the algorithm
// alone, line by line, begin with examples/literal_tree_sample.hpp.
//
//   x         the prefix x_<n that a node stands for               a     an action: the state of the next variable
//   Q(a)      a node's estimate of R + V(x o a)                    V     log sum over a of exp Q(a)         (eq. 6)
//   eta       visits                                               Q_phi the value of Q before anything is evaluated
//
// Values are kept as exp Q in units of a power of two (math/scaled_value.hpp), so that a backup is one product and one
// sum per level. What makes it fast is elsewhere: the layout of nodes in memory (node.hpp, tree_store.hpp), prefetching
// along a path (tree_path.hpp), Q-UCT for a whole path at once (choices.hpp).
#include "treesample/tree/tree_sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "space/run_watch.hpp"
#include "tree/choices.hpp"
#include "tree/tree_path.hpp"
#include "tree/tree_rounding.hpp"
#include "tree/values.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/space/reward.hpp"

namespace treesample {
namespace {

// The clock and the observer are consulted after about so many levels, because a traversal can be as long as the space
// is deep.
constexpr int kLevelsBetweenLooks = 1 << 18;

// How many rewards are tabulated in advance: few compared with the evaluations to come.
std::size_t num_table_entries(const Limits& limits) {
  return static_cast<std::size_t>(std::clamp<std::int64_t>(limits.budget / 8, 0, 1 << 16));
}

// What a search needs, whatever the type of its nodes.
struct Setup {
  Setup(const FactorGraph& model, const SearchSpace& of, const LeafValues& leaves, const Limits& at_most,
        const TreeSearchOptions& with)
      : graph(model),
        space(std::make_shared<const SearchSpace>(of)),
        q_phi(leaves.estimate ? leaves.estimate : std::make_shared<const UniformValue>(of)),
        limits(at_most),
        options(with),
        reward(model, *space),
        tables(model, *space, reward, num_table_entries(at_most)),
        store(std::make_shared<TreeStore>(space, !q_phi->counts_states(), tables.are_missing())) {}

  const FactorGraph& graph;
  std::shared_ptr<const SearchSpace> space;
  std::shared_ptr<const LeafValue> q_phi;
  Limits limits;
  TreeSearchOptions options;
  Reward reward;
  RewardTables tables;
  std::shared_ptr<TreeStore> store;
};

// NodeView is the type of a node; it may tell the compiler the number of states.
template <class NodeView>
class TreeSearch {
 public:
  TreeSearch(Setup& setup, const Observer& observer);
  TreeSearchReport tree_sample();

 private:
  enum class Outcome { kProgress, kBudgetSpent, kFailed };

  Outcome tree_traversal();
  int q_uct(const NodeView& node) const;
  bool expand(Step<NodeView>& step);
  void attach(Step<NodeView>& step);
  void backup();
  void insert(const KnownPath& known);
  bool insert_edge(const KnownPath& known);
  double repair(std::size_t i);
  NodeIndex create_node(int level, std::optional<double> expected = {});
  void initialise(int level, const Node& node, std::optional<double> expected = {});

  const FactorGraph& graph_;
  const SearchSpace& space_;
  const LeafValue& q_phi_;
  const Limits& limits_;
  const TreeSearchOptions& options_;
  RunWatch watch_;
  Reward& reward_;
  TreeStore& store_;
  Budget budget_;
  Choices choices_;
  TreePath<NodeView> path_;
  int fewest_factors_ = INT_MAX;             // of any reward
  std::vector<double> function_magnitudes_;  // by level: the largest Reward::magnitude()
};

template <class NodeView>
TreeSearch<NodeView>::TreeSearch(Setup& setup, const Observer& observer)
    : graph_(setup.graph),
      space_(*setup.space),
      q_phi_(*setup.q_phi),
      limits_(setup.limits),
      options_(setup.options),
      watch_(setup.limits, observer),
      reward_(setup.reward),
      store_(*setup.store),
      budget_(limits_.budget, limits_.unit, setup.graph.evaluation_queue()),
      choices_(store_, options_),
      path_(store_, setup.tables),
      function_magnitudes_(space_.levels.size(), 0.0) {
  for (int n = 0; n < space_.num_levels(); ++n) {
    fewest_factors_ = std::min(fewest_factors_, reward_.num_factors(n));
    if (!store_.has_prior()) initialise(n, store_.blank(n));  // all new nodes of a level are alike
  }
}

// Alg. 2, TreeSample: traversals until the budget is spent or the root is complete. The rest of the loop reports
// progress and ends at other limits. Pre: an empty store. Post: the budget is not exceeded.
template <class NodeView>
TreeSearchReport TreeSearch<NodeView>::tree_sample() {
  // Look after every traversal where factors are functions, which may take seconds.
  const int most = graph_.has_only_tables() ? std::clamp(kLevelsBetweenLooks / (space_.num_levels() + 1), 1, 256) : 1;
  const int observer_interval = options_.observer_interval > 0 ? options_.observer_interval : 16 * most;
  const int interval = std::gcd(most, observer_interval);
  TreeSearchReport report;
  report.stop = StopReason::kExact;
  if (options_.known) {
    for (const KnownPath& known : *options_.known) insert(known);
  }
  while (!is_solved(store_)) {
    const Outcome outcome = tree_traversal();
    if (outcome != Outcome::kProgress) {
      const std::optional<Error>& failure = reward_.failure();
      const bool is_failed = outcome == Outcome::kFailed && failure && failure->code() != ErrorCode::kInterrupted;
      report.stop = outcome == Outcome::kBudgetSpent ? StopReason::kBudget
                    : is_failed                      ? StopReason::kFactorFailed
                                                     : StopReason::kInterrupted;
      if (is_failed) report.error = failure;
      break;
    }
    ++report.num_traversals;
    if (store_.held_bytes() > limits_.bytes) {
      report.stop = StopReason::kMemory;
      break;
    }
    if (report.num_traversals % interval != 0) continue;
    path_.look_at_size();
    if (watch_.is_told() && report.num_traversals % observer_interval == 0) {
      watch_.tell({.phase = "tree search",
                   .spent = budget_.spent(),
                   .estimate = root_log_value(store_),
                   .num_nodes = store_.num_nodes()});
    }
    if (const auto reason = watch_.reason_to_stop()) {
      report.stop = *reason;
      break;
    }
  }
  report.estimate = root_log_value(store_);
  check_log_size(report.estimate);
  if (report.stop == StopReason::kExact) {
    const double error = tree_rounding(graph_, space_, function_magnitudes_, report.estimate);
    report.log_z = LogBounds::around(report.estimate, error);
    if (!report.log_z.is_exact()) report.stop = StopReason::kRounding;
  }
  report.spent = budget_.spent();
  report.num_nodes = store_.num_nodes();
  report.used_bytes = store_.used_bytes();
  report.seconds = watch_.seconds();
  return report;
}

// Alg. 2, TreeTraversal: x <- empty; while x is in the tree, a <- Q-UCT and x <- x o a; Expand(x); backup. Pre: the
// root is not complete. Post: one more edge is evaluated and all values are up to date, or (kBudgetSpent, kFailed) no
// value has changed.
template <class NodeView>
typename TreeSearch<NodeView>::Outcome TreeSearch<NodeView>::tree_traversal() {
  if (!budget_.allows(fewest_factors_)) return Outcome::kBudgetSpent;
  path_.begin();
  NodeIndex* link = &store_.root();
  for (int level = 0;; ++level) {
    if (*link == kNoNode) *link = create_node(level);
    const auto node = store_.node(level, *link).template as<NodeView>();
    const int a = q_uct(node);
    Step<NodeView>& step = path_.follow(node, a);
    if (!node.is_expanded(a)) {
      if (!budget_.allows(reward_.price(level))) return Outcome::kBudgetSpent;
      if (!expand(step)) return Outcome::kFailed;
      break;
    }
    link = &node.link(a);
  }
  path_.end();
  backup();
  return Outcome::kProgress;
}

// Alg. 2, Q-UCT (eq. 7): the incomplete edge with the largest
//
//   Q(a) + c max(Q_phi(a), epsilon) sqrt(eta(x)) / (1 + eta(x o a)).
//
// That edge changes only when a traversal passes through the node. So it is computed at the end of each traversal, for
// all nodes of the path at once (choices.hpp), and kept with the node.
template <class NodeView>
int TreeSearch<NodeView>::q_uct(const NodeView& node) const {
  return static_cast<int>(node.choice());
}

// Alg. 2, Expand: evaluates and pays for R_n of the path's last edge; the child begins with the values Q_phi. Where
// these are the paper's constants, the child is stored only when it is visited again. False when there is no reward.
template <class NodeView>
inline bool TreeSearch<NodeView>::expand(Step<NodeView>& step) {
  // Where R = -inf, only the factors up to the first -inf are paid for. The table of rewards does not say how many
  // these are, so the reward is then evaluated.
  if (path_.has_factors(step.level) && step.factor != 0.0) {
    budget_.spend(reward_.num_factors(step.level));
  } else {
    const std::optional<double> reward = reward_.try_evaluate(step.level, path_.x(), budget_);
    if (!reward) return false;
    double& magnitude = function_magnitudes_[step.level];
    magnitude = std::max(magnitude, reward_.magnitude());
    step.factor = factor_of_reward(*reward);
    if (step.node.has_factors()) step.node.factors()[step.action] = step.factor;
  }
  attach(step);
  return true;
}

// Alg. 2, Expand, second part: the child of an edge whose reward is known.
template <class NodeView>
inline void TreeSearch<NodeView>::attach(Step<NodeView>& step) {
  step.node.set_expanded(step.action);
  const bool has_child = step.factor != 0.0 && step.level + 1 < space_.num_levels();
  if (has_child && store_.has_prior()) {
    const double expected = step.node.any().priors()[step.action] - reward_of_factor(step.factor);
    step.node.link(step.action) = create_node(step.level + 1, expected);
  }
}

// Alg. 2, backup, from the last edge of the path to the root: Q(a) <- R + V(x o a) with V = log sum exp Q (eq. 6), eta
// <- eta + 1, and C: an edge is complete when R = -inf or when everything below it is complete.
template <class NodeView>
[[gnu::noinline]] void TreeSearch<NodeView>::backup() {
  const std::span<const Step<NodeView>> path = path_.steps();
  const Step<NodeView>& last = path.back();
  ScaledValue below = scaled_value(store_, last.level + 1, last.node.link(last.action));  // exp V(x o a)
  bool is_complete = last.factor == 0.0 || last.level + 1 == space_.num_levels();
  for (std::size_t i = path.size(); i-- > 0;) {
    const NodeView& node = path[i].node;
    const int a = path[i].action;
    choices_.set_node(i, path[i]);
    const double others = sum_of_others(node, a);
    const double weight = scale_by_units(path[i].factor, below.unit - node.unit()) * below.sum;  // exp Q(a)
    node.stored_weights()[a] = weight;
    below.sum = others + weight;
    node.add_visit(a);
    if (is_complete) node.set_complete(a);
    choices_.set_edge(i, path[i], weight);
    if (!(weight >= kLeastWeight) || is_out_of_range(below.sum)) [[unlikely]]
      below.sum = repair(i);
    below.unit = node.unit();
    is_complete = node.is_complete();
  }
  choices_.choose_all(path);
  if (store_.has_prior()) path_.forget();
}

// The same backup by logarithms, where exp V(x) leaves its range or exp Q(a) loses bits; returns exp V(x). It is a
// function of its own so that the loop of backup stays in registers.
template <class NodeView>
double TreeSearch<NodeView>::repair(std::size_t i) {
  const auto& [view, level, action, factor] = path_.steps()[i];
  const Node node = view.any();
  set_edge_value(store_, level, node, action, factor);
  if (is_out_of_range(node.sum())) rebase(node);
  choices_.set_repaired_edge(i, {node, level, action, factor});
  return node.sum();
}

// Alg. 2, Expand: a new node with Q <- Q_phi, eta <- 0 and C <- 0. `expected` is the value that the edge to it
// promised, Q_phi - R, for leaf values that use it.
template <class NodeView>
NodeIndex TreeSearch<NodeView>::create_node(int level, std::optional<double> expected) {
  const NodeIndex index = store_.create(level);
  if (store_.has_prior()) {
    initialise(level, store_.node(level, index), expected);
  } else if (options_.ties == TieRule::kRandom) {
    choices_.choose(level, store_.node(level, index));  // all edges tie
  }
  return index;
}

template <class NodeView>
void TreeSearch<NodeView>::initialise(int level, const Node& node, std::optional<double> expected) {
  std::vector<double> q(static_cast<std::size_t>(node.num_states()), space_.levels[level].log_states_below);
  if (store_.has_prior()) {
    if (expected) {
      q_phi_.q_values_given(level, path_.x(), *expected, q);
    } else {
      q_phi_.q_values(level, path_.x(), 1, q);
    }
    for (const double value : q) {
      if (!is_log_value(value)) {
        throw Error(ErrorCode::kNumeric,
                    fmt::format("the leaf value returned {} for variable {}", value, space_.levels[level].variable));
      }
    }
    std::copy(q.begin(), q.end(), node.priors());
  }
  set_q(node, q);
  choices_.choose(level, node);
}

// ---- Beyond Algorithm 2: paths that are known before the search begins ---------------------------------------------

// One traversal for each edge of the configuration that is not in the tree yet.
template <class NodeView>
void TreeSearch<NodeView>::insert(const KnownPath& known) {
  while (!is_solved(store_) && insert_edge(known)) {
  }
}

// As tree_traversal, along given edges with given rewards. False when all of them are in the tree.
template <class NodeView>
bool TreeSearch<NodeView>::insert_edge(const KnownPath& known) {
  path_.begin();
  NodeIndex* link = &store_.root();
  for (std::size_t level = 0; level < known.steps.size(); ++level) {
    if (*link == kNoNode) *link = create_node(static_cast<int>(level));
    const auto node = store_.node(static_cast<int>(level), *link).template as<NodeView>();
    const int a = known.x[static_cast<std::size_t>(space_.levels[level].variable)];
    if (node.is_complete(a)) break;
    Step<NodeView>& step = path_.follow(node, a);
    if (!node.is_expanded(a)) {
      double& magnitude = function_magnitudes_[level];
      magnitude = std::max(magnitude, known.steps[level].magnitude);
      step.factor = factor_of_reward(known.steps[level].reward);
      if (node.has_factors()) node.factors()[a] = step.factor;
      attach(step);
      path_.end();
      backup();
      return true;
    }
    link = &node.link(a);
  }
  path_.forget();
  return false;
}

}  // namespace

void TreeSearchOptions::validate() const {
  check_range("TreeSearchOptions", "observer_interval", observer_interval, 0, 1 << 30);
  check_at_least("TreeSearchOptions", "c", c, 0.0);
  check_at_least("TreeSearchOptions", "epsilon", epsilon, 0.0);
}

TreeSearchResult tree_sample(const FactorGraph& graph, const SearchSpace& space, const LeafValues& leaves,
                             const Limits& limits, const TreeSearchOptions& options, const Observer& observer) {
  limits.validate();
  options.validate();
  check_space("tree_sample", graph, space);
  check_argument(space.kind == SpaceKind::kTree, "tree_sample",
                 "the space is not `tree`: in `graph` and `andor` the search has the paper's rule (q_uct_search)");
  leaves.check_fit("tree_sample", space);
  if (options.known) check_known_paths("tree_sample", space, *options.known);
  Setup setup(graph, space, leaves, limits, options);
  const TreeSearchReport report = with_num_states(setup.store->common_num_states(), [&](auto known) {
    return TreeSearch<BasicNode<NodeShape<decltype(known)::value>>>(setup, observer).tree_sample();
  });
  return {TreeApproximation(setup.store, setup.q_phi), report};
}

}  // namespace treesample
