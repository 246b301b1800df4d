// A Python function as a factor of a model.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "treesample/model/factor.hpp"

namespace treesample::python {

namespace py = pybind11;

// Calls function(*states), where states are the labels of the factor's variables: labels[i][s] of the i-th variable in
// state s. The interpreter is held during the call alone. What the function raises passes through the search as it is,
// with a note of the states.
class PythonFactor {
 public:
  // The interpreter must be held.
  PythonFactor(py::object function, std::vector<std::string> names, std::vector<std::vector<py::object>> labels)
      : function_(std::move(function)), names_(std::move(names)), labels_(std::move(labels)) {}

  double operator()(std::span<const int> states) const;

  // To be kept by the library, which may let go of it on any thread, with or without the interpreter.
  static Factor::Function as_function(PythonFactor factor);

 private:
  void add_note(std::span<const int> states) const;

  py::object function_;
  std::vector<std::string> names_;  // of the variables
  std::vector<std::vector<py::object>> labels_;
};

}  // namespace treesample::python
