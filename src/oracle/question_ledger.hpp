// The bookkeeping of redis_evaluators.cpp: which questions are still unanswered, in which batches they were sent, and
// which answers have arrived. Each question counts once, however many answers arrive.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "oracle/evaluators.hpp"

namespace treesample {

class QuestionLedger {
 public:
  // `max_batch` is the largest number of questions about a factor in one message. Fewer questions than a full batch are
  // shared among `num_workers`.
  QuestionLedger(std::function<std::size_t(int factor)> max_batch, int num_workers);

  void push(Job job);
  // Is there something to send? Partial batches are sent only if `is_waited_for`.
  [[nodiscard]] bool has_batch(bool is_waited_for) const;
  // The batches to be sent now, each of one factor.
  std::vector<std::vector<Job>> next_batches(bool is_waited_for);
  // Marks all unanswered questions to be sent again, in the order in which they were asked.
  void ask_all_again();

  enum class Arrival { kAnswer, kUnasked, kTwice };
  Arrival arrive(const Job& job);

  [[nodiscard]] std::size_t num_open() const { return open_.size(); }
  // The number of batches that were sent and have unanswered questions.
  [[nodiscard]] std::size_t num_batches() const { return batches_.size(); }

 private:
  struct Open {
    Job job;
    std::int64_t number = 0;  // position in the order of asking
    std::int64_t batch = -1;  // the batch with which it was sent
  };
  std::vector<Job> batch_of(std::deque<std::string>& keys, std::size_t size);

  std::function<std::size_t(int)> max_batch_;
  std::size_t num_workers_;
  std::unordered_map<std::string, Open> open_;     // by factor and states
  std::map<int, std::deque<std::string>> unsent_;  // keys of questions, by factor
  std::map<std::int64_t, std::size_t> batches_;    // number of unanswered questions, by batch
  std::unordered_set<std::string> arrived_;
  std::int64_t next_number_ = 0, next_batch_ = 0;
};

}  // namespace treesample
