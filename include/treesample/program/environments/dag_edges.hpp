// Directed acyclic graphs, edge by edge, as GFlowNets build the structure of a Bayesian network (Deleu et al. 2022).
//
//   R(G) = exp(sum over nodes v of score[v][parents of v])
//
// `scores[v][mask]` is the log score of node v with the parents in the mask, such as BGe or BDeu. Any edge that closes
// no cycle may be added, in any order (action from * n + to), and one may stop at any graph (action n * n).
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "treesample/error.hpp"

namespace treesample {

class DagEdges {
 public:
  using State = std::uint64_t;  // bit from * n + to for each edge, and bit 63 where one has stopped
  static constexpr int kMostNodes = 7;

  // `labels` are the nodes as JSON, for texts; none: their numbers.
  explicit DagEdges(std::vector<std::vector<double>> scores, std::vector<std::string> labels = {})
      : n_(static_cast<int>(scores.size())), scores_(std::move(scores)), labels_(std::move(labels)) {
    check_range("DagEdges", "number of nodes", n_, 1, kMostNodes);
    for (int v = 0; labels_.size() < scores_.size(); ++v) labels_.push_back(std::to_string(v));
    for (const auto& node : scores_) {
      check_argument(node.size() == std::size_t{1} << n_, "DagEdges", "a node needs a score for each set of parents");
    }
  }

  static State start() { return 0; }
  static bool is_end(State s) { return (s & kStopped) != 0; }
  void actions(State s, auto&& emit) const {
    for (int from = 0; from < n_; ++from) {
      const std::uint64_t before = ancestors(s, from);
      for (int to = 0; to < n_; ++to) {
        if (to == from || has_edge(s, from, to) || (before >> to & 1) != 0) continue;
        emit(from * n_ + to, s | edge(from, to));
      }
    }
    emit(n_ * n_, s | kStopped);
  }
  [[nodiscard]] double reward(State s) const {
    double sum = 0.0;
    for (int v = 0; v < n_; ++v) sum += scores_[static_cast<std::size_t>(v)][parent_mask(s, v)];
    return sum;
  }
  // 1 for each edge that is there: edges from node 0 to the others, from node 1 to the others, ...
  [[nodiscard]] std::vector<int> encode(State s) const {
    std::vector<int> entries;
    for (int from = 0; from < n_; ++from) {
      for (int to = 0; to < n_; ++to) {
        if (to != from) entries.push_back(has_edge(s, from, to) ? 1 : 0);
      }
    }
    return entries;
  }
  [[nodiscard]] bool has_edge(State s, int from, int to) const { return (s & edge(from, to)) != 0; }

  // A list of edges, [from, to] each.
  [[nodiscard]] std::string text(State s) const {
    std::string text = "[";
    for (int from = 0; from < n_; ++from) {
      for (int to = 0; to < n_; ++to) {
        if (to == from || !has_edge(s, from, to)) continue;
        text += (text.size() > 1 ? ", [" : "[") + label(from) + ", " + label(to) + "]";
      }
    }
    return text + "]";
  }
  [[nodiscard]] std::string action_text(State, int action) const {
    return action == n_ * n_ ? "stop" : label(action / n_) + " -> " + label(action % n_);
  }

  // What trainers need besides. Without any one of its edges an acyclic graph is acyclic.
  [[nodiscard]] int num_actions() const { return n_ * n_ + 1; }
  static int num_values() { return 2; }
  void parents(State s, auto&& emit) const {
    if (is_end(s)) {
      emit(n_ * n_, s & ~kStopped);
      return;
    }
    for (std::uint64_t left = s; left != 0; left &= left - 1) {
      emit(std::countr_zero(left), s & ~(left & (~left + 1)));
    }
  }

 private:
  static constexpr std::uint64_t kStopped = std::uint64_t{1} << 63;

  [[nodiscard]] std::uint64_t edge(int from, int to) const { return std::uint64_t{1} << (from * n_ + to); }
  [[nodiscard]] std::size_t parent_mask(State s, int node) const {
    std::size_t mask = 0;
    for (int from = 0; from < n_; ++from) mask |= static_cast<std::size_t>(has_edge(s, from, node)) << from;
    return mask;
  }
  // The nodes from which `node` can be reached, as bits.
  [[nodiscard]] std::uint64_t ancestors(State s, int node) const {
    std::uint64_t found = 0, open = std::uint64_t{1} << node;
    while (open != 0) {
      const int v = std::countr_zero(open);
      open &= open - 1;
      const std::uint64_t fresh = parent_mask(s, v) & ~found;
      found |= fresh;
      open |= fresh;
    }
    return found;
  }

  [[nodiscard]] const std::string& label(int node) const { return labels_[static_cast<std::size_t>(node)]; }

  int n_;
  std::vector<std::vector<double>> scores_;
  std::vector<std::string> labels_;
};

}  // namespace treesample
