// Algorithm 2 of the paper, TreeSample, and Algorithm 1, `sample`, transcribed line by line: a map from prefixes to
// nodes, a vector per quantity, logarithms everywhere. It is slow and obvious: read it first. The tree search
// (src/tree/tree_sample.cpp) is the same algorithm some hundred times as fast; tests/exact/literal_twin_test.cpp checks
// that both grow the same tree. Comments in quotes are the lines of Algorithm 2.
//
// Differences from the paper's text, shared with the tree search (numbers as in docs/departures.md):
//   1  the loop ends when the next reward cannot be paid for or the root is complete;
//   2  a reward costs one unit of the budget, not |M_n|;
//   3  a node with R = -inf is complete;
//   4  a leaf has one edge with Q = 0 instead of K edges with Q = -log K, so that V = 0 as in the text;
//   6  scores that are equal up to rounding tie.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <unordered_map>
#include <vector>

#include "treesample/math/log_domain.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample::literal {

// The node of a prefix x of length n; the vectors have an entry for each action a.
struct Node {
  double reward = 0.0;             // R_n(x)
  std::vector<std::uint32_t> eta;  // eta_{n+1}(a | x)
  std::vector<double> q, q_phi;    // Q_{n+1}(a | x), Q^phi_{n+1}(a | x)
  std::vector<bool> complete;      // C_{n+1}(a | x)
};

// The tree: a straightforward map, or a quicker one.
using Tree = std::map<std::vector<int>, Node>;
struct PrefixHash {
  std::size_t operator()(const std::vector<int>& prefix) const {
    std::size_t hash = 0xcbf29ce484222325ULL;
    for (const int state : prefix) hash = (hash ^ static_cast<std::size_t>(state + 1)) * 0x100000001b3ULL;
    return hash;
  }
};
using HashedTree = std::unordered_map<std::vector<int>, Node, PrefixHash>;

template <class Map = Tree>
class TreeSample {
 public:
  using Prefix = std::vector<int>;
  // q_phi returns Q^phi(a | x) for all a; break_tie chooses one of several equally good actions. The defaults are the
  // paper's (N - n) log K and the lowest action.
  struct Options {
    double c = 1.0, epsilon = 0.1;
    std::function<std::vector<double>(const Prefix& x)> q_phi = {};
    std::function<int(const Prefix& x, const std::vector<int>& best)> break_tie = {};
  };

  TreeSample(const FactorGraph& graph, const std::vector<int>& order, Options options)
      : graph_(graph), order_(order), options_(std::move(options)), factors_of_(order.size() + 1) {
    std::vector<int> level_of(order.size());
    for (std::size_t n = 0; n < order.size(); ++n) level_of[order[n]] = static_cast<int>(n);
    for (int m = 0; m < graph.num_factors(); ++m) {
      int n = 0;  // M_n = factors whose last variable is the n-th, counted from 1
      for (const int v : graph.factor(m).scope()) n = std::max(n, level_of[v] + 1);
      factors_of_[n].push_back(m);
    }
    for (const int v : order) log_states_.push_back(std::log(graph.num_states(v)));
  }

  // "procedure TreeSample(budget B)"
  void tree_sample(std::int64_t budget) {
    tree_traversal();  // adds the root, the empty prefix, which costs nothing
    // "while b > M do  tree, delta b <- TreeTraversal(tree);  b <- b - delta b"
    while (used_ < budget && !is_complete(tree_.at({}))) tree_traversal();
  }

  // Algorithm 1: a configuration, each state by the softmax of Q at the node, and of Q^phi where there is none.
  // `draw(p)` returns an index with these probabilities.
  template <class Draw>
  [[nodiscard]] Assignment sample(Draw draw) const {
    Prefix x;
    while (x.size() < order_.size()) {
      const auto node = tree_.find(x);
      std::vector<double> p = node != tree_.end() ? node->second.q : q_phi(x);
      const double log_sum = log_sum_exp(p);
      for (double& entry : p) entry = std::exp(entry - log_sum);
      x.push_back(draw(p));
    }
    Assignment states(order_.size());
    for (std::size_t n = 0; n < order_.size(); ++n) states[order_[n]] = x[n];
    return states;
  }

  [[nodiscard]] const Map& tree() const { return tree_; }
  [[nodiscard]] double log_z() const { return tree_.at({}).reward + log_sum_exp(tree_.at({}).q); }
  [[nodiscard]] std::int64_t used() const { return used_; }

