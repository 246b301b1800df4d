#include "search/node_rewards.hpp"

#include <utility>

namespace treesample {

NodeRewards::NodeRewards(const FactorGraph& graph, const SearchSpace& space, const Limits& limits, AnswerOrder order,
                         bool has_free_levels)
    : space_(space),
      has_free_levels_(has_free_levels),
      has_functions_(!graph.has_only_tables()),
      reward_(graph, space),
      budget_(budget_of(limits, graph.evaluation_queue())) {
  const EvaluationQueue* const queue = graph.evaluation_queue();
  if (queue != nullptr && queue->max_under_way() > 1) {
    queue_ = std::make_unique<RewardQueue>(graph, space, budget_, order);
  }
}

NodeRewards::NodeRewards(const NodeRewards& other, const Limits& limits)
    : space_(other.space_),
      has_free_levels_(other.has_free_levels_),
      has_functions_(other.has_functions_),
      reward_(other.reward_),
      budget_(budget_of(limits)) {}

// In the unit of calls, a call whose answer is known is free.
bool NodeRewards::can_pay(int level, Assignment& x) {
  if (is_free(level)) return true;
  Spending price = reward_.price(level).times(space_.levels[level].num_states);
  if (budget_.allows(price)) return true;
  if (budget_.unit() != BudgetUnit::kCall) return false;
  price.calls = num_new_calls(level, x);
  return budget_.allows(price);
}

std::int64_t NodeRewards::num_new_calls(int level, Assignment& x) {
  const Level& here = space_.levels[level];
  std::int64_t count = 0;
  for (int a = 0; a < here.num_states; ++a) {
    x[here.variable] = a;
    for (const int factor : reward_.functions(level)) {
      const bool is_known = reward_.is_queued(factor) && !budget_.is_new_call(factor, reward_.scope_states(factor, x));
      if (!is_known) ++count;
    }
  }
  x[here.variable] = -1;
  return count;
}

const RewardRow* NodeRewards::evaluate(int level, Assignment& x) {
  const Level& here = space_.levels[level];
  row_.rewards.assign(here.num_states, 0.0);
  row_.magnitudes.assign(here.num_states, 0.0);
  for (int a = 0; a < here.num_states && !failure_ && !is_free(level); ++a) {
    x[here.variable] = a;
    if (const std::optional<double> reward = reward_.try_evaluate(level, x, budget_)) {
      row_.rewards[a] = *reward;
      row_.magnitudes[a] = reward_.magnitude();
    } else {
      failure_ = reward_.failure();
    }
  }
  x[here.variable] = -1;
  return failure_ ? nullptr : &row_;
}

const RewardRow* NodeRewards::submit(BoundStore::Place node, const SearchPath& path) {
  std::optional<RewardAnswer> answer = queue_->submit({node.level, 0, space_.levels[node.level].num_states}, path.x);
  if (!answer) {
    pending_[queue_->last_id()] = {path, node};
    return nullptr;
  }
  row_ = {std::move(answer->rewards), std::move(answer->magnitudes)};
  return &row_;
}

std::vector<RewardAnswer> NodeRewards::wait(bool or_room) {
  try {
    return queue_->wait(or_room);
  } catch (const Error& error) {
    failure_ = error;
    return {};
  }
}

PendingExpansion NodeRewards::take(const RewardAnswer& answer) {
  if (answer.error) failure_ = answer.error;
  return std::move(pending_.extract(answer.id).mapped());
}

}  // namespace treesample
