// Adds up the blocks of a large table (model/dense_table.hpp) into smaller ones on several threads, with the same bits
// for any number of threads.
//
// The blocks are divided into parts by the joint states of some outer variables, always into the same parts. If a
// target has one of these variables, two parts go to different entries of it. If it does not, it has a copy for each
// state of the variable, and the copies are put together in their order. The variables are those that need the least
// memory for copies.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "model/block_parts.hpp"
#include "model/dense_table.hpp"

namespace treesample {

class BlockFold {
 public:
  // A table over a subset of the scope, with its variables in the same order. The walk knows it as `id`.
  struct Target {
    int id = 0;
    std::size_t num_entries = 0;
  };
  BlockFold(const BlockWalk& walk, std::vector<Target> targets);

  // The position of a block: number i of its part.
  struct Place {
    std::size_t part = 0, i = 0;
  };
  [[nodiscard]] std::size_t num_parts() const { return parts_.size(); }
  [[nodiscard]] std::size_t num_blocks() const { return parts_.num_blocks(); }  // of each part
  [[nodiscard]] std::size_t block(const Place& place) const { return parts_.block(place.part, place.i); }

  [[nodiscard]] std::size_t num_copies(std::size_t target) const { return num_copies_[target]; }
  [[nodiscard]] std::size_t num_entries(std::size_t target) const {  // of all copies, stored one after the other
    return num_copies_[target] * targets_[target].num_entries;
  }
  // The first entry of the block where the walk stands, in the copies at `values`.
  [[nodiscard]] double* entries(std::size_t target, const BlockWalk& walk, const Place& place, double* values) const;
  // True if no earlier block went to the same entries of the copy, so that these are not set to anything yet.
  [[nodiscard]] bool is_first(std::size_t target, const Place& place) const;

  // Tables smaller than this are one part.
  static constexpr std::size_t kLeastDivided = std::size_t{1} << 14;
  static constexpr std::size_t kCopyShare = 8;  // copies have at most an eighth of the large table's entries

 private:
  static constexpr std::size_t kMostParts = 64;  // four for each of 16 threads

  struct Axis {
    std::size_t num_states = 0;
    bool divides = false;
    std::vector<bool> is_in;  // by target
  };
  void divide(std::size_t num_entries, std::size_t most_parts);

  std::vector<Target> targets_;
  std::vector<Axis> axes_;  // the outer variables, starting with the fastest
  std::vector<std::size_t> num_copies_;
  BlockParts parts_;
};

}  // namespace treesample
