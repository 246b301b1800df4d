// Algorithm 2 of the paper, top to bottom: tree_sample, tree_traversal, q_uct, expand, backup. To read the algorithm
// alone, line by line, begin with examples/literal_tree_sample.hpp.
//
//   x         the prefix x_<n that a node stands for               a     an action: the state of the next variable
//   Q(a)      a node's estimate of R + V(x o a)                    V     log sum over a of exp Q(a)         (eq. 6)
//   eta       visits                                               Q_phi the value of Q before anything is evaluated
//
// Values are kept as exp Q in units of a power of two (tree/tree_number.hpp), so that a backup is one product and one
// sum per level. What surrounds the algorithm is elsewhere: tree_search.hpp has its state, tree_search.cpp the call,
// its checks and its report.
#include "tree/tree_search.hpp"

#include "tree/values.hpp"

namespace treesample {

// Alg. 2, TreeSample: traversals until the budget is spent or the root is complete. Time, memory or the observer may
// also end the search. Pre: an empty store, or known paths. Post: the budget is not exceeded.
template <class NodeView>
StopReason TreeSearch<NodeView>::tree_sample() {
  while (!is_solved(store_)) {
    if (!rewards_.can_pay()) return StopReason::kBudget;
    if (!tree_traversal()) return rewards_.why_not();
    if (watch_.is_over()) return watch_.reason();
  }
  return StopReason::kExact;
}

// Alg. 2, TreeTraversal: x <- empty; while x is in the tree, a <- Q-UCT and x <- x o a; Expand(x); backup. Pre: the
// root is not complete. Post: one more edge is evaluated and all values are up to date. Returns false if there is no
// reward; no value has then changed.
template <class NodeView>
bool TreeSearch<NodeView>::tree_traversal() {
  path_.begin();
  NodeIndex* next = &store_.root();
  for (int level = 0;; ++level) {
    const NodeView node = visit(level, *next);
    const int a = q_uct(node);
    path_.follow(node, a);
    if (!node.is_expanded(a)) break;
    next = &node.link(a);
  }
  if (!expand(path_.last())) return false;
  backup(path_.end());
  watch_.note(path_.steps());
  return true;
}

// Alg. 2, Q-UCT (eq. 7): the incomplete edge with the largest
//
//   Q(a) + c max(Q_phi(a), epsilon) sqrt(eta(x)) / (1 + eta(x o a)).
//
// That edge changes only when a traversal passes through the node. So it is computed at the end of each traversal, for
// all nodes of the path at once (choices.hpp), and stored with the node.
template <class NodeView>
int TreeSearch<NodeView>::q_uct(const NodeView& node) const {
  return static_cast<int>(node.choice());
}

// Alg. 2, Expand: evaluates R_n of the path's last edge, charges it to the budget, then adds the child. Returns false
// if there is no reward.
template <class NodeView>
bool TreeSearch<NodeView>::expand(Step<NodeView>& edge) {
  if (!rewards_.pay(edge, path_.x())) return false;
  add_child(edge);
  return true;
}

// The child begins with eta <- 0, C <- 0 and Q <- Q_phi. If Q_phi is the paper's constant, the child is stored only
// when it is visited. Q_phi(a) - R is the value that the edge promised; some leaf values use it.
template <class NodeView>
void TreeSearch<NodeView>::add_child(const Step<NodeView>& edge) {
  edge.node.set_expanded(edge.action);
  if (!store_.has_q_phi() || !has_child(edge)) return;
  const double expected = edge.node.any().q_phi()[edge.action] - reward_of_factor(edge.factor);
  edge.node.link(edge.action) = new_nodes_.create(edge.level + 1, path_.x(), expected);
}

// Alg. 2, backup, from the last edge of the path to the root: Q(a) <- R + V(x o a) with V = log sum exp Q (eq. 6), eta
// <- eta + 1, and C: an edge is complete when R = -inf or when everything below it is complete. At the end q_uct's
// choices for the next traversal are computed from what the loop has noted.
template <class NodeView>
void TreeSearch<NodeView>::backup(std::span<const Step<NodeView>> path) {
  Choices& choices = choices_;  // stays in a register
  const Step<NodeView>& last = path.back();
  TreeNumber below = value_of(store_, last.level + 1, last.node.link(last.action));  // exp V(x o a)
  bool is_complete = !has_child(last);
  for (std::size_t i = path.size(); i-- > 0;) {
    const NodeView& node = path[i].node;
    const int a = path[i].action;
    choices.set_node(i, path[i]);
    const double others = sum_of_others(node, a);
    const double weight = scale_by_units(path[i].factor, below.exponent, node.unit()) * below.mantissa;  // exp Q(a)
    node.stored_weights()[a] = weight;
    below.mantissa = others + weight;
    node.add_visit(a);
    if (is_complete) node.set_complete(a);
    choices.set_edge(i, path[i], weight);
    if (!(weight >= kLeastWeight) || is_out_of_range(below.mantissa)) [[unlikely]]
      below.mantissa = repair(i, path[i]);
    below.exponent = node.unit();
    is_complete = node.is_complete();
  }
  choices.choose_all(path);
  if (store_.has_q_phi()) path_.forget();
}

// The same backup of one edge by logarithms, for the case that exp V(x) leaves its range or exp Q(a) loses bits.
// Returns exp V(x). A node changes its unit if Q_phi is far from V, and again whenever the values below it rise or fall
// far enough. All its edges then take their values from their children again, so that nothing in the old unit is left.
template <class NodeView>
double TreeSearch<NodeView>::repair(std::size_t i, const Step<NodeView>& edge) {
  const Node node = edge.node.any();
  const std::int32_t unit = node.unit();
  set_edge_value(store_, edge.level, node, edge.action, edge.factor);
  if (is_out_of_range(node.sum())) rebase(node);
  for (int a = 0; a < node.num_states() && node.unit() != unit; ++a) {
    if (!node.is_expanded(a)) continue;
    set_edge_value(store_, edge.level, node, a, path_.factor(edge.level, edge.node, a));
  }
  choices_.set_repaired_edge(i, {node, edge.level, edge.action, edge.factor});
  return node.sum();
}

// The types of nodes that with_num_states (node.hpp) chooses among.
template class TreeSearch<SizedNode<0>>;
template class TreeSearch<SizedNode<2>>;
template class TreeSearch<SizedNode<3>>;
template class TreeSearch<SizedNode<4>>;
template class TreeSearch<SizedNode<5>>;

}  // namespace treesample
