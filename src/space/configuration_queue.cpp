#include "space/configuration_queue.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "stopwatch.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {

ConfigurationQueue::ConfigurationQueue(const FactorGraph& graph, Budget& budget, AnswerOrder order)
    : graph_(&graph), budget_(&budget), order_(order), known_(static_cast<std::size_t>(graph.num_factors())) {
  for (int m = 0; m < graph.num_factors(); ++m) (graph.factor(m).is_table() ? tables_ : functions_).push_back(m);
  const auto cost = [&](int m) { return graph.factor(m).cost().value_or(HUGE_VAL); };
  std::stable_sort(functions_.begin(), functions_.end(), [&](int a, int b) { return cost(a) < cost(b); });
  price_ = {1, graph.num_factors(), 0.0, std::ssize(functions_)};
  // A function without a declared cost counts as less than any cost but more than nothing, so that a budget of seconds
  // allows it as long as something is left.
  for (const int m : functions_) price_.cost_seconds += graph.factor(m).cost().value_or(1e-12);
}

std::string ConfigurationQueue::key(std::span<const int> states) {
  return {reinterpret_cast<const char*>(states.data()), states.size_bytes()};
}

std::vector<int> ConfigurationQueue::states_of(int factor, std::span<const int> x) const {
  std::vector<int> states;
  for (const int v : graph_->factor(factor).scope()) states.push_back(x[v]);
  return states;
}

std::optional<double> ConfigurationQueue::known(int factor, std::span<const int> states) const {
  const auto found = known_[factor].find(key(states));
  return found == known_[factor].end() ? std::nullopt : std::optional<double>(found->second);
}

std::int64_t ConfigurationQueue::num_left() const {
  const EvaluationQueue* const queue = graph_->evaluation_queue();
  return queue == nullptr ? EvaluationQueue::kUnlimited : queue->num_left();
}

// Each pending configuration may still need all but one of its functions.
bool ConfigurationQueue::can_pay() const {
  const std::int64_t each = std::ssize(functions_);
  return budget_->allows(price_) && (each - 1) * num_pending() + each <= num_left();
}

bool ConfigurationQueue::has_room() const {
  const EvaluationQueue* const queue = graph_->evaluation_queue();
  const int most = queue == nullptr ? 1 : std::max(1, queue->max_under_way());
  // If answers are used in the order of submission, twice as many may be pending, so that no worker has to wait for the
  // oldest one.
  return num_pending() < (order_ == AnswerOrder::kSubmission && most > 1 ? 2 * most : most);
}

void ConfigurationQueue::submit(Assignment x, std::int64_t tag) {
  const std::int64_t id = next_id_++;
  Pending& pending = pending_[id];
  budget_->reserve(price_);
  pending.asked.x = std::move(x);
  pending.asked.tag = tag;
  for (const int m : tables_) {
    add_to_density(pending, graph_->log_value(m, pending.asked.x));
    if (pending.asked.log_density == kNegInf) break;
  }
  go_on(id, pending);
}

void ConfigurationQueue::add_to_density(Pending& pending, double value) {
  pending.density.add(value);
  pending.asked.log_density = pending.density.value();
  pending.asked.log_error = pending.density.error();
}

void ConfigurationQueue::add_value(Pending& pending, double value) {
  const int factor = functions_[pending.next_function++];
  add_to_density(pending, value);
  pending.asked.values.emplace_back(factor, value);
  known_[factor].emplace(key(states_of(factor, pending.asked.x)), value);
}

void ConfigurationQueue::go_on(std::int64_t id, Pending& pending) {
  while (pending.next_function < functions_.size() && pending.asked.log_density != kNegInf) {
    const int factor = functions_[pending.next_function];
    std::vector<int> states = states_of(factor, pending.asked.x);
    if (const std::optional<double> value = known(factor, states)) {
      add_value(pending, *value);
      continue;
    }
    EvaluationQueue* const queue = graph_->evaluation_queue();
    if (queue != nullptr && queue->answers(factor)) {
      under_way_[queue->submit({{factor, std::move(states)}})] = id;
      return;
    }
    const Stopwatch clock;
    const double value = checked_function_value(*graph_, factor, states);
    pending.seconds += graph_->factor(factor).cost().value_or(clock.seconds());
    add_value(pending, value);
  }
  finish(id, pending);
}

void ConfigurationQueue::finish(std::int64_t id, Pending& pending) {
  pending.is_known = true;
  ready_.push_back(id);
}

void ConfigurationQueue::charge(const Pending& pending) {
  budget_->release(price_);
  if (pending.asked.error) return;
  Spending spent{1, static_cast<std::int64_t>(tables_.size() + pending.asked.values.size()), pending.seconds, 0};
  for (const auto& [factor, value] : pending.asked.values) {
    spent.calls += budget_->note_call(factor, states_of(factor, pending.asked.x)) ? 1 : 0;
  }
  budget_->spend(spent);
}

std::vector<AskedConfiguration> ConfigurationQueue::wait() {
  const auto is_there = [&] {
    return order_ == AnswerOrder::kSubmission ? pending_.begin()->second.is_known : !ready_.empty();
  };
  while (!is_there()) {
    for (const OracleAnswer& answer : graph_->evaluation_queue()->wait_any()) {
      const auto asked = under_way_.extract(answer.ticket);
      if (asked.empty()) continue;
      Pending& pending = pending_.at(asked.mapped());
      if (answer.error) {
        pending.asked.error = answer.error;
        finish(asked.mapped(), pending);
        continue;
      }
      pending.seconds += answer.costs.front();
      add_value(pending, answer.log_values.front());
      go_on(asked.mapped(), pending);
    }
  }
  std::vector<AskedConfiguration> answers;
  const auto take = [&](std::int64_t id) {
    auto pending = pending_.extract(id);
    charge(pending.mapped());
    answers.push_back(std::move(pending.mapped().asked));
  };
  if (order_ == AnswerOrder::kArrival) {
    for (const std::int64_t id : std::exchange(ready_, {})) take(id);
    return answers;
  }
  take(pending_.begin()->first);  // only one, so that nothing depends on how many answers have arrived
  std::erase_if(ready_, [&](std::int64_t id) { return !pending_.contains(id); });
  return answers;
}

}  // namespace treesample
