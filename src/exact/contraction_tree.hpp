// Orders of elimination as trees of products, which can be changed a little at a time.
//
// A leaf of the tree is a table of the model, an inner node the product of its two children, summed over the variables
// that no table outside of it has. With open(x) the variables of the result of node x, a product of l and r takes
//
//   2^w(x) multiplications, w(x) = sum of log2 of the numbers of states over open(l) and open(r)
//
// and the work of the tree is the sum over its inner nodes. Each variable is removed at the lowest node that has all of
// its tables, so the nodes from the leaves up are an order of elimination. There are as many trees as ways to put
// brackets, and two trees that differ by one rotation, (A B) C and (A C) B, differ in two terms of the sum: a step of
// simulated annealing takes 30 ns, where a new greedy order takes a millisecond and keeps nothing of the last one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "treesample/math/random.hpp"
#include "treesample/stop.hpp"

namespace treesample {

// The tables of a model as trees need them: without those whose variables another table has too, and without variables
// that a single table has. The latter are removed first, whatever the rest of the order is, and again once that has
// made other tables smaller.
class TableSets {
 public:
  // One 64-bit word holds variables with the same number of states, so that the size of a set is a few counts of bits.
  using Word = std::uint64_t;

  TableSets(std::vector<std::vector<int>> scopes, std::span<const double> log2_num_states);

  [[nodiscard]] const std::vector<int>& removed_first() const { return removed_first_; }
  [[nodiscard]] std::size_t num_tables() const { return scopes_.size(); }
  [[nodiscard]] const std::vector<std::vector<int>>& scopes() const { return scopes_; }
  [[nodiscard]] std::size_t num_words() const { return word_weights_.size(); }
  [[nodiscard]] std::span<const double> word_weights() const { return word_weights_; }
  [[nodiscard]] std::span<const int> variable_at() const { return variable_at_; }  // -1: none
  [[nodiscard]] std::size_t place(int variable) const { return place_[variable]; }

 private:
  std::vector<std::vector<int>> scopes_;
  std::vector<int> removed_first_;
  std::vector<double> word_weights_;  // log2 of the numbers of states of the variables of a word
  std::vector<int> variable_at_;      // by bit
  std::vector<std::size_t> place_;    // bit, by variable
};

struct Annealing {
  std::int64_t num_proposals = 0;
  // The work of the changed products may grow by 1 bit with probability e^(-1 / temperature).
  double first_temperature = 0.5, last_temperature = 0.03;
};

class ContractionTree {
 public:
  // The tree that eliminates in this order; of the tables of a variable, the smallest two are multiplied first.
  ContractionTree(const TableSets& sets, std::span<const int> order);

  // Proposes rotations at random places. Throws Error (kInterrupted) when it is asked to stop. `done` counts proposals:
  // the same call with the same numbers goes on where it stopped, to the same tree as without an interruption.
  void anneal(const Annealing& options, Random& random, StopCheck& stop, std::int64_t* done = nullptr);
  // All variables, first removed first. At each node the child goes first whose tables take more memory than its
  // result.
  [[nodiscard]] std::vector<int> order() const;
  [[nodiscard]] double log2_work() const;

 private:
  using Word = TableSets::Word;

  int join(int left, int right);
  void set_open();
  [[nodiscard]] Word* open(int node) { return open_.data() + static_cast<std::size_t>(node) * num_words_; }
  [[nodiscard]] const Word* open(int node) const { return open_.data() + static_cast<std::size_t>(node) * num_words_; }
  [[nodiscard]] double weight(const Word* set) const;
  [[nodiscard]] double product_weight(int node) const;
  [[nodiscard]] bool is_leaf(int node) const { return node < num_leaves_; }
  [[nodiscard]] std::vector<int> nodes_from_root() const;

  const TableSets* sets_;
  std::size_t num_words_;
  int num_leaves_, num_nodes_ = 0, root_ = -1;
  std::vector<int> left_, right_;  // by node; leaves come first
  std::vector<Word> open_;
  std::vector<double> log2_product_;  // w(x)
};

}  // namespace treesample
