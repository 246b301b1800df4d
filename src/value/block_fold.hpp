// How the blocks of a large table (model/dense_table.hpp) are added up into smaller ones by several threads, with the
// same bits for any number of them.
//
// The blocks are divided into parts by the joint states of some outer variables, always the same parts. Where a target
// has one of these variables, two parts go to different entries of it. Where it has not, there is a copy of the target
// for each state of the variable, and the copies are put together in their order. The variables are those that need the
// least memory for copies.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "model/block_parts.hpp"
#include "model/dense_table.hpp"

namespace treesample {

class BlockFold {
 public:
  // A table over a part of the scope, with its variables in the same order, registered in the walk as `id`.
  struct Target {
    int id = 0;
    std::size_t num_entries = 0;
  };
  BlockFold(const BlockWalk& walk, std::vector<Target> targets);

  // A block: number i of its part.
  struct Place {
    std::size_t part = 0, i = 0;
  };
  [[nodiscard]] std::size_t num_parts() const { return parts_.size(); }
  [[nodiscard]] std::size_t num_blocks() const { return parts_.num_blocks(); }  // of each part
  [[nodiscard]] std::size_t block(const Place& place) const { return parts_.block(place.part, place.i); }

  [[nodiscard]] std::size_t num_copies(std::size_t target) const { return num_copies_[target]; }
  [[nodiscard]] std::size_t num_entries(std::size_t target) const {  // of all copies, one after the other
    return num_copies_[target] * targets_[target].num_entries;
  }
  // The first entry of the block that the walk stands at, in the copies at `values`.
  [[nodiscard]] double* entries(std::size_t target, const BlockWalk& walk, const Place& place, double* values) const;
  // No block before this one went to the same entries of the copy: they are not set to anything yet.
  [[nodiscard]] bool is_first(std::size_t target, const Place& place) const;

  // Smaller tables are one part.
  static constexpr std::size_t kLeastDivided = std::size_t{1} << 14;
  static constexpr std::size_t kCopyShare = 8;  // copies have at most one in so many of the entries of the large table

 private:
  static constexpr std::size_t kMostParts = 64;  // four for each of 16 threads

  struct Axis {
    std::size_t num_states = 0;
    bool divides = false;
    std::vector<bool> is_in;  // by target
  };
  void divide(std::size_t num_entries, std::size_t most_parts);

  std::vector<Target> targets_;
  std::vector<Axis> axes_;  // the outer variables from the fastest on
  std::vector<std::size_t> num_copies_;
  BlockParts parts_;
};

}  // namespace treesample