 private:
  // "procedure TreeTraversal(tree)"
  void tree_traversal() {
    Prefix x;  // "x <- empty"
    // "while x in tree do  a <- Q-UCT(eta, Q, Q^phi, C);  x <- x o a"
    for (auto node = tree_.find(x); node != tree_.end(); node = tree_.find(x)) x.push_back(q_uct(x, node->second));
    expand(x);  // "tree <- tree + Expand(x)"
    // "for n = len(x), ..., 1, 0 do": n = 0 would be an edge above the root.
    for (std::size_t n = x.size(); n > 0; --n) {
      const Node& child = tree_.at({x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n)});  // x_<=n
      Node& parent = tree_.at({x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n) - 1});   // x_<n
      const int a = x[n - 1];                                                                 // x_n
      // "V(x_<=n) = log sum over a' of exp Q(a' | x_<=n);  Q(x_n | x_<n) <- R_n(x_n | x_<n) + V(x_<=n)", eq. 6
      parent.q[a] = child.reward + log_sum_exp(child.q);
      parent.complete[a] = is_complete(child);  // "C(x_n | x_<n) <- min over a' of C(a' | x_<=n)"
      ++parent.eta[a];                          // "eta(x_n | x_<n) <- eta(x_n | x_<n) + 1"
    }
  }

  // The minimum of C over all actions.
  static bool is_complete(const Node& node) {
    return std::all_of(node.complete.begin(), node.complete.end(), [](bool c) { return c; });
  }

  // "procedure Q-UCT": "argmax of eq. 7 over incomplete children"
  [[nodiscard]] int q_uct(const Prefix& x, const Node& node) const {
    double eta = 1.0;  // eta(x): the visit that made the node, and one per visit of an edge
    for (const std::uint32_t visits : node.eta) eta += visits;
    std::vector<double> score(node.q.size(), kNegInf);
    for (std::size_t a = 0; a < node.q.size(); ++a) {
      if (node.complete[a]) continue;
      score[a] =
          node.q[a] + options_.c * std::max(node.q_phi[a], options_.epsilon) * std::sqrt(eta) / (1.0 + node.eta[a]);
    }
    const double highest = *std::max_element(score.begin(), score.end());
    std::vector<int> best;
    for (std::size_t a = 0; a < score.size(); ++a) {
      const bool is_tie = score[a] >= highest - 1e-10 * (1.0 + std::abs(highest));  // -inf too
      if (!node.complete[a] && is_tie) best.push_back(static_cast<int>(a));
    }
    return options_.break_tie ? options_.break_tie(x, best) : best.front();
  }

  // Q^phi(a | x) for all a.
  [[nodiscard]] std::vector<double> q_phi(const Prefix& x) const {
    if (options_.q_phi) return options_.q_phi(x);
    double log_states_below = 0.0;
    for (std::size_t i = x.size() + 1; i < order_.size(); ++i) log_states_below += log_states_[i];
    return std::vector<double>(static_cast<std::size_t>(graph_.num_states(order_[x.size()])), log_states_below);
  }

  // "procedure Expand(state x)"
  void expand(const Prefix& prefix) {
    const std::size_t n = prefix.size();  // "n <- len(x)"
    Node node;
    // "evaluate reward function R_n(x_n | x_<n)"
    Assignment x(order_.size(), 0);
    for (std::size_t i = 0; i < n; ++i) x[order_[i]] = prefix[i];
    for (const int m : factors_of_[n]) node.reward += graph_.log_value(m, x);
    if (n > 0) ++used_;  // "used budget delta b"
    const bool is_leaf = n == order_.size();
    const std::size_t k = is_leaf ? 1 : graph_.num_states(order_[n]);
    node.eta.assign(k, 0);  // "initialize eta <- (0, ..., 0)"
    // "evaluate prior Q^phi;  initialize Q <- Q^phi"; at a leaf V = 0
    node.q_phi = is_leaf ? std::vector<double>(1, 0.0) : q_phi(prefix);
    node.q = node.q_phi;
    // "initialize C <- (1, ..., 1)" at a leaf, "(0, ..., 0)" elsewhere
    node.complete.assign(k, is_leaf || node.reward == kNegInf);
    tree_[prefix] = std::move(node);
  }

  const FactorGraph& graph_;
  std::vector<int> order_;
  Options options_;
  std::vector<std::vector<int>> factors_of_;
  std::vector<double> log_states_;
  std::int64_t used_ = 0;
  Map tree_;
};

}  // namespace treesample::literal
