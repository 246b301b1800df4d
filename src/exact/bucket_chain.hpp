// Successive buckets that are eliminated in one loop: the message of all but the last one is made block by block, used
// by the next bucket while it is in the first-level cache, and never stored.
//
//   bucket of v:  m(x_S) = sum over x_v ...        bucket of w, the first of S:  out(x_T) = sum over x_w of m(x_S) ...
//
// A block of `out` has all states of the last variables of T. It needs, for each state of w, one block of m: all states
// of those of these variables that are in S, which are the last ones there too. Blocks of `out` need different blocks
// of m if every variable of T that is not in S is within the block; then nothing is computed twice.
//
// Bytes from and to memory per entry of the first bucket, where T is as large as S and each message has K states for
// the variable that is summed out: stored, m is written (and its lines read for that) and read, out is written. Of two
// buckets of a grid with two states, 8 B for reading the message below, 2 x 8 B for m, 8 B for reading it, 2 x 8 B for
// out: 48 B for four entries, 12 B each. In a chain of k buckets 24 B for 2 k entries: 12 / k B each.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "exact/bucket_tree.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

struct BucketChain {
  std::vector<int> variables;          // in the order of removal
  std::vector<std::size_t> num_inner;  // variables of each separator, its last ones, that a block has all states of
};

// Of the last variables of a separator, as many as make a block of at most so many entries, and one at least.
std::size_t num_inner_variables(const FactorGraph& graph, std::span<const int> separator);

// The longest chain that begins with the first variable of `order`; at least this one. No message of it is larger than
// the one before, so that it takes no more memory than one bucket after the other does.
BucketChain longest_chain(const FactorGraph& graph, const BucketTree& tree, std::span<const int> order);

}  // namespace treesample
