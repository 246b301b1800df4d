// Where the tree search keeps its nodes: storage and identity, no policy.
//
// Nodes are blocks (node.hpp) in one array, addressed by a 32-bit index: nodes created about the same time lie
// together, and large pages are full. If all variables have the same number of states, the blocks have the same size
// and an index counts them; otherwise it counts units of 8 bytes. Nodes come after their parents.
//
// With a uniform Q_phi a node gets no block until it is visited a second time. Until then its value is that of Q_phi,
// which is already stored at its parent's edge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tree/block_memory.hpp"
#include "tree/node.hpp"
#include "treesample/space/search_space.hpp"

namespace treesample {

class TreeStore {
 public:
  // `has_factors` says for each level whether nodes keep exp(R); if it is empty, all do. `has_q_phi`: Q_phi is not
  // uniform.
  TreeStore(std::shared_ptr<const SearchSpace> space, bool has_q_phi, const std::vector<bool>& has_factors = {});

  [[nodiscard]] const SearchSpace& space() const { return *space_; }
  [[nodiscard]] bool has_q_phi() const { return has_q_phi_; }
  template <class View = Node>
  [[nodiscard]] View node(int level, NodeIndex index) const {
    return {block(index), &levels_[level].layout};
  }
  // Prefetches a node's first cache line.
  [[gnu::always_inline]] void prefetch(NodeIndex index) const { __builtin_prefetch(block(index)); }
  // The number of states that all levels have; 0 if they differ.
  [[nodiscard]] int common_num_states() const { return common_num_states_; }

  // Makes room for the nodes that one traversal creates; views then stay valid until the next call. Returns true if
  // nodes moved. Throws kResource if 32 bits or the memory do not suffice.
  bool make_room() {
    if (num_units_ + most_per_traversal_ <= capacity_) [[likely]]
      return false;
    grow();
    return true;
  }
  // Creates a node like blank(). Pre: there is room.
  NodeIndex create(int level);
  // A new node: no visits and no links. The search fills in its Q_phi.
  [[nodiscard]] Node blank(int level) { return {levels_[level].blank.data(), &levels_[level].layout}; }
  // V of a node without a block, from the uniform Q_phi: log K + log_states_below.
  [[nodiscard]] double uniform_value(int level) const { return levels_[level].uniform_value; }
  [[nodiscard]] const TreeNumber& uniform_number(int level) const { return levels_[level].uniform_number; }

  // The node of the empty prefix; kNoNode until it is created.
  [[nodiscard]] NodeIndex& root() { return root_; }
  [[nodiscard]] NodeIndex root() const { return root_; }

  [[nodiscard]] std::uint64_t num_nodes() const { return num_nodes_; }
  // One past the largest index in use.
  [[nodiscard]] NodeIndex end_index() const { return num_units_; }
  // Bytes in use by nodes, and all bytes held, including room for growth.
  [[nodiscard]] std::size_t used_bytes() const { return std::size_t{num_units_} * unit_bytes_; }
  [[nodiscard]] std::size_t held_bytes() const { return memory_.num_bytes(); }

 private:
  static constexpr std::uint32_t kMostPerTraversal =
      2;  // the last node of the path and, unless Q_phi is uniform, its child

  struct LevelStore {
    BlockLayout layout{1, true, false};
    std::uint32_t num_units = 1;  // of a block
    double uniform_value = 0.0;
    TreeNumber uniform_number;
    std::vector<std::byte> blank;
  };

  [[nodiscard]] std::byte* block(NodeIndex index) const { return blocks_ + std::size_t{index} * unit_bytes_; }
  void grow();

  std::shared_ptr<const SearchSpace> space_;
  bool has_q_phi_;
  std::vector<LevelStore> levels_;
  int common_num_states_ = 0;
  std::size_t unit_bytes_ = 8;
  std::byte* blocks_ = nullptr;
  BlockMemory memory_;
  NodeIndex root_ = kNoNode;
  std::uint32_t num_units_ = 0, capacity_ = 0, most_per_traversal_ = 0;
  std::uint64_t num_nodes_ = 0;
};

}  // namespace treesample
