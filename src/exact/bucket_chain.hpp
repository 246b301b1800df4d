// Successive buckets that are eliminated in one loop: the message of every bucket but the last is made block by block,
// used by the next bucket while it is in the first-level cache, and never stored.
//
//   bucket of v:  m(x_S) = sum over x_v ...        bucket of w, the first of S:  out(x_T) = sum over x_w of m(x_S) ...
//
// A block of `out` has all states of the last variables of T. For each state of w it needs one block of m, which has
// all states of those of these variables that are in S; they are the last ones of S too. If every variable of T that is
// not in S is within the block, then different blocks of `out` need different blocks of m, and nothing is computed
// twice.
//
// Memory traffic per entry of a bucket, on a grid with two states per variable, where all messages have the same size.
// Stored, a message is written, which also reads its cache lines (2 x 8 B), and read again (8 B): 24 B for each bucket,
// which has two entries per entry of its message, hence 12 B per entry. A chain of k buckets moves 24 B for 2 k
// entries: 12 / k B per entry.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "exact/bucket_tree.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

struct BucketChain {
  std::vector<int> variables;          // in the order of removal
  std::vector<std::size_t> num_inner;  // how many last variables of each separator a block has all states of
};

// The number of last variables of a separator that make up a block: as many as fit into kMostBlockEntries entries, at
// least one.
std::size_t num_inner_variables(const FactorGraph& graph, std::span<const int> separator);

// The longest chain that begins with the first variable of `order`, or this variable alone. No message of the chain is
// larger than the one before it, so the chain takes no more memory than eliminating one bucket after the other.
BucketChain longest_chain(const FactorGraph& graph, const BucketTree& tree, std::span<const int> order);

}  // namespace treesample
