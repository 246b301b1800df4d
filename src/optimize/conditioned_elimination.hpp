// The best configuration of a part of the variables, given the states of all others.
//
// Max-product elimination in a given order, in which a bucket may have only so many entries. Where it would have more,
// one of its variables keeps the state that it has, until the bucket fits. With such small buckets still most of the
// variables of a model are free: a 30 x 30 grid needs buckets of 2^30 entries to be solved, and 90 % of it are free
// with 2^10. All free variables take their best joint states at once, so that the result is the best of exponentially
// many neighbours, and never worse than what it began with.
//
//   F(x)     = sum of the log-values
//   bucket   b_v(x_v, x_S) = sum of the tables and messages whose first free variable in the order is v
//   message  m_v(x_S) = max over x_v of b_v,       x_v = a state that attains it, at random among several
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "treesample/math/random.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/stop.hpp"

namespace treesample {

// How a part is chosen.
struct Part {
  std::span<const int> order;        // of elimination, of all variables
  std::span<const double> priority;  // by variable: that with the least keeps its state where a bucket is too large
  double most_entries = 1024.0;      // of a bucket
  double most_in_all = 1 << 22;      // of all messages; those that come later have hardly any
  double noise = 0.0;                // each state's value is raised by this much times a number of Gumbel's law
};

class ConditionedElimination {
 public:
  // For a model of tables, which must outlive the object.
  explicit ConditionedElimination(const FactorGraph& graph);

  // Changes x, whose density must be positive, to the best configuration in which the fixed variables stay. With noise
  // it may be worse than before. False, and x as it was, if it was asked to stop.
  bool improve(std::span<int> x, const Part& part, Random& random, StopCheck& stop);

  // Of the last call: no variable was fixed, so that x is the best of all up to rounding; the entries of its buckets.
  [[nodiscard]] bool is_whole() const { return num_fixed_ == 0; }
  [[nodiscard]] double num_entries() const { return num_entries_; }

 private:
  // A table or a message.
  struct Item {
    std::vector<int> scope;
    const double* values = nullptr;
    std::vector<std::size_t> strides = {};  // by place in the scope
  };
  // What a bucket looks up: the entry where all states are 0, and the steps along the separator and the variable.
  struct Lookup {
    const double* values = nullptr;
    std::size_t step = 0;
  };

  void choose(const Part& part);
  bool place(Item* item, int after);
  void gather(int v);
  void eliminate(int v, std::span<const int> x, const Part& part, Random& random);
  void maximise(int v, int first_state);

  const FactorGraph& graph_;
  std::vector<Item> tables_;
  std::vector<Item> messages_;           // by variable
  std::vector<std::vector<int>> items_;  // by variable: tables, and messages as ~variable
  // Of the messages, one after the other: where each begins, its size, its values, and the states that attain them.
  std::vector<std::size_t> begin_, size_;
  std::vector<double> values_;
  std::vector<std::uint32_t> best_state_;
  std::vector<char> is_fixed_;
  std::vector<int> position_;  // in the order
  std::vector<int> scope_;     // of the present bucket, without its variable
  std::vector<char> is_in_scope_;
  std::vector<Lookup> lookups_;
  std::vector<std::size_t> steps_;  // [place in the separator][lookup]
  std::vector<double> noise_, sums_;
  int num_fixed_ = 0;
  double num_entries_ = 0.0;
};

}  // namespace treesample
