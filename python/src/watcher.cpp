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
  return observer;
}

template <class Work>
void Watcher::with_interpreter(Work work) {
  const py::gil_scoped_acquire interpreter;
  try {
    work();
  } catch (py::error_already_set& error) {
    raised_->stop(error.value());
  }
}

bool Watcher::is_asked_to_stop() {
  // Other threads of the run ask too; signals are the business of the one that Python knows.
  if (raised_->is_stopped() || std::this_thread::get_id() != thread_) return raised_->is_stopped();
  const Clock::time_point now = Clock::now();
  if (now < next_look_) return false;
  next_look_ = now + kBetweenLooks;
  with_interpreter([] {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  });
  return raised_->is_stopped();
}

void Watcher::tell(const Progress& progress) {
  if (raised_->is_stopped() || std::this_thread::get_id() != thread_) return;
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
    report["calls"] = progress.spent.calls;
    report["best"] = progress.best ? number_or_none(*progress.best) : py::none();
    report["samples"] = progress.num_samples;
    report["share"] = progress.share_done ? py::object(py::float_(*progress.share_done)) : py::none();
    progress_(report);
  });
}

}  // namespace treesample::python
