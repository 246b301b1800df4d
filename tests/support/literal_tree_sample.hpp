// Algorithms 1 and 2 of the paper transcribed line by line: a map from prefixes to nodes, a vector per
// quantity, logarithms everywhere. Slow and obvious; the engine must grow the same tree.
// Two differences from the text, shared with the engine (docs/departures.md, 1 and 3): the loop ends when the next
// reward cannot be paid for or the root is complete, and a node with R = -inf is complete.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "search/q_uct.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample::testing {

struct LiteralNode {
  double reward = 0.0;  // R_n(x)
  std::vector<std::uint32_t> eta;
  std::vector<double> q, q_phi;
  std::vector<bool> complete;
};

// The map of a straightforward transcription, and a quicker one.
using LiteralTree = std::map<std::vector<int>, LiteralNode>;
struct PrefixHash {
  std::size_t operator()(const std::vector<int>& prefix) const {
    std::size_t hash = 0xcbf29ce484222325ULL;
    for (const int state : prefix) hash = (hash ^ static_cast<std::size_t>(state + 1)) * 0x100000001b3ULL;
    return hash;
  }
};
using HashedLiteralTree = std::unordered_map<std::vector<int>, LiteralNode, PrefixHash>;

template <class Tree = LiteralTree>
class LiteralTreeSample {
 public:
  LiteralTreeSample(const FactorGraph& graph, const std::vector<int>& order, double c, double epsilon)
      : graph_(graph), order_(order), c_(c), epsilon_(epsilon), factors_of_(order.size() + 1) {
    std::vector<int> level_of(order.size());
    for (std::size_t n = 0; n < order.size(); ++n) level_of[order[n]] = static_cast<int>(n);
    for (int m = 0; m < graph.num_factors(); ++m) {
      int n = 0;  // M_n = factors whose last variable is the n-th, counted from 1
      for (const int v : graph.factor(m).scope()) n = std::max(n, level_of[v] + 1);
      factors_of_[n].push_back(m);
    }
    for (const int v : order) log_states_.push_back(std::log(graph.num_states(v)));
  }

  // TreeSample(B) with one unit per reward evaluation.
  void tree_sample(std::int64_t budget) {
    tree_traversal();  // x = empty prefix: costs nothing
    while (used_ < budget && !is_complete(tree_.at({}))) tree_traversal();
  }

  [[nodiscard]] const Tree& tree() const { return tree_; }
  [[nodiscard]] double log_z() const { return tree_.at({}).reward + log_sum_exp(tree_.at({}).q); }
  [[nodiscard]] std::int64_t used() const { return used_; }

 private:
  void tree_traversal() {
    std::vector<int> x;
    for (auto node = tree_.find(x); node != tree_.end(); node = tree_.find(x)) x.push_back(q_uct_action(node->second));
    expand(x);
    for (std::size_t n = x.size(); n > 0; --n) {  // n = 0 is the virtual edge above the root
      const LiteralNode& child = tree_.at({x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n)});
      LiteralNode& parent = tree_.at({x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n) - 1});
      const int a = x[n - 1];
      parent.q[a] = child.reward + log_sum_exp(child.q);
      parent.complete[a] = is_complete(child);
      ++parent.eta[a];
    }
  }

  static bool is_complete(const LiteralNode& node) {
    return std::all_of(node.complete.begin(), node.complete.end(), [](bool c) { return c; });
  }

  [[nodiscard]] int q_uct_action(const LiteralNode& node) const {
    double visits = 1.0;
    for (const std::uint32_t eta : node.eta) visits += eta;
    std::vector<double> score(node.q.size(), kNegInf);
    double best = kNegInf;
    for (std::size_t a = 0; a < node.q.size(); ++a) {
      if (node.complete[a]) continue;
      score[a] =
          q_uct(node.q[a], c_ * std::max(node.q_phi[a], epsilon_) * std::sqrt(visits), 1.0 / (1.0 + node.eta[a]));
      best = std::max(best, score[a]);
    }
    std::size_t a = 0;
    while (node.complete[a] || score[a] < best - tie_tolerance(best)) ++a;
    return static_cast<int>(a);
  }

  void expand(const std::vector<int>& prefix) {
    const std::size_t n = prefix.size();
    LiteralNode node;
    Assignment x(order_.size(), 0);
    for (std::size_t i = 0; i < n; ++i) x[order_[i]] = prefix[i];
    for (const int m : factors_of_[n]) node.reward += graph_.log_value(m, x);
    if (n > 0) ++used_;
    const bool is_leaf = n == order_.size();
    const std::size_t k = is_leaf ? 1 : graph_.num_states(order_[n]);
    double log_states_below = 0.0;
    for (std::size_t i = n + 1; i < order_.size(); ++i) log_states_below += log_states_[i];
    node.eta.assign(k, 0);
    node.q_phi.assign(k, is_leaf ? -std::log(static_cast<double>(k)) : log_states_below);
    node.q = node.q_phi;
    node.complete.assign(k, is_leaf || node.reward == kNegInf);
    tree_[prefix] = std::move(node);
  }

  const FactorGraph& graph_;
  std::vector<int> order_;
  double c_, epsilon_;
  std::vector<std::vector<int>> factors_of_;
  std::vector<double> log_states_;
  std::int64_t used_ = 0;
  Tree tree_;
};

}  // namespace treesample::testing
