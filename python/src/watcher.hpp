// Who watches a run for Python: progress goes to a callable, and Ctrl-C ends it with the answer so far.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "bindings.hpp"
#include "raised.hpp"
#include "treesample/space/limits.hpp"

namespace treesample::python {

class Watcher {
 public:
  // `progress` may be None. Made on the thread that will run, with the interpreter held. What a signal or a callable
  // raises stops the run, and is in `raised`.
  Watcher(py::object progress, std::shared_ptr<Raised> raised)
      : progress_(std::move(progress)), raised_(std::move(raised)) {}

  // To be used while the interpreter is not held. The watcher must outlive it.
  Observer observer();

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

  py::object progress_;
  const std::shared_ptr<Raised> raised_;
  std::thread::id thread_ = std::this_thread::get_id();
  Clock::time_point next_look_ = Clock::now(), next_report_ = Clock::now();
};

}  // namespace treesample::python
