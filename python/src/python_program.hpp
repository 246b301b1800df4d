// A model that is a Python object which builds an object step by step (treesample/_program.py).
#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "raised.hpp"
#include "treesample/program/infer_program.hpp"

namespace treesample::python {

// A program whose states and actions Python can name. These need the interpreter to be held.
class NamedProgram {
 public:
  virtual ~NamedProgram() = default;
  virtual NumberedProgram& numbered() = 0;
  virtual py::object state(StateId id) = 0;
  // The names of its actions: those of transitions, by their numbers.
  virtual py::object labels(StateId state) = 0;
};

// A bundled environment (treesample/program/environments.hpp), whose texts are JSON.
class Environment final : public NamedProgram {
 public:
  explicit Environment(std::unique_ptr<NumberedProgram> program) : program_(std::move(program)) {}
  NumberedProgram& numbered() override { return *program_; }
  py::object state(StateId id) override;
  py::object labels(StateId state) override;

 private:
  std::unique_ptr<NumberedProgram> program_;
};

// States are any hashable values. All functions take the interpreter; what Python raises passes through as it is, but
// for Ctrl-C, which ends the run with the answer so far.
class PythonProgram final : public NamedProgram, public NumberedProgram {
 public:
  // `functions` has the program's functions by name; those that it does not define are missing. `rewards` computes
  // several rewards: a list of ends in, a list of numbers out.
  PythonProgram(py::dict functions, const std::string& objects, bool is_ordered, std::shared_ptr<Raised> raised);

  [[nodiscard]] ProgramParts parts() const override { return parts_; }
  StateId start() override;
  bool is_end(StateId state) override;
  void actions(StateId state, std::vector<Transition>& out) override;
  void rewards(std::span<const StateId> ends, std::span<double> values) override;
  double upper(StateId state) override { return parts_.has_upper ? number("upper", state) : HUGE_VAL; }
  double value(StateId state) override { return parts_.has_value ? number("value", state) : 0.0; }
  double log_paths(StateId end) override { return parts_.has_log_paths ? number("log_paths", end) : 0.0; }
  std::vector<int> encode(StateId end) override;
  void compare_merged(bool is_on) override { compares_merged_ = is_on; }
  [[nodiscard]] std::string text(StateId state) override;
  [[nodiscard]] std::string action_text(StateId state, int action) override;
  [[nodiscard]] std::string key(StateId state) override;
  [[nodiscard]] std::size_t num_states() const override { return states_.size(); }
  [[nodiscard]] std::size_t bytes() const override { return states_.size() * kBytesPerState; }

  NumberedProgram& numbered() override { return *this; }
  py::object state(StateId id) override { return states_[id]; }
  py::object labels(StateId state) override;

 private:
  static constexpr std::size_t kBytesPerState = 250;  // a guess: a small tuple, its entry in a dict, and its hash

  template <class Work>
  auto with_interpreter(Work work);
  [[nodiscard]] bool has(const char* function) const { return functions_.contains(function); }
  py::object call(const char* function, const py::object& argument) const;
  double number(const char* function, StateId state);
  double as_number(const py::object& value, const std::string& what) const;
  StateId id_of(py::object given);
  void compare(const py::object& given, const py::object& merged);
  void check_kind(const py::object& state);
  const py::object& unchanged(StateId state);
  Transition transition_of(const py::object& item, int action, StateId from);

  py::dict functions_;
  const std::shared_ptr<Raised> raised_;
  ProgramParts parts_;
  py::dict ids_;
  std::vector<py::object> states_;
  std::vector<Py_hash_t> hashes_;
  py::object last_type_ = py::none();  // of a state that was checked
  bool compares_merged_ = false;
};

}  // namespace treesample::python
