// A Python function as a factor of a model.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "raised.hpp"
#include "treesample/model/factor.hpp"

namespace treesample::python {

// What both kinds of functions have. The interpreter is held during a call alone.
struct FunctionTraits {
  py::object function;
  std::vector<std::string> names;               // of the variables
  std::vector<std::vector<py::object>> labels;  // labels[i][s]: of the i-th variable in state s
  // Of a call that raises an Exception or returns no number; without one that ends the run.
  std::optional<double> on_failure = {};
  std::shared_ptr<Raised> raised = {};  // null: exceptions pass through the library
  bool is_paid = false;                 // called by workers, which hand on an error
  // Exceptions that say nothing of the states, such as those of an executor that broke down: a tuple of types.
  py::object fatal = py::none();

  // The exception that is set becomes one of C++, with a note of the states of row `states` if it is known.
  [[noreturn]] void throw_set(std::span<const int> states) const;
};

// Calls function(*labels of the states), which returns a number, or a pair of it and the names of a witness
// (FactorValue).
class PythonFactor {
 public:
  // The interpreter must be held.
  explicit PythonFactor(FunctionTraits traits);
  double operator()(std::span<const int> states) const;
  [[nodiscard]] FactorValue explain(std::span<const int> states) const;

  // The two halves of explain(), for a call that is made elsewhere. These need the interpreter to be held. `returned`
  // is null where an exception is set.
  [[nodiscard]] const py::object& function() const { return traits_.function; }
  [[nodiscard]] py::tuple arguments(std::span<const int> states) const;
  [[nodiscard]] FactorValue explained(py::object returned, std::span<const int> states) const;

  // To be kept by the library, which may let go of it on any thread, with or without the interpreter.
  static Factor::Function as_function(FunctionTraits traits);
  static Factor::Explained as_explained(FunctionTraits traits);

 private:
  // What the function returned; null, and an exception is set, where it raised one. The interpreter must be held.
  [[nodiscard]] py::object call(std::span<const int> states) const;
  // A number, or what becomes of the exception that is set.
  [[nodiscard]] double value_of(const py::object& returned, std::span<const int> states) const;
  // Sets an exception and returns none where it names no variables of the factor.
  [[nodiscard]] std::optional<std::vector<int>> places_of(const py::object& names) const;

  FunctionTraits traits_;
};

// Calls function(array of states with a row per question), which returns as many numbers.
class PythonBatch {
 public:
  explicit PythonBatch(FunctionTraits traits) : traits_(std::move(traits)) {}
  void operator()(std::span<const int> rows, int count, std::span<double> values) const;

  // Its two halves, as those of PythonFactor.
  [[nodiscard]] const py::object& function() const { return traits_.function; }
  [[nodiscard]] py::tuple arguments(std::span<const int> rows, int count) const;
  void take(const py::object& returned, std::span<const int> rows, int count, std::span<double> values) const;

  static Factor::BatchFunction as_function(FunctionTraits traits);

 private:
  FunctionTraits traits_;
};

}  // namespace treesample::python
