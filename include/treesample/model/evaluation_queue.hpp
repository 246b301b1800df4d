// Factor evaluations that take long: they are requested now and answered later, several at a time.
//
// A search that keeps P programs busy submits evaluations as long as it has some to make, then waits for whichever is
// answered first (or, to be reproducible, for the oldest) and continues. A factor graph carries the queue that
// evaluates its functions (FactorGraph::evaluation_queue).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "treesample/error.hpp"

namespace treesample {

struct OracleQuestion {
  int factor = 0;           // index in the model
  std::vector<int> states;  // of its scope, in scope order
  // 0 asks for the value, which is remembered and paid for once. A number n above 0 asks for the n-th repeated
  // evaluation, which shows whether the value is the same; only if the queue can_repeat().
  int repeat = 0;
};

using Ticket = std::int64_t;

struct OracleAnswer {
  Ticket ticket = 0;
  std::vector<double> log_values;  // one per question, in the order of the questions
  // Seconds that each evaluation costs this run, as declared or else as measured, even if an earlier run paid for it.
  // So a budget of seconds sees the same costs in a run that was interrupted and resumed. 0 for an evaluation that was
  // already made in this run: it is paid for once.
  std::vector<double> costs;
  // The witness of each value, as in FactorValue. May be shorter than log_values: further values have no witness.
  std::vector<std::optional<std::vector<int>>> witnesses = {};
  // True if a value stands for a failure that leaves its states out of the model. May be shorter than log_values.
  std::vector<bool> is_missing = {};
  std::optional<Error> error = {};  // set if an evaluation failed permanently; the values then mean nothing
};

// A value that need not be asked for, because it is already paid for: by this run, an earlier one, another method or an
// import.
struct KnownValue {
  std::int64_t number = 0;  // in the order in which they were recorded
  int factor = 0;
  std::vector<int> states;
  double log_value = 0.0;   // for a failure, the value that stands for it
  bool is_missing = false;  // true for a failure that leaves these states out of the model
};

// Before a run asked for its configuration `num_asked` (from 0), it was told all values up to this number. When the run
// is resumed, it is told the same values at the same point, so that it asks the same questions.
struct Lesson {
  std::int64_t num_asked = 0;
  std::int64_t last_number = 0;
};

class EvaluationQueue {
 public:
  virtual ~EvaluationQueue() = default;

  // True for factors that this queue can evaluate.
  [[nodiscard]] virtual bool answers(int factor) const = 0;
  // Evaluations that run at the same time; more may be submitted and wait.
  [[nodiscard]] virtual int num_workers() const = 0;
  // The useful number of evaluations under way; it is more than num_workers() if workers take several at once.
  // Submitted evaluations may be held back until there are that many or until the caller waits for an answer.
  [[nodiscard]] virtual int max_under_way() const { return num_workers(); }
  // The number of submitted tickets whose answers were not returned yet.
  [[nodiscard]] virtual int num_pending() const = 0;

  // Evaluations that may still be begun; known values are free.
  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();
  [[nodiscard]] virtual std::int64_t num_left() const { return kUnlimited; }

  // Evaluations that were answered so far, each counted once, from a journal or paid for.
  [[nodiscard]] virtual std::int64_t num_answered() const { return 0; }

  // True if evaluations can be made again (OracleQuestion::repeat).
  [[nodiscard]] virtual bool can_repeat() const { return false; }

  // All known values, including repeated ones, by ascending number.
  [[nodiscard]] virtual std::vector<KnownValue> known_values() const { return {}; }
  // lessons() returns what the run of this name was told before, in that order; the next function adds one more.
  [[nodiscard]] virtual std::vector<Lesson> lessons(const std::string& /*run*/) const { return {}; }
  virtual void add_lesson(const std::string& /*run*/, const Lesson& /*lesson*/) {}

  // Throws kArgument for a factor or states that the model does not have.
  virtual Ticket submit(std::vector<OracleQuestion> questions) = 0;
  // Waits for an answer and returns all that have arrived, including failures, in the order of arrival. Throws
  // kArgument if nothing is pending, kInterrupted if the wait was asked to end, and kIo if answers cannot be recorded;
  // the tickets then stay pending.
  virtual std::vector<OracleAnswer> wait_any() = 0;
  // Waits for one ticket, and throws its error if it failed.
  virtual OracleAnswer wait(Ticket ticket) = 0;
};

}  // namespace treesample
