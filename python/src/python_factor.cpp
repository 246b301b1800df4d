#include "python_factor.hpp"

#include <array>
#include <utility>

namespace treesample::python {
namespace {

constexpr std::size_t kFewArguments = 16;  // for which there is room on the stack

}  // namespace

double PythonFactor::operator()(std::span<const int> states) const {
  const py::gil_scoped_acquire interpreter;
  std::array<PyObject*, kFewArguments> few = {};
  std::vector<PyObject*> many;
  PyObject** arguments = few.data();
  if (states.size() > few.size()) {
    many.resize(states.size());
    arguments = many.data();
  }
  for (std::size_t i = 0; i < states.size(); ++i) arguments[i] = labels_[i][static_cast<std::size_t>(states[i])].ptr();
  const auto result =
      py::reinterpret_steal<py::object>(PyObject_Vectorcall(function_.ptr(), arguments, states.size(), nullptr));
  const double value = result ? PyFloat_AsDouble(result.ptr()) : -1.0;
  if (value == -1.0 && PyErr_Occurred() != nullptr) {
    add_note(states);
    throw py::error_already_set();
  }
  return value;
}

// To the exception that is set: "in factor simulate(pump='ok', load=2)".
void PythonFactor::add_note(std::span<const int> states) const {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  std::string text =
      "in factor " + py::str(py::getattr(function_, "__name__", py::repr(function_))).cast<std::string>();
  for (std::size_t i = 0; i < states.size(); ++i) {
    text += (i == 0 ? "(" : ", ") + names_[i] + "=" +
            py::repr(labels_[i][static_cast<std::size_t>(states[i])]).cast<std::string>();
  }
  const auto note = py::reinterpret_steal<py::object>(
      PyObject_CallMethod(value, "add_note", "s", (text + (states.empty() ? "()" : ")")).c_str()));
  if (!note) PyErr_Clear();
  PyErr_Restore(type, value, trace);
}

Factor::Function PythonFactor::as_function(PythonFactor factor) {
  const std::shared_ptr<const PythonFactor> kept(new PythonFactor(std::move(factor)), [](const PythonFactor* pointer) {
    const py::gil_scoped_acquire interpreter;
    delete pointer;
  });
  return [kept](std::span<const int> states) { return (*kept)(states); };
}

}  // namespace treesample::python
