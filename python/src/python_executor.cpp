#include "python_executor.hpp"

#include <chrono>
#include <cmath>
#include <iterator>
#include <span>
#include <utility>

#include "treesample/error.hpp"
#include "treesample/io/program_set.hpp"

namespace treesample::python {
namespace {

constexpr std::size_t kFirstState = 2;  // of the arguments of a call: factor, number of rows, states

std::vector<int> states_of(const Executor::Task& call) {
  std::vector<int> states;
  for (std::size_t i = kFirstState; i < call.arguments.size(); ++i) {
    states.push_back(static_cast<int>(call.arguments[i]));
  }
  return states;
}

}  // namespace

// ---- Inbox ---------------------------------------------------------------------------------------------------------

Inbox::~Inbox() {
  const py::gil_scoped_acquire interpreter;
  arrived_.clear();
}

void Inbox::add(Arrived arrived) {
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_) return;
    arrived_.push_back(std::move(arrived));
  }
  has_arrived_.notify_one();
}

void Inbox::put(std::int64_t number, py::object value, double seconds, std::string worker) {
  add({number, std::move(value), py::none(), seconds, std::move(worker)});
}

void Inbox::put_error(std::int64_t number, py::object error) { add({number, py::none(), std::move(error), 0.0, ""}); }

void Inbox::close() {
  std::deque<Arrived> dropped;
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  dropped.swap(arrived_);
}

std::deque<Inbox::Arrived> Inbox::take(double most_seconds) {
  std::unique_lock lock(mutex_);
  has_arrived_.wait_for(lock, std::chrono::duration<double>(most_seconds), [this] { return !arrived_.empty(); });
  std::deque<Arrived> taken;
  taken.swap(arrived_);
  return taken;
}

// ---- PythonExecutor ------------------------------------------------------------------------------------------------

PythonExecutor::PythonExecutor(py::object door, py::object work, std::shared_ptr<Raised> raised, int num_workers)
    : door_(std::move(door)), work_(std::move(work)), raised_(std::move(raised)), num_workers_(num_workers) {
  check_range("executor", "workers", num_workers, 0, ProgramSet::kMaxWorkers);
}

PythonExecutor::~PythonExecutor() {
  const py::gil_scoped_acquire interpreter;
  inbox_->close();
  functions_.clear();
  shared_.clear();
  door_ = work_ = py::object();
}

void PythonExecutor::add_function(int factor, FunctionTraits traits, bool takes_batches) {
  Function& function = functions_[factor];
  if (takes_batches) {
    function.batch = std::make_unique<PythonBatch>(std::move(traits));
  } else {
    function.single = std::make_unique<PythonFactor>(std::move(traits));
  }
}

template <class Work>
auto PythonExecutor::with_interpreter(Work work) const {
  const py::gil_scoped_acquire interpreter;
  try {
    return work();
  } catch (py::error_already_set& error) {
    raised_->stop(error.value());
    throw Error(ErrorCode::kInterrupted, "the executor ended the run");
  }
}

int PythonExecutor::num_workers() const {
  if (num_workers_ > 0) return num_workers_;
  return with_interpreter([&] { return door_.attr("num_workers")().cast<int>(); });
}

std::int64_t PythonExecutor::share(std::string bytes) {
  with_interpreter([&] { shared_.push_back(door_.attr("share")(py::bytes(bytes))); });
  return std::ssize(shared_) - 1;
}

py::tuple PythonExecutor::call_of(std::int64_t number, const Executor::Task& task) const {
  if (task.kind != "call") {
    const py::object shared = task.shared < 0 ? py::object(py::none()) : shared_[static_cast<std::size_t>(task.shared)];
    return py::make_tuple(number, work_, py::make_tuple(shared, task.kind, task.arguments));
  }
  const Function& function = functions_.at(static_cast<int>(task.arguments[0]));
  const std::vector<int> states = states_of(task);
  return function.batch ? py::make_tuple(number, function.batch->function(),
                                         function.batch->arguments(states, static_cast<int>(task.arguments[1])))
                        : py::make_tuple(number, function.single->function(), function.single->arguments(states));
}

std::int64_t PythonExecutor::submit(std::vector<Executor::Task> tasks) {
  const std::int64_t first = next_number_;
  with_interpreter([&] {
    py::list calls;
    for (Executor::Task& task : tasks) {
      calls.append(call_of(next_number_, task));
      under_way_.emplace(next_number_++, std::move(task));
    }
    door_.attr("submit")(calls, inbox_);
  });
  return first;
}

// The interpreter is held, and an exception is set where `returned` is null.
std::vector<double> PythonExecutor::values_of(const Executor::Task& task, const py::object& returned) const {
  if (task.kind != "call") {
    if (!returned) throw py::error_already_set();
    const auto array = returned.cast<Doubles>();
    return {array.data(), array.data() + array.size()};
  }
  const Function& function = functions_.at(static_cast<int>(task.arguments[0]));
  const std::vector<int> states = states_of(task);
  if (function.batch) {
    std::vector<double> values(static_cast<std::size_t>(task.arguments[1]));
    function.batch->take(returned, states, static_cast<int>(values.size()), values);
    return values;
  }
  const FactorValue value = function.single->explained(returned, states);
  std::vector<double> values{value.log_value};
  if (value.witness) {
    values.push_back(NAN);
    values.insert(values.end(), value.witness->begin(), value.witness->end());
  }
  return values;
}

std::vector<Executor::Result> PythonExecutor::take(double most_seconds) {
  std::deque<Inbox::Arrived> all = inbox_->take(most_seconds);
  std::vector<Executor::Result> results;
  if (all.empty()) return results;
  const py::gil_scoped_acquire interpreter;
  for (Inbox::Arrived& arrived : all) {
    const auto task = under_way_.extract(arrived.number);
    if (task.empty()) continue;  // it was done before
    Executor::Result& result = results.emplace_back();
    result.number = arrived.number;
    result.seconds = arrived.seconds;
    result.worker = std::move(arrived.worker);
    const bool has_failed = !arrived.error.is_none();
    if (has_failed) PyErr_SetObject(py::type::of(arrived.error).ptr(), arrived.error.ptr());
    try {
      result.values = values_of(task.mapped(), has_failed ? py::object() : arrived.value);
    } catch (const Error& error) {
      result.error = error;
      result.is_executor_broken = error.code() == ErrorCode::kInterrupted;
    } catch (py::error_already_set& error) {
      raised_->stop(error.value());
      result.error = Error(ErrorCode::kInterrupted, error.what());
      result.is_executor_broken = true;
    }
  }
  all.clear();
  return results;
}

void PythonExecutor::cancel() {
  const py::gil_scoped_acquire interpreter;
  under_way_.clear();
  try {
    door_.attr("cancel")();
  } catch (py::error_already_set&) {  // an executor that is gone has nothing under way
  }
}

}  // namespace treesample::python
