#include "python_value.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "treesample/error.hpp"

namespace treesample::python {

PythonValue::PythonValue(py::function function, py::list variables, const FactorGraph& graph)
    : function_(std::move(function)), variables_(std::move(variables)) {
  for (int v = 0; v < graph.num_variables(); ++v) num_states_.push_back(graph.num_states(v));
}

std::shared_ptr<PythonValue> PythonValue::make(py::function function, py::list variables, const FactorGraph& graph) {
  return {new PythonValue(std::move(function), std::move(variables), graph), [](const PythonValue* pointer) {
            const py::gil_scoped_acquire interpreter;
            delete pointer;
          }};
}

ValueFunction PythonValue::as_function(const std::shared_ptr<PythonValue>& value) {
  return [value](int variable, std::span<const int> prefixes, int count, std::span<double> q) {
    value->call(variable, prefixes, count, q);
  };
}

// Of the variables that are open, `variable` not counted.
double PythonValue::log_states_left(int variable, std::span<const int> prefix) const {
  double sum = 0.0;
  for (std::size_t v = 0; v < num_states_.size(); ++v) {
    if (prefix[v] < 0 && static_cast<int>(v) != variable) sum += std::log(num_states_[v]);
  }
  return sum;
}

void PythonValue::call(int variable, std::span<const int> prefixes, int count, std::span<double> q) const {
  const py::gil_scoped_acquire interpreter;
  const std::size_t width = num_states_.size();
  const auto num_states = static_cast<std::size_t>(num_states_[static_cast<std::size_t>(variable)]);
  try {
    const auto rows =
        to_array(std::vector<std::int32_t>(prefixes.begin(), prefixes.end()), {count, static_cast<py::ssize_t>(width)});
    const py::object returned = function_(variables_[static_cast<std::size_t>(variable)], rows);
    const auto values = Doubles::ensure(returned);
    if (!values) throw py::type_error("the value function returned no array of numbers");
    if (values.ndim() != 2 || values.shape(0) != count || values.shape(1) != static_cast<py::ssize_t>(num_states)) {
      throw Error(ErrorCode::kNumeric, "the value function returned an array of shape " +
                                           py::str(py::object(values.attr("shape"))).cast<std::string>() +
                                           ", allowed is (" + std::to_string(count) + ", " +
                                           std::to_string(num_states) + "): a row per prefix and a column per state");
    }
    std::copy(values.data(), values.data() + values.size(), q.begin());
  } catch (py::error_already_set& error) {
    if (!raised_ || error.matches(PyExc_Exception)) throw;  // Ctrl-C, sys.exit: the run ends with its answer so far
    raised_->stop(error.value());
    for (std::size_t r = 0; r < static_cast<std::size_t>(count); ++r) {
      const auto row = q.subspan(r * num_states, num_states);
      std::fill(row.begin(), row.end(), log_states_left(variable, prefixes.subspan(r * width, width)));
    }
  }
}

}  // namespace treesample::python
