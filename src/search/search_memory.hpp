// The memory of a search: how full its store is, and expansions that are given back when it is full.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "search/bound_store.hpp"

namespace treesample {

class SearchMemory {
 public:
  // Keeps a reference to the store. Nodes that `kept` covers keep their expansions.
  SearchMemory(BoundStore& store, std::size_t most_bytes, std::span<const BoundStore::Extent> kept = {});

  // The store may use so much. The rest of the memory is for choosing what to give back, and for the samplers.
  [[nodiscard]] std::size_t full_bytes() const { return full_bytes_; }
  [[nodiscard]] bool is_full() const { return store_.used_bytes() > full_bytes_; }
  // Gives back half of the memory. Returns false if little can be given back, or if no reward was evaluated since the
  // last call: the search would then give back and expand the same levels for ever.
  bool give_back(std::int64_t num_evaluations);
  // How often it was called, with the calls of other threads.
  [[nodiscard]] std::int64_t num_collapses() const { return num_collapses_; }
  void add_collapses(std::int64_t number) { num_collapses_ += number; }

 private:
  BoundStore& store_;
  std::size_t full_bytes_;
  std::span<const BoundStore::Extent> kept_;
  std::int64_t num_collapses_ = 0;
  std::int64_t num_evaluations_then_ = 0;  // at the last call
};

}  // namespace treesample
