#include "treesample/space/reward_queue.hpp"

#include <cmath>
#include <utility>

#include "treesample/math/log_domain.hpp"

namespace treesample {

RewardQueue::RewardQueue(const FactorGraph& graph, const SearchSpace& space, Budget& budget, AnswerOrder order)
    : graph_(&graph), reward_(graph, space), budget_(&budget), order_(order) {
  for (const Level& level : space.levels) variable_of_.push_back(level.variable);
}

std::optional<RewardAnswer> RewardQueue::submit(const Request& request, std::span<const int> x) {
  Submission submission{.level = request.level, .parts = std::vector<Part>(request.num_actions)};
  std::vector<std::pair<OracleQuestion, Place>> questions;
  for (int i = 0; i < request.num_actions; ++i) {
    Part& part = submission.parts[i];
    part.x.assign(x.begin(), x.end());
    part.x[variable_of_[request.level]] = request.first_action + i;
    part.sum = reward_.table_sum(request.level, part.x, part.num_evaluated);
    if (!reward_.functions(request.level).empty()) part.magnitude = std::abs(part.sum);
    if (auto question = next_question(request.level, part)) {
      questions.emplace_back(std::move(*question), Place{next_id_, static_cast<std::size_t>(i)});
    }
  }
  if (questions.empty()) return finish(-1, std::move(submission));
  submission.num_asked = submission.num_open = static_cast<int>(questions.size());
  submission.reserved = reward_.price(request.level).times(request.num_actions);
  budget_->reserve(submission.reserved);
  num_asked_ += submission.num_asked;
  pending_.emplace(next_id_++, std::move(submission));
  for (auto& [question, place] : questions) ask(std::move(question), place);
  return {};
}

// Continues with a reward until it is known or a program is needed.
std::optional<OracleQuestion> RewardQueue::next_question(int level, Part& part) {
  const std::span<const int> functions = reward_.functions(level);
  for (; part.next_function < functions.size() && part.sum != kNegInf; ++part.next_function) {
    const int factor = functions[part.next_function];
    if (reward_.is_queued(factor)) {
      const std::span<const int> states = reward_.scope_states(factor, part.x);
      return OracleQuestion{factor, {states.begin(), states.end()}};
    }
    const Reward::Value value = reward_.call(factor, part.x);
    part.sum += value.log_value;
    part.magnitude += std::abs(value.log_value);
    part.seconds += value.seconds;
    ++part.calls;
    ++part.num_evaluated;
  }
  return {};
}

void RewardQueue::ask(OracleQuestion question, Place place) {
  under_way_.emplace(graph_->evaluation_queue()->submit({std::move(question)}), place);
}

// In the order of submission nothing may depend on what has already arrived: a submission keeps its place until it is
// returned.
bool RewardQueue::has_room() const {
  if (pending_.empty()) return true;
  const int num_taken = order_ == AnswerOrder::kSubmission ? num_asked_ : static_cast<int>(under_way_.size());
  return num_taken < graph_->evaluation_queue()->max_under_way();
}

std::vector<RewardAnswer> RewardQueue::wait(bool or_room) {
  TS_ASSERT(!pending_.empty());
  const auto is_known = [this] {
    return order_ == AnswerOrder::kArrival ? !ready_.empty() : pending_.begin()->second.num_open == 0;
  };
  while (!is_known()) {
    if (or_room && has_room()) return {};
    for (const OracleAnswer& answer : graph_->evaluation_queue()->wait_any()) apply(answer);
  }
  if (order_ == AnswerOrder::kSubmission) ready_ = {pending_.begin()->first};
  std::vector<RewardAnswer> answers;
  for (const std::int64_t id : std::exchange(ready_, {})) {
    Submission submission = std::move(pending_.extract(id).mapped());
    num_asked_ -= submission.num_asked;
    budget_->release(submission.reserved);
    answers.push_back(finish(id, std::move(submission)));
  }
  return answers;
}

void RewardQueue::apply(const OracleAnswer& answer) {
  const auto found = under_way_.find(answer.ticket);
  if (found == under_way_.end()) return;  // an answer for a search that ended before it arrived
  const Place place = found->second;
  under_way_.erase(found);
  Submission& submission = pending_.at(place.id);
  Part& part = submission.parts[place.part];
  if (answer.error) {
    if (!submission.error) submission.error = answer.error;
  } else {
    part.sum += answer.log_values[0];
    part.magnitude += std::abs(answer.log_values[0]);
    part.seconds += answer.costs[0];
    const int factor = reward_.functions(submission.level)[part.next_function];
    if (budget_->note_call(factor, reward_.scope_states(factor, part.x))) ++part.calls;
    ++part.num_evaluated;
    ++part.next_function;
    if (auto question = next_question(submission.level, part)) {
      ask(std::move(*question), place);
      return;
    }
  }
  if (--submission.num_open == 0) ready_.push_back(place.id);
}

RewardAnswer RewardQueue::finish(std::int64_t id, Submission submission) {
  RewardAnswer answer{.id = id, .rewards = {}, .magnitudes = {}, .error = std::move(submission.error)};
  for (const Part& part : submission.parts) {
    answer.rewards.push_back(part.sum);
    answer.magnitudes.push_back(part.magnitude);
    if (!answer.error) budget_->spend({1, part.num_evaluated, part.seconds, part.calls});
  }
  return answer;
}

}  // namespace treesample
