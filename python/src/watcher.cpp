#include "watcher.hpp"

#include <cmath>

namespace treesample::python {
namespace {

py::object number_or_none(double value) { return std::isfinite(value) ? py::object(py::float_(value)) : py::none(); }

}  // namespace

Observer Watcher::observer() {
  Observer observer;
  observer.should_stop = [this] { return is_asked_to_stop(); };
  if (!progress_.is_none()) observer.progress = [this](const Progress& progress) { tell(progress); };
  if (!remark_.is_none()) {
    observer.remark = [this](const std::string& text) { with_interpreter([&] { remark_(text); }); };
  }
  return observer;
}

template <class Work>
void Watcher::with_interpreter(Work work) {
  const py::gil_scoped_acquire interpreter;
  try {
    work();
  } catch (py::error_already_set& error) {
    if (error_.is_none()) error_ = error.value();
    is_stopped_ = true;
  }
}

bool Watcher::is_asked_to_stop() {
  // Other threads of the run ask too; signals are the business of the one that Python knows.
  if (is_stopped_ || std::this_thread::get_id() != thread_) return is_stopped_;
  const Clock::time_point now = Clock::now();
  if (now < next_look_) return false;
  next_look_ = now + kBetweenLooks;
  with_interpreter([] {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  });
  return is_stopped_;
}

void Watcher::tell(const Progress& progress) {
  if (is_stopped_ || std::this_thread::get_id() != thread_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_report_) return;
  next_report_ = now + kBetweenReports;
  with_interpreter([&] {
    py::dict report;
    report["phase"] = progress.phase;
    report["seconds"] = progress.seconds;
    report["lower"] = number_or_none(progress.log_z.lower);
    report["upper"] = number_or_none(progress.log_z.upper);
    report["estimate"] = progress.estimate ? number_or_none(*progress.estimate) : py::none();
    report["evaluations"] = progress.spent.reward_evaluations;
    report["samples"] = progress.num_samples;
    report["share"] = progress.share_done ? py::object(py::float_(*progress.share_done)) : py::none();
    progress_(report);
  });
}

}  // namespace treesample::python
