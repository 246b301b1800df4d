#include "python_program.hpp"

#include <cmath>

#include "treesample/error.hpp"
#include "treesample/text.hpp"

namespace treesample::python {
namespace {

constexpr std::size_t kShown = 80;  // bytes of a state in a message

// Those that a tuple consists of; none where it has others.
std::vector<int> numbers_of(const py::object& state) {
  std::vector<int> numbers;
  if (!PyTuple_Check(state.ptr())) return numbers;
  for (const py::handle item : py::reinterpret_borrow<py::tuple>(state)) {
    int overflow = 0;
    const long number = PyLong_Check(item.ptr()) ? PyLong_AsLongAndOverflow(item.ptr(), &overflow) : -1;
    if (overflow != 0 || number < 0 || number > 1'000'000) return {};
    numbers.push_back(static_cast<int>(number));
  }
  return numbers;
}

// Text that cannot be written as UTF-8 has escapes instead.
std::string utf8(const py::handle& text) {
  return text.attr("encode")("utf-8", "backslashreplace").cast<std::string>();
}

std::string shown(const py::handle& value) { return shortened(utf8(py::repr(value)), kShown); }

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorCode::kArgument, "program: " + what); }

}  // namespace

// Lists become tuples, which are hashable.
py::object Environment::state(StateId id) {
  const auto frozen = [](auto& self, const py::object& value) -> py::object {
    if (!PyList_Check(value.ptr())) return value;
    py::list items;
    for (const py::handle item : value) items.append(self(self, py::reinterpret_borrow<py::object>(item)));
    return py::tuple(items);
  };
  return frozen(frozen, py::module_::import("json").attr("loads")(program_->text(id)));
}

py::object Environment::labels(StateId state) {
  std::vector<Transition> transitions;
  program_->actions(state, transitions);
  py::dict labels;
  for (const Transition& t : transitions) labels[py::int_(t.action)] = program_->action_text(state, t.action);
  return labels;
}

PythonProgram::PythonProgram(py::dict functions, const std::string& objects, bool is_ordered,
                             std::shared_ptr<Raised> raised)
    : functions_(std::move(functions)), raised_(std::move(raised)) {
  parts_.objects = objects == "paths" ? ProgramObjects::kPaths : ProgramObjects::kEnds;
  parts_.has_reward = has("rewards");
  parts_.has_upper = has("upper");
  parts_.has_value = has("value");
  parts_.has_log_paths = has("log_paths") && parts_.objects == ProgramObjects::kPaths;
  parts_.has_encoding = has("encode");
  parts_.is_ordered = is_ordered;
}

template <class Work>
auto PythonProgram::with_interpreter(Work work) {
  const py::gil_scoped_acquire interpreter;
  try {
    return work();
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_KeyboardInterrupt)) throw;
    raised_->stop(error.value());
    throw Error(ErrorCode::kInterrupted, "program: interrupted");
  }
}

// What it raises has a note that says where.
py::object PythonProgram::call(const char* function, const py::object& argument) const {
  try {
    return functions_[function](argument);
  } catch (py::error_already_set& error) {
    const py::object value = error.value();
    if (py::hasattr(value, "add_note"))
      value.attr("add_note")(std::string("in ") + function + "(" + shown(argument) + ")");
    throw;
  }
}

double PythonProgram::as_number(const py::object& value, const std::string& what) const {
  const double number = PyFloat_AsDouble(value.ptr());
  if (number == -1.0 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    refuse(what + " is " + shown(value) + ", allowed are numbers");
  }
  return number;
}

double PythonProgram::number(const char* function, StateId state) {
  return with_interpreter([&] {
    const py::object argument = unchanged(state);
    return as_number(call(function, argument), std::string(function) + "(" + shown(argument) + ")");
  });
}

// Values that are compared by identity are never met again: an object of a class without __eq__.
void PythonProgram::check_kind(const py::object& state) {
  const py::object type = py::type::of(state);
  if (type.is(last_type_)) return;
  if (type.attr("__hash__").is(py::module_::import("builtins").attr("object").attr("__hash__")) && !state.is_none()) {
    refuse("the state " + shown(state) +
           " is compared by identity: states are values, such as numbers, texts, tuples, "
           "frozen sets and frozen dataclasses");
  }
  last_type_ = type;
}

StateId PythonProgram::id_of(py::object given) {
  py::object state = has("merge") ? call("merge", given) : given;
  const Py_hash_t hash = PyObject_Hash(state.ptr());
  if (hash == -1 && PyErr_Occurred() != nullptr) {
    if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw py::error_already_set();
    PyErr_Clear();
    refuse("the state " + shown(state) +
           " is not hashable: states are values, such as numbers, texts, tuples, frozen "
           "sets and frozen dataclasses");
  }
  check_kind(state);
  if (compares_merged_ && !state.is(given)) compare(given, state);
  PyObject* const known = PyDict_GetItemWithError(ids_.ptr(), state.ptr());
  if (known != nullptr) return static_cast<StateId>(PyLong_AsUnsignedLong(known));
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  const auto id = static_cast<StateId>(states_.size());
  ids_[state] = id;
  hashes_.push_back(hash);
  states_.push_back(std::move(state));
  return id;
}

