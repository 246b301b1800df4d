#include "search/search_path.hpp"

#include "search/soft_bellman.hpp"

namespace treesample {

SearchPath::SearchPath(const NodeStore& store) : store_(store) {
  const std::size_t longest = store.space().levels.size();
  steps_.resize(longest);
  multipliers_.resize(longest);
  for (const Level& level : store.space().levels) has_components_ = has_components_ || level.children.size() > 1;
}

// The multiplier of edge i with all components that are off the path.
void SearchPath::multiply_components(int i) {
  const auto& [node, level, action] = steps_[i];
  const std::vector<int>& children = store_.space().levels[level].children;
  const bool is_last = i + 1 == length_;
  const int level_below = is_last ? -1 : steps_[i + 1].level;
  ScaledValue value{(is_last ? 0.0 : steps_[i + 1].node.exponent()) - node.exponent(), 1.0};
  for (std::size_t j = 0; j < children.size(); ++j) {
    if (children[j] != level_below) value *= scaled_value(store_, children[j], node.links(action)[j]);
  }
  multipliers_[i] = value.times(node.factors()[action]);
}

const double* SearchPath::multiply_out() {
  for (int i = 0; has_components_ && i + 1 < length_; ++i) {
    if (store_.space().levels[steps_[i].level].children.size() > 1) multiply_components(i);
  }
  multiply_components(length_ - 1);
  return multipliers_.data();
}

void SearchPath::leave_hints() const {
  for (int i = Node::kFirstLevelWithHints; i + 1 < length_; ++i) {
    const Node child = steps_[i + 1].node;
    if (!steps_[i].node.has_hints() || child.is_complete()) continue;
    steps_[i].node.set_hint(steps_[i].action, *child.links(static_cast<int>(child.choice())));
  }
}

}  // namespace treesample
