#include "monotone/call_queue.hpp"

#include <algorithm>
#include <utility>

#include "stopwatch.hpp"

namespace treesample {

// A function without a declared cost counts as less than any cost but more than nothing, so that a budget of seconds
// allows it as long as something is left.
Spending CallQueue::price(int factor) const { return {1, 1, graph_->factor(factor).cost().value_or(1e-12), 1}; }

bool CallQueue::has_room() const {
  const EvaluationQueue* const queue = graph_->evaluation_queue();
  const int most = queue == nullptr ? 1 : std::max(1, queue->max_under_way());
  return num_pending() < (order_ == AnswerOrder::kSubmission && most > 1 ? 2 * most : most);
}

void CallQueue::submit(int factor, std::vector<int> states, std::int64_t tag) {
  const std::int64_t id = next_id_++;
  Pending& pending = pending_[id];
  budget_->reserve(price(factor));
  pending.answer = {.factor = factor, .states = states, .value = {}, .tag = tag};
  EvaluationQueue* const queue = graph_->evaluation_queue();
  if (queue != nullptr && queue->answers(factor)) {
    under_way_[queue->submit({{factor, std::move(states)}})] = id;
    return;
  }
  const Stopwatch clock;
  pending.answer.value = checked_factor_value(*graph_, factor, states);
  pending.seconds = graph_->factor(factor).cost().value_or(clock.seconds());
  pending.is_known = true;
}

void CallQueue::charge(const Pending& pending) {
  const CallAnswer& answer = pending.answer;
  budget_->release(price(answer.factor));
  if (answer.error) return;
  budget_->spend({1, 1, pending.seconds, budget_->note_call(answer.factor, answer.states) ? 1 : 0});
}

std::vector<CallAnswer> CallQueue::wait() {
  const auto is_there = [&] {
    if (order_ == AnswerOrder::kSubmission) return pending_.begin()->second.is_known;
    return std::any_of(pending_.begin(), pending_.end(), [](const auto& entry) { return entry.second.is_known; });
  };
  while (!is_there()) {
    for (OracleAnswer& answer : graph_->evaluation_queue()->wait_any()) {
      const auto asked = under_way_.extract(answer.ticket);
      if (asked.empty()) continue;
      Pending& pending = pending_.at(asked.mapped());
      pending.is_known = true;
      pending.answer.error = answer.error;
      if (answer.error) continue;
      pending.seconds = answer.costs.front();
      pending.answer.value.log_value = answer.log_values.front();
      if (!answer.witnesses.empty()) pending.answer.value.witness = std::move(answer.witnesses.front());
    }
  }
  std::vector<CallAnswer> answers;
  for (auto next = pending_.begin(); next != pending_.end();) {
    if (!next->second.is_known) {
      if (order_ == AnswerOrder::kSubmission) break;
      ++next;
      continue;
    }
    charge(next->second);
    answers.push_back(std::move(next->second.answer));
    next = pending_.erase(next);
    if (order_ == AnswerOrder::kSubmission) break;  // nothing may depend on how many answers have arrived
  }
  return answers;
}

}  // namespace treesample
