#include "python_factor.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "treesample/error.hpp"

namespace treesample::python {
namespace {

constexpr std::size_t kFewArguments = 16;  // for which there is room on the stack

// "in factor simulate(pump='ok', load=2)".
std::string note_of(const FunctionTraits& traits, std::span<const int> states) {
  std::string text =
      "in factor " + py::str(py::getattr(traits.function, "__name__", py::repr(traits.function))).cast<std::string>();
  for (std::size_t i = 0; i < states.size(); ++i) {
    text += (i == 0 ? "(" : ", ") + traits.names[i] + "=" +
            py::repr(traits.labels[i][static_cast<std::size_t>(states[i])]).cast<std::string>();
  }
  return text + (states.empty() ? "" : ")");
}

// "ValueError: what it says", its first line: a journal keeps it, and the exception itself has the rest.
std::string line_of(const py::object& error) {
  std::string line = py::str(py::type::of(error).attr("__name__"));
  PyObject* const text = PyObject_Str(error.ptr());
  if (text == nullptr) {
    PyErr_Clear();
    return line;
  }
  const std::string message = py::reinterpret_steal<py::str>(text);
  if (!message.empty()) line.append(": ").append(message, 0, message.find('\n'));
  return line;
}

bool has_value(double value) { return value < HUGE_VAL; }  // false for NaN

// Null, and an exception may be set, unless it is an array of real numbers, or of objects that can be. Times, complex
// numbers and texts could be converted, too, but are mistakes. What is masked is no number.
py::object numbers_of(py::object returned) {
  if (returned && py::hasattr(returned, "filled")) {
    returned = py::reinterpret_steal<py::object>(PyObject_CallMethod(returned.ptr(), "filled", "d", NAN));
  }
  const py::object given = returned ? py::object(py::array::ensure(returned)) : py::object();
  if (!given) return {};
  const char kind = py::reinterpret_borrow<py::array>(given).dtype().kind();
  return std::string_view("biufO").find(kind) == std::string_view::npos ? py::object() : Doubles::ensure(given);
}

template <class Kind>
std::shared_ptr<const Kind> kept(FunctionTraits traits) {
  return {new Kind(std::move(traits)), [](const Kind* pointer) {
            const py::gil_scoped_acquire interpreter;
            delete pointer;
          }};
}

}  // namespace

void FunctionTraits::throw_set(std::span<const int> states) const {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace != nullptr) PyException_SetTraceback(value, trace);
  const auto error = py::reinterpret_borrow<py::object>(value);
  const auto note = py::reinterpret_steal<py::object>(
      PyObject_CallMethod(value, "add_note", "s", note_of(*this, states).c_str()));  // from Python 3.11 on
  if (!note) PyErr_Clear();
  PyErr_Restore(type, value, trace);
  py::error_already_set cpp_error;  // takes it
  if (!raised) throw cpp_error;
  const bool is_fatal = !cpp_error.matches(PyExc_Exception) || (!fatal.is_none() && cpp_error.matches(fatal));
  if (is_paid && !is_fatal) {
    if (!on_failure) raised->keep(error);
    throw Error(ErrorCode::kIo, line_of(error));
  }
  raised->stop(error);
  throw Error(ErrorCode::kInterrupted, "a function ended the run");
}

PythonFactor::PythonFactor(FunctionTraits traits) : traits_(std::move(traits)) {}

py::object PythonFactor::call(std::span<const int> states) const {
  std::array<PyObject*, kFewArguments> few = {};
  std::vector<PyObject*> many;
  PyObject** arguments = few.data();
  if (states.size() > few.size()) {
    many.resize(states.size());
    arguments = many.data();
  }
  for (std::size_t i = 0; i < states.size(); ++i) {
    arguments[i] = traits_.labels[i][static_cast<std::size_t>(states[i])].ptr();
  }
  return py::reinterpret_steal<py::object>(
      PyObject_Vectorcall(traits_.function.ptr(), arguments, states.size(), nullptr));
}

double PythonFactor::value_of(const py::object& returned, std::span<const int> states) const {
  const double value = returned ? PyFloat_AsDouble(returned.ptr()) : -1.0;
  if (value == -1.0 && PyErr_Occurred() != nullptr) {
    // A worker's rule for failures is the library's.
    if (!traits_.is_paid && traits_.on_failure && PyErr_ExceptionMatches(PyExc_Exception) != 0) {
      PyErr_Clear();
      return *traits_.on_failure;
    }
    traits_.throw_set(states);
  }
  return !traits_.is_paid && traits_.on_failure && !has_value(value) ? *traits_.on_failure : value;
}

