// A Python executor as the library's (treesample/executor.hpp): a process pool, Dask, MPI, whatever can call a function
// somewhere else (treesample/_executor.py knows how they differ).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "python_factor.hpp"
#include "raised.hpp"
#include "treesample/executor.hpp"

namespace treesample::python {

// Where results arrive, from any thread. It lives as long as somebody may put something into it.
class Inbox {
 public:
  struct Arrived {
    std::int64_t number = 0;
    py::object value, error;  // one of both is None
    double seconds = 0.0;
    std::string worker;
  };

  ~Inbox();
  // Both need the interpreter. What arrives after close() is dropped.
  void put(std::int64_t number, py::object value, double seconds, std::string worker);
  void put_error(std::int64_t number, py::object error);
  void close();
  // All that has arrived; waits for it at most this long. Neither needs the interpreter, nor may it be held.
  std::deque<Arrived> take(double most_seconds);

 private:
  void add(Arrived arrived);

  std::mutex mutex_;
  std::condition_variable has_arrived_;
  std::deque<Arrived> arrived_;
  bool is_closed_ = false;
};

class PythonExecutor final : public Executor {
 public:
  // The door has num_workers(), share(bytes), submit(list of (number, function, arguments), inbox) and cancel(); `work`
  // is the function that does all tasks but calls: work(shared, kind, arguments) returns an array of doubles. With
  // num_workers = 0, the door says how many there are.
  PythonExecutor(py::object door, py::object work, std::shared_ptr<Raised> raised, int num_workers);
  ~PythonExecutor() override;
  PythonExecutor(const PythonExecutor&) = delete;
  PythonExecutor& operator=(const PythonExecutor&) = delete;

  // The function of a factor, that takes rows of states in batches or labels.
  void add_function(int factor, FunctionTraits traits, bool takes_batches);

  [[nodiscard]] int num_workers() const override;
  std::int64_t share(std::string bytes) override;
  std::int64_t submit(std::vector<Executor::Task> tasks) override;
  std::vector<Executor::Result> take(double most_seconds) override;
  void cancel() override;

 private:
  struct Function {
    std::unique_ptr<PythonFactor> single;  // one of both is null
    std::unique_ptr<PythonBatch> batch;
  };

  [[nodiscard]] py::tuple call_of(std::int64_t number, const Executor::Task& task) const;
  [[nodiscard]] std::vector<double> values_of(const Executor::Task& task, const py::object& returned) const;
  // Calls work with the interpreter. What it raises ends the run.
  template <class Work>
  auto with_interpreter(Work work) const;

  py::object door_, work_;
  const std::shared_ptr<Raised> raised_;
  const int num_workers_;
  const std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
  std::map<int, Function> functions_;
  std::vector<py::object> shared_;  // as the door hands them on
  std::map<std::int64_t, Executor::Task> under_way_;
  std::int64_t next_number_ = 0;
};

}  // namespace treesample::python
