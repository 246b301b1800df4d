// The identity of nodes that several edges can reach: a map from the states of a level's context to its node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "treesample/space/search_space.hpp"
#include "treesample/store/store_view.hpp"

namespace treesample {

// An exact map: open addressing over packed states. A slot has its key and its node side by side, so that a look-up
// waits for memory once.
class ContextTable {
 public:
  ContextTable() = default;  // blank
  [[nodiscard]] bool is_blank() const { return packed_.empty(); }
  ContextTable(const SearchSpace& space, int level);

  // The node of the slot, kNoNode when the context is new. The reference is valid until the next call.
  NodeIndex& find_or_insert(std::span<const int> x);
  // Forgets the nodes for which `is_dead` holds.
  void erase_if(const std::function<bool(NodeIndex)>& is_dead);
  [[nodiscard]] std::size_t num_bytes() const { return slots_.capacity() * sizeof(slots_[0]); }

 private:
  struct Field {
    int variable, shift;
  };

  void pack(std::span<const int> x);
  void rebuild(std::size_t capacity);
  // A slot has the words of its key, lower halves first, then its node.
  [[nodiscard]] std::size_t slot_size() const { return 2 * words_ + 1; }
  [[nodiscard]] bool has_key(const std::uint32_t* slot, const std::uint64_t* key) const;
  std::uint32_t* slot_of(const std::uint64_t* key);

  std::vector<Field> fields_;         // word by word
  std::vector<std::size_t> last_of_;  // by word: the end of its fields
  std::size_t words_ = 1;
  std::size_t count_ = 0, capacity_ = 0;
  std::vector<std::uint64_t> packed_;  // the key that is looked up
  std::vector<std::uint32_t> slots_;
};

}  // namespace treesample
