// The open nodes of a best-first search, each with the decisions that lead to it. Paths share their beginnings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <queue>
#include <span>
#include <vector>

#include "optimize/cost_tables.hpp"

namespace treesample {

struct BranchDecision {
  int variable = 0, state = 0;
  bool is_equal = true;    // otherwise the variable has not this state
  bool is_forced = false;  // the best state, whatever the variables outside of its part are
  // x_v != s is still to be searched.
  [[nodiscard]] bool has_other() const { return is_equal && !is_forced; }
};

class OpenNodes {
 public:
  static constexpr std::int64_t kRoot = -1;
  struct Node {
    Cost bound = 0;
    std::int64_t decision = kRoot;  // the last one
    int depth = 0;
  };

  explicit OpenNodes(std::size_t bytes) : bytes_(bytes) {}

  [[nodiscard]] bool empty() const { return nodes_.empty(); }
  [[nodiscard]] bool has_room() const;
  [[nodiscard]] const Node& least() const { return nodes_.top(); }
  void push(const Node& node) { nodes_.push(node); }
  Node pop();
  // What a dive from the decision `from` leaves: for each x_v = s of its path the node with x_v != s in its place, with
  // the bound before it; and its end, if that has a bound.
  void push_path(std::int64_t from, std::span<const BranchDecision> path, std::span<const Cost> bounds,
                 std::optional<Cost> end);
  // From the first to this one.
  [[nodiscard]] std::vector<BranchDecision> decisions(std::int64_t last) const;

 private:
  struct Link {
    BranchDecision decision;
    std::int64_t before = kRoot;
    int depth = 0;
  };
  struct IsLater {  // the least bound first, of equal ones the deepest
    bool operator()(const Node& a, const Node& b) const {
      return a.bound != b.bound ? a.bound > b.bound : a.depth < b.depth;
    }
  };
  std::int64_t add(std::int64_t before, const BranchDecision& decision);

  std::size_t bytes_;
  std::vector<Link> links_;
  std::priority_queue<Node, std::vector<Node>, IsLater> nodes_;
};

}  // namespace treesample
