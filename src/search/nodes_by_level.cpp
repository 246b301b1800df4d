#include "search/nodes_by_level.hpp"

namespace treesample {

NodesByLevel::NodesByLevel(const NodeStore& store) : store_(store) {
  if (!store.is_one_array() || store.root_links()[0] == kNoNode) return;
  order_.reserve(store.num_in_array(0));
  order_.push_back(store.root_links()[0]);
  begin_ = {0, 1};
  positions_.resize(store.num_in_array(0));
  for (int n = 0; n + 1 < store.space().num_levels(); ++n) {  // a path: level n + 1 is below
    for (std::uint32_t i = begin_[n]; i < begin_[n + 1]; ++i) {
      const Node node = store.node(n, order_[i]);
      for (int a = 0; a < node.num_states(); ++a) {
        const NodeIndex child = *node.links(a);
        if (child == kNoNode) continue;
        positions_[child] = static_cast<std::uint32_t>(order_.size()) - begin_[n + 1];
        order_.push_back(child);
      }
    }
    begin_.push_back(static_cast<std::uint32_t>(order_.size()));
  }
}

}  // namespace treesample