double PythonFactor::operator()(std::span<const int> states) const {
  const py::gil_scoped_acquire interpreter;
  return value_of(call(states), states);
}

std::optional<std::vector<int>> PythonFactor::places_of(const py::object& names) const {
  std::vector<int> places;
  const auto list = py::reinterpret_steal<py::object>(PySequence_Fast(names.ptr(), "a witness is a list of names"));
  if (!list) return {};
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.ptr()); ++i) {
    const auto item = py::reinterpret_borrow<py::object>(PySequence_Fast_GET_ITEM(list.ptr(), i));
    const std::string name = py::str(py::getattr(item, "name", item)).cast<std::string>();
    const auto found = std::find(traits_.names.begin(), traits_.names.end(), name);
    if (found == traits_.names.end()) {
      PyErr_SetString(PyExc_ValueError, ("the witness names " + name + ", which is no variable of the factor").c_str());
      return {};
    }
    places.push_back(static_cast<int>(found - traits_.names.begin()));
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

py::tuple PythonFactor::arguments(std::span<const int> states) const {
  py::tuple labels(states.size());
  for (std::size_t i = 0; i < states.size(); ++i) labels[i] = traits_.labels[i][static_cast<std::size_t>(states[i])];
  return labels;
}

FactorValue PythonFactor::explain(std::span<const int> states) const {
  const py::gil_scoped_acquire interpreter;
  return explained(call(states), states);
}

FactorValue PythonFactor::explained(py::object returned, std::span<const int> states) const {
  if (!returned || !PyTuple_Check(returned.ptr()) || PyTuple_GET_SIZE(returned.ptr()) != 2) {
    return {value_of(returned, states)};
  }
  const auto pair = py::reinterpret_borrow<py::tuple>(returned);
  std::optional<std::vector<int>> witness;
  if (!pair[1].is_none()) {
    witness = places_of(pair[1]);
    if (!witness) returned = py::object();  // an exception is set
  }
  return {value_of(returned ? py::object(pair[0]) : returned, states), std::move(witness)};
}

Factor::Function PythonFactor::as_function(FunctionTraits traits) {
  return [factor = kept<PythonFactor>(std::move(traits))](std::span<const int> states) { return (*factor)(states); };
}

Factor::Explained PythonFactor::as_explained(FunctionTraits traits) {
  return
      [factor = kept<PythonFactor>(std::move(traits))](std::span<const int> states) { return factor->explain(states); };
}

py::tuple PythonBatch::arguments(std::span<const int> rows, int count) const {
  return py::make_tuple(
      States({static_cast<py::ssize_t>(count), static_cast<py::ssize_t>(traits_.names.size())}, rows.data()));
}

void PythonBatch::operator()(std::span<const int> rows, int count, std::span<double> values) const {
  const py::gil_scoped_acquire interpreter;
  const auto returned =
      py::reinterpret_steal<py::object>(PyObject_Call(traits_.function.ptr(), arguments(rows, count).ptr(), nullptr));
  take(returned, rows, count, values);
}

void PythonBatch::take(const py::object& returned, std::span<const int> rows, int count,
                       std::span<double> values) const {
  const py::object numbers = numbers_of(returned);
  const std::span<const int> told = count == 1 ? rows : std::span<const int>();
  if (numbers) {
    const auto array = py::reinterpret_borrow<Doubles>(numbers);
    if (array.size() == count) {
      std::copy(array.data(), array.data() + count, values.begin());
      if (traits_.is_paid || !traits_.on_failure) return;
      for (double& value : values) value = has_value(value) ? value : *traits_.on_failure;
      return;
    }
    const std::string text =
        "the function returned " + std::to_string(array.size()) + " numbers for " + std::to_string(count) + " rows";
    PyErr_SetString(PyExc_ValueError, text.c_str());
  } else if (returned) {
    PyErr_Clear();
    PyErr_SetString(PyExc_TypeError, "the function returned no array of numbers");
  }
  if (!traits_.is_paid && traits_.on_failure && PyErr_ExceptionMatches(PyExc_Exception) != 0) {
    PyErr_Clear();
    std::fill(values.begin(), values.end(), *traits_.on_failure);
    return;
  }
  traits_.throw_set(told);
}

Factor::BatchFunction PythonBatch::as_function(FunctionTraits traits) {
  return [factor = kept<PythonBatch>(std::move(traits))](std::span<const int> rows, int count,
                                                         std::span<double> values) { (*factor)(rows, count, values); };
}

}  // namespace treesample::python
