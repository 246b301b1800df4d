// The one interface to everything that computes expensive factors: an external program or a callable.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "oracle/child_process.hpp"
#include "treesample/error.hpp"
#include "treesample/io/json_model.hpp"
#include "treesample/model/factor.hpp"

namespace treesample {

// Thrown if the stop signal was raised while an oracle was waiting.
struct OracleStopped {};

// Thrown if an oracle cannot work at all, so that there is no point in trying again.
struct OracleBroken {
  std::string text;
};

// The answer of an oracle for one assignment: a number, which is not checked yet, or the reason why there is none.
struct Evaluation {
  double log_value = 0.0;
  std::string failure = {};                      // not empty: there is no value
  std::optional<std::vector<int>> witness = {};  // as in FactorValue
};

// Each oracle belongs to one worker and is used by its thread only.
class Oracle {
 public:
  virtual ~Oracle() = default;
  // Does what is needed before an evaluation but is not part of its cost, such as starting a program.
  virtual void prepare() {}
  // psi of a factor at each assignment of a batch: one attempt, after prepare. An exception from either function is a
  // failure of the whole batch; the caller decides whether to try again.
  virtual std::vector<Evaluation> log_values(int factor, std::span<const std::vector<int>> batch) = 0;
};

// Makes oracles for workers, and says how to use them.
struct OracleSource {
  std::function<std::unique_ptr<Oracle>(const StopSignal& stop)> make;
  int max_batch = 1;
  int max_retries = 0;
  FailureRule on_failure = {};
  double max_failure_share = kMaxFailureShare;
  std::string description;  // for messages: "program 'simulator'"
};

// A C++ function; its failures are not retried.
class CallableOracle final : public Oracle {
 public:
  explicit CallableOracle(Factor factor) : factor_(std::move(factor)) {}
  std::vector<Evaluation> log_values(int, std::span<const std::vector<int>> batch) override {
    try {
      return factor_.batch() ? together(batch) : one_by_one(batch);
    } catch (const Error& error) {
      // This is not a failure: the function asks the run to end.
      if (error.code() == ErrorCode::kInterrupted) throw OracleBroken{error.what()};
      throw;
    }
  }

 private:
  // -0 becomes 0: a journal does not store the sign of 0.
  [[nodiscard]] std::vector<Evaluation> one_by_one(std::span<const std::vector<int>> batch) const {
    std::vector<Evaluation> values;
    for (const std::vector<int>& states : batch) {
      FactorValue value = factor_.explain(states);
      values.push_back({value.log_value + 0.0, {}, std::move(value.witness)});
    }
    return values;
  }
  [[nodiscard]] std::vector<Evaluation> together(std::span<const std::vector<int>> batch) {
    rows_.clear();
    for (const std::vector<int>& states : batch) rows_.insert(rows_.end(), states.begin(), states.end());
    std::vector<double> log_values(batch.size());
    factor_.batch()(rows_, static_cast<int>(batch.size()), log_values);
    std::vector<Evaluation> values;
    for (const double value : log_values) values.push_back({value + 0.0});
    return values;
  }

  Factor factor_;
  std::vector<int> rows_;
};

}  // namespace treesample
