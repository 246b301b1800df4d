// The path of one traversal.
#pragma once

#include <span>
#include <vector>

#include "search/node_store.hpp"

namespace treesample {

// One edge of the path from a root to the expansion.
struct Step {
  Node node;
  int level;
  int action;
  double factor;  // exp(R) of the edge, once it is expanded
};

class SearchPath {
 public:
  explicit SearchPath(int longest) : steps_(static_cast<std::size_t>(longest)) {}

  // Room for the longest path, and how many of the steps there are in use.
  [[nodiscard]] Step* first() { return steps_.data(); }
  void set_length(int length) { length_ = length; }
  [[nodiscard]] std::span<const Step> steps() const { return {steps_.data(), static_cast<std::size_t>(length_)}; }

  // Notes at each node those that the next traversal through it comes to after the child, once all choices are made.
  // When the nodes outgrow the caches, a traversal is a chain of waits for memory, each for the node that tells where
  // the next one is; with the notes five waits run side by side.
  // Pre: the levels are a path, each below the one before.
  template <class Shape>
  void leave_hints() const {
    NodeHints below;  // what the next traversal through the step's edge comes to after the child
    for (int i = length_ - 1; i >= kFirstLevelWithHints; --i) {
      const auto node = steps_[static_cast<std::size_t>(i)].node.template as<Shape>();
      const int action = steps_[static_cast<std::size_t>(i)].action;
      NodeHints above;
      if (!node.is_complete()) {
        const auto choice = static_cast<int>(node.choice());
        const NodeHints noted = node.hints(choice);
        above = (choice == action ? below : noted).behind(*node.links(choice));
      }
      node.set_hints(action, below);
      below = above;
    }
  }
  static constexpr int kFirstLevelWithHints = 9;  // they are for levels from 14 on; those above stay in a cache

 private:
  std::vector<Step> steps_;
  int length_ = 0;
};

}  // namespace treesample
