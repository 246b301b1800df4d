// Records the progress of a search as a circuit.
//
// The frames of the search write terms while their branches are open. A node is added when all its branches are done,
// so that nodes use only earlier nodes. Nodes of components that are not needed in the end are removed last.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "count/circuit_shape.hpp"
#include "treesample/reduce/reduced_model.hpp"

namespace treesample {

// The states that a split has settled, as variables and states of the problem.
struct SplitTrace {
  std::vector<std::pair<int, int>> fixed;  // variable, state
  std::vector<std::pair<int, int>> free;   // all live states of free variables
  CountNumber constant = CountNumber::one();
};

// The finished terms of a frame, and the open one.
struct TermTrace {
  std::vector<std::uint32_t> done;  // as in CircuitShape
  std::uint32_t num_done = 0;
  std::vector<std::uint32_t> fixed, free, children;
  CountNumber constant;
};

class CircuitTrace {
 public:
  // Recorded states are those of the original model, although the search sees the reduced one.
  CircuitTrace(const ReducedModel& model, std::uint64_t memory_limit_bytes);

  [[nodiscard]] bool is_kept() const { return is_kept_; }
  // `decided`: the state that was decided, if any. It comes first.
  void open_term(TermTrace& trace, const SplitTrace& split, std::optional<std::pair<int, int>> decided) const;
  void close_term(TermTrace& trace, bool is_zero);
  // Returns the node's number and empties the trace.
  std::uint32_t add_node(TermTrace& trace);

  CircuitShape& shape() { return shape_; }
  [[nodiscard]] std::uint32_t state_number(int variable, int state) const {
    return shape_.first_state[model_.variable_of[variable]] +
           static_cast<std::uint32_t>(model_.states_of[variable][state]);
  }
  // The circuit of the last node and the nodes that it uses, with the variables that were fixed beforehand. Pre:
  // is_kept().
  std::shared_ptr<const CircuitShape> finish();
  [[nodiscard]] std::uint64_t bytes() const {
    return shape_.words.capacity() * sizeof(std::uint32_t) + shape_.nodes.capacity() * sizeof(std::uint64_t) +
           shape_.constants.capacity() * sizeof(CountNumber);
  }

 private:
  const ReducedModel& model_;
  std::uint64_t memory_limit_bytes_;
  bool is_kept_ = true;
  CircuitShape shape_;
};

}  // namespace treesample
