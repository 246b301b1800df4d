#include "space/reward_queue.hpp"

#include <cmath>
#include <utility>

#include "treesample/math/log_domain.hpp"

namespace treesample {

RewardQueue::RewardQueue(const FactorGraph& graph, const SearchSpace& space, Budget& budget, AnswerOrder order)
    : graph_(&graph), reward_(graph, space), order_(order), caller_(graph, budget, order, Remembers::kQueueAlone) {
  for (const Level& level : space.levels) variable_of_.push_back(level.variable);
}

std::optional<RewardAnswer> RewardQueue::submit(const Request& request, std::span<const int> x) {
  CallRequest calls{.price = price(request), .chains = {}, .x = {}, .tag = next_id_};
  Assignment states(x.begin(), x.end());
  for (int i = 0; i < request.num_actions; ++i) {
    states[variable_of_[request.level]] = request.first_action + i;
    CallChain& chain = calls.chains.emplace_back();
    int num_evaluated = 0;
    chain.table_sum = reward_.table_sum(request.level, states, num_evaluated);
    chain.tables = {1, num_evaluated};
    for (const int factor : reward_.functions(request.level)) {
      if (chain.table_sum == kNegInf) break;
      const std::span<const int> scope = reward_.scope_states(factor, states);
      chain.questions.push_back({factor, {scope.begin(), scope.end()}});
    }
  }
  if (std::optional<CallRequest> known = caller_.submit_unless_known(std::move(calls))) {
    known->tag = -1;
    return answer(std::move(*known));
  }
  ++next_id_;
  return {};
}

// In the order of submission nothing may depend on what has already arrived: a submission keeps its place until it is
// returned.
bool RewardQueue::has_room() const {
  if (num_pending() == 0) return true;
  const int num_taken = order_ == AnswerOrder::kSubmission ? caller_.num_asked() : caller_.num_under_way();
  return num_taken < graph_->evaluation_queue()->max_under_way();
}

std::vector<RewardAnswer> RewardQueue::wait(bool or_room) {
  TS_ASSERT(num_pending() > 0);
  while (!caller_.has_known()) {
    if (or_room && has_room()) return {};
    caller_.receive();
  }
  std::vector<RewardAnswer> answers;
  for (CallRequest& request : caller_.wait()) answers.push_back(answer(std::move(request)));
  return answers;
}

RewardAnswer RewardQueue::answer(CallRequest request) {
  RewardAnswer answer{.id = request.tag, .rewards = {}, .magnitudes = {}, .error = std::move(request.error)};
  for (const CallChain& chain : request.chains) {
    double sum = chain.table_sum, magnitude = chain.values.empty() ? 0.0 : std::abs(sum);
    for (const CallValue& value : chain.values) {
      sum += value.value.log_value;
      magnitude += std::abs(value.value.log_value);
    }
    answer.rewards.push_back(sum);
    answer.magnitudes.push_back(sum == kNegInf ? 0.0 : magnitude);
  }
  return answer;
}

}  // namespace treesample
