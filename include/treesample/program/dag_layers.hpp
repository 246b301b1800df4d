// Directed acyclic graphs as a program that places their nodes layer by layer, so that each graph is built in one way:
// the first layer has the nodes without parents, and a node of any other layer has a parent in the layer before it and
// all its parents in earlier ones. An action places a layer L, and sums over all graphs that have these layers:
//
//   log reward = sum over v in L of log sum over P within the placed nodes, P meets the last layer, of exp score[v][P]
//
// Only the placed nodes and the last layer matter for what comes, so 5e26 graphs of 12 nodes have 527,346 states.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "treesample/program/program.hpp"

namespace treesample {

// scores[v][P]: the log score of node v with the parents in P, a set of nodes as bits. Entries whose P contains v are
// not used. The log score of a graph is the sum over its nodes.
using DagScores = std::vector<std::vector<double>>;

class DagLayers {
 public:
  static constexpr ProgramObjects objects = ProgramObjects::kPaths;
  static constexpr int kMostNodes = 13;
  using State = std::uint32_t;  // the placed nodes, and the last layer 16 bits higher

  // Throws Error (kArgument) unless there are 1 to kMostNodes nodes with a score for each set, and (kNumeric) for a
  // score that is NaN or +inf.
  explicit DagLayers(DagScores scores);

  [[nodiscard]] int num_nodes() const { return n_; }
  [[nodiscard]] const DagScores& scores() const { return scores_; }
  static std::uint32_t placed(State s) { return s & 0xffff; }
  static std::uint32_t last(State s) { return s >> 16; }

  static State start() { return 0; }
  [[nodiscard]] bool is_end(State s) const { return placed(s) == all_; }
  void actions(State s, auto&& emit) const {
    const std::uint32_t rest = all_ & ~placed(s);
    std::array<double, kMostNodes> sums{};
    for_each_node(rest, [&](int v) { sums[static_cast<std::size_t>(v)] = log_sum(v, placed(s), last(s)); });
    for (std::uint32_t layer = rest; layer != 0; layer = (layer - 1) & rest) {
      double log_reward = 0.0;
      for_each_node(layer, [&](int v) { log_reward += sums[static_cast<std::size_t>(v)]; });
      emit(static_cast<int>(layer), placed(s) | layer | layer << 16, log_reward);
    }
  }

  // The log sum over sets of parents of v within the placed nodes that meet the last layer; the empty set where nothing
  // is placed. Sets are told apart by the first node of the last layer that they contain, so that nothing is
  // subtracted.
  [[nodiscard]] double log_sum(int v, std::uint32_t placed, std::uint32_t last) const;
  // The log sum over sets of parents of v within `set` that contain the node u of it.
  [[nodiscard]] double log_sum_with(int v, int u, std::uint32_t set) const { return with_[index(v, u) | set]; }
  // By how much log rewards along a path may be off, by rounding.
  [[nodiscard]] double rounding() const { return rounding_; }

  static void for_each_node(std::uint32_t set, const auto& f) {
    for (; set != 0; set &= set - 1) f(std::countr_zero(set));
  }

 private:
  [[nodiscard]] std::size_t index(int v, int u) const { return static_cast<std::size_t>(v * n_ + u) << n_; }

  int n_;
  std::uint32_t all_;
  DagScores scores_;
  std::vector<double> with_;
  double rounding_ = 0.0;
};

}  // namespace treesample
