// The memory of a search: how full its store is, and expansions that are given back when it is full.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "search/bound_store.hpp"
#include "treesample/math/log_bounds.hpp"

namespace treesample {

class SearchMemory {
 public:
  // Keeps a reference to the store. Nodes that `kept` covers keep their expansions.
  SearchMemory(BoundStore& store, std::size_t most_bytes, std::span<const BoundStore::Extent> kept = {});

  // The store may use so much. The rest of the memory is for choosing what to give back, and for the samplers.
  [[nodiscard]] std::size_t full_bytes() const { return full_bytes_; }
  [[nodiscard]] bool is_full() const { return store_.used_bytes() > full_bytes_; }
  // Gives back half of the memory. Returns false when the search should end: little can be given back, or the last
  // hundred calls did not change the bounds of log Z.
  bool give_back(const LogBounds& log_z);
  // How often it was called, with the calls of other threads.
  [[nodiscard]] std::int64_t num_collapses() const { return num_collapses_; }
  void add_collapses(std::int64_t number) { num_collapses_ += number; }

 private:
  // In a memory that is too small, a search can give back and expand the same nodes for ever. Bounds can only tighten,
  // so a search that must tighten them ends. What it spends says nothing: a budget may be unlimited, or in a unit in
  // which evaluations are next to free.
  [[nodiscard]] bool has_progress(const LogBounds& log_z);

  BoundStore& store_;
  std::size_t full_bytes_;
  std::span<const BoundStore::Extent> kept_;
  std::int64_t num_collapses_ = 0;
  LogBounds log_z_then_;   // at the last call
  int num_fruitless_ = 0;  // calls in a row since which they have not changed
};

}  // namespace treesample
