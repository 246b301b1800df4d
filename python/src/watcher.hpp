// Who watches a run for Python: progress and remarks go to callables, and Ctrl-C ends it with the answer so far.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "bindings.hpp"
#include "treesample/space/limits.hpp"

namespace treesample::python {

class Watcher {
 public:
  // Either may be None. Made, and its error taken, on the thread that will run, with the interpreter held.
  Watcher(py::object progress, py::object remark) : progress_(std::move(progress)), remark_(std::move(remark)) {}

  // To be used while the interpreter is not held. The watcher must outlive it.
  Observer observer();
  // What a signal or a callable raised, which ended the run; None otherwise.
  [[nodiscard]] const py::object& error() const { return error_; }

 private:
  using Clock = std::chrono::steady_clock;
  // Signals are looked for this often: taking the interpreter costs microseconds, and a person waits for a tenth of a
  // second without noticing.
  static constexpr std::chrono::milliseconds kBetweenLooks{20};
  static constexpr std::chrono::milliseconds kBetweenReports{100};

  bool is_asked_to_stop();
  void tell(const Progress& progress);
  // Calls work with the interpreter; what it raises ends the run.
  template <class Work>
  void with_interpreter(Work work);

  py::object progress_, remark_;
  py::object error_ = py::none();
  std::atomic<bool> is_stopped_ = false;
  std::thread::id thread_ = std::this_thread::get_id();
  Clock::time_point next_look_ = Clock::now(), next_report_ = Clock::now();
};

}  // namespace treesample::python
