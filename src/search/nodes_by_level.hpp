// The nodes of a store level by level, for passes over all of them: at each level they have positions from 0 on.
#pragma once

#include <cstdint>
#include <vector>

#include "search/node_store.hpp"

namespace treesample {

class NodesByLevel {
 public:
  explicit NodesByLevel(const NodeStore& store);

  [[nodiscard]] std::uint32_t size(int level) const {
    return order_.empty() ? store_.num_in_array(level) : begin_[level + 1] - begin_[level];
  }
  [[nodiscard]] NodeIndex index(int level, std::uint32_t position) const {
    return order_.empty() ? position : order_[begin_[level] + position];
  }
  [[nodiscard]] Node node(int level, std::uint32_t position) const {
    return store_.node(level, index(level, position));
  }
  [[nodiscard]] std::uint32_t position(NodeIndex index) const { return order_.empty() ? index : positions_[index]; }

 private:
  const NodeStore& store_;
  // Only where levels share an array; else position and index are the same.
  std::vector<NodeIndex> order_;  // of all levels, one after the other
  std::vector<std::uint32_t> begin_;
  std::vector<std::uint32_t> positions_;
};

}  // namespace treesample
