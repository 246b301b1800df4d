// What the user's functions raised during a run, so that it arrives as itself: the library hands on only a message.
#pragma once

#include <atomic>
#include <memory>

#include "bindings.hpp"

namespace treesample::python {

// All but is_stopped() need the interpreter.
class Raised {
 public:
  // The library ends the run with an error for it, or does not.
  void keep(py::object error) { last_ = std::move(error); }
  // The run has to end with the answer so far. The first one counts; but Ctrl-C in a terminal reaches the processes of
  // an executor as well, and may break that before it is noticed here: it is what ended the run then.
  void stop(py::object error) {
    const bool is_ctrl_c = PyErr_GivenExceptionMatches(error.ptr(), PyExc_KeyboardInterrupt) != 0;
    if (!is_stopped_ || is_ctrl_c) first_ = std::move(error);
    is_stopped_ = true;
  }
  [[nodiscard]] bool is_stopped() const { return is_stopped_; }
  // What ended the run, or what was kept last, or None; and forgets: exceptions refer to much.
  py::object take() {
    py::object error = is_stopped_ ? std::move(first_) : std::move(last_);
    forget();
    return error;
  }
  void forget() {
    first_ = last_ = py::none();
    is_stopped_ = false;
  }

 private:
  py::object first_ = py::none(), last_ = py::none();
  std::atomic<bool> is_stopped_ = false;
};

}  // namespace treesample::python
