// Waiting that Ctrl-C ends.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>

#include "treesample/error.hpp"
#include "treesample/oracle/oracle_set.hpp"

namespace treesample::python {

// A server that does not answer is waited for: the interpreter is free meanwhile, and Ctrl-C ends the wait.
template <class Read>
auto interruptible(OracleOptions& options, const Read& read) {
  std::optional<pybind11::error_already_set> interrupt;
  options.is_interrupted = [&interrupt] {
    const pybind11::gil_scoped_acquire interpreter;
    if (PyErr_CheckSignals() != 0) interrupt.emplace();
    return interrupt.has_value();
  };
  try {
    const pybind11::gil_scoped_release others_may_run;
    return read();
  } catch (const Error&) {
    if (interrupt) throw *interrupt;
    throw;
  }
}

}  // namespace treesample::python
