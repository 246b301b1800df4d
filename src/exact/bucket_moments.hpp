// The downward step of elimination at one bucket: p(x_v, x_S) is computed block by block and added into the tables of
// the bucket's children, by several threads, with the same bits for any number of them.
//
// All children contain v and variables of S. Blocks that differ in a variable which all children contain go to
// different entries, and are processed in parallel; the blocks within one part are processed in order. Where the
// children have too few variables in common, each gets a pass of its own: p is computed several times, but no thread
// waits.
#pragma once

#include <span>
#include <vector>

#include "exact/elimination_pass.hpp"
#include "exact/linear_bucket.hpp"
#include "exact/separator_sums.hpp"
#include "model/block_parts.hpp"

namespace treesample {

class BucketMoments {
 public:
  // p = ratio(x_S) times the product of the bucket. All arguments must outlive the object.
  BucketMoments(LinearBucket& product, std::span<const double> ratio, SeparatorSums& sums, ThreadTeam& team);

  // Returns the sum of p for each state of v. Throws Error (kInterrupted) when asked to end.
  std::vector<double> add_all(EntryWatch& watch);

 private:
  [[nodiscard]] BlockParts parts(std::span<const std::size_t> groups) const;
  void add(std::span<const std::size_t> groups, EntryWatch& watch);

  LinearBucket& product_;
  std::span<const double> ratio_;
  SeparatorSums& sums_;
  ThreadTeam& team_;
  std::vector<int> places_;         // of the groups, in the product
  std::vector<double> block_sums_;  // by state and block
};

}  // namespace treesample
