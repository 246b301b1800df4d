// A Python function as Q_phi: arrays of prefixes in, an array of values out.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "raised.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/value/function_value.hpp"

namespace treesample::python {

// Calls function(variable, prefixes), where `variable` is what stands in `variables` at the index of the one that comes
// next, and `prefixes` an int array with a row per prefix and a column per variable, -1 where it is open. What comes
// back must be an array of numbers with a row per prefix and a column per state.
class PythonValue {
 public:
  // The interpreter must be held.
  PythonValue(py::function function, py::list variables, const FactorGraph& graph);

  // To be kept by the library, which may let go of it on any thread.
  static ValueFunction as_function(const std::shared_ptr<PythonValue>& value);
  static std::shared_ptr<PythonValue> make(py::function function, py::list variables, const FactorGraph& graph);

  // During a run Ctrl-C in the function ends it with the answer so far: the values that were asked for are the uniform
  // ones then. Null after the run.
  void set_raised(std::shared_ptr<Raised> raised) { raised_ = std::move(raised); }

 private:
  void call(int variable, std::span<const int> prefixes, int count, std::span<double> q) const;
  [[nodiscard]] double log_states_left(int variable, std::span<const int> prefix) const;

  py::function function_;
  py::list variables_;
  std::vector<int> num_states_;
  std::shared_ptr<Raised> raised_;
};

}  // namespace treesample::python