void PythonProgram::compare(const py::object& given, const py::object& merged) {
  const auto end = [&](const py::object& state) { return py::bool_(call("is_end", state)).cast<bool>(); };
  const auto reward = [&](const py::object& state) {
    py::list ends;
    ends.append(state);
    return py::list(call("rewards", ends))[0].cast<double>();
  };
  bool is_same = end(given) == end(merged);
  if (is_same && end(given) && parts_.has_reward) {
    const double a = reward(given), b = reward(merged);
    is_same = a == b || std::abs(a - b) <= 1e-9 * (1.0 + std::abs(a));
  }
  if (!is_same)
    refuse("merge makes " + shown(given) + " the same as " + shown(merged) + ", but they differ in is_end or reward");
}

const py::object& PythonProgram::unchanged(StateId state) {
  if (PyObject_Hash(states_[state].ptr()) != hashes_[state]) {
    PyErr_Clear();
    refuse("the state " + shown(states_[state]) + " has changed since the program returned it");
  }
  return states_[state];
}

StateId PythonProgram::start() {
  return with_interpreter([&] { return id_of(functions_["start"]()); });
}

bool PythonProgram::is_end(StateId state) {
  return with_interpreter([&] {
    const int is_end = PyObject_IsTrue(call("is_end", unchanged(state)).ptr());
    if (is_end < 0) throw py::error_already_set();
    return is_end == 1;
  });
}

// (action, next state) or (action, next state, log reward), which may be None.
Transition PythonProgram::transition_of(const py::object& item, int action, StateId from) {
  const bool is_tuple = PyTuple_Check(item.ptr()) != 0;
  const Py_ssize_t size = is_tuple ? PyTuple_GET_SIZE(item.ptr()) : 0;
  if (size != 2 && size != 3) {
    refuse("actions(" + shown(states_[from]) + ") gives " + shown(item) +
           ", allowed are (action, next state) and (action, next state, log reward)");
  }
  Transition transition{0.0, 0, action};
  const auto part = [&](Py_ssize_t i) { return py::reinterpret_borrow<py::object>(PyTuple_GET_ITEM(item.ptr(), i)); };
  if (size == 3 && !part(2).is_none()) transition.log_reward = as_number(part(2), "a log reward in " + shown(item));
  transition.next = id_of(part(1));
  return transition;
}

void PythonProgram::actions(StateId state, std::vector<Transition>& out) {
  with_interpreter([&] {
    int action = 0;
    const py::object argument = unchanged(state);
    const py::object given = call("actions", argument);
    try {
      for (const py::handle item : py::iter(given)) {
        out.push_back(transition_of(py::reinterpret_borrow<py::object>(item), action++, state));
      }
    } catch (py::error_already_set& error) {
      if (error.matches(PyExc_TypeError) && !py::hasattr(given, "__iter__")) {
        refuse("actions(" + shown(argument) + ") gives " + shown(given) +
               ", allowed are lists and generators of actions");
      }
      throw;
    }
  });
}

void PythonProgram::rewards(std::span<const StateId> ends, std::span<double> values) {
  with_interpreter([&] {
    py::list list;
    for (const StateId end : ends) list.append(unchanged(end));
    const py::list numbers = functions_["rewards"](list);
    for (std::size_t i = 0; i < ends.size(); ++i) {
      values[i] = as_number(numbers[i], "reward(" + shown(states_[ends[i]]) + ")");
    }
  });
}

std::vector<int> PythonProgram::encode(StateId end) {
  return with_interpreter([&] {
    const py::object argument = unchanged(end);
    if (!parts_.has_encoding) return numbers_of(argument);
    const py::object given = call("encode", argument);
    try {
      return given.cast<std::vector<int>>();
    } catch (const py::cast_error&) {
      refuse("encode(" + shown(argument) + ") is " + shown(given) +
             ", allowed are whole numbers from 0, one for each feature");
    }
  });
}

std::string PythonProgram::text(StateId state) {
  return with_interpreter([&] { return utf8(py::repr(states_[state])); });
}

std::string PythonProgram::key(StateId state) {
  return with_interpreter([&] { return utf8(py::str(call("key", states_[state]))); });
}

py::object PythonProgram::labels(StateId state) {
  py::list labels;
  for (const py::handle item : py::iter(call("actions", states_[state])))
    labels.append(py::tuple(py::reinterpret_borrow<py::object>(item))[0]);
  return labels;
}

std::string PythonProgram::action_text(StateId state, int action) {
  return with_interpreter([&] {
    const py::list all = labels(state);
    if (static_cast<std::size_t>(action) >= all.size()) return std::to_string(action);
    return utf8(py::repr(all[static_cast<std::size_t>(action)]));
  });
}

}  // namespace treesample::python
