#include "baselines/one_by_one.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {

OneByOne::OneByOne(const FactorGraph& graph, const Limits& limits, Observer observer, const char* phase)
    : phase_(phase),
      has_only_tables_(graph.has_only_tables()),
      watch_(limits, std::move(observer)),
      budget_(budget_of(limits)),
      queue_(graph, budget_, AnswerOrder::kSubmission),
      best_{{}, kNegInf} {
  limits.validate();
  if (!queue_.can_pay()) {
    throw OptionError("budget",
                      fmt::format("{} does not pay for one configuration, which {} begins with", limits.budget, phase));
  }
}

bool OneByOne::is_over() {
  // Tables are evaluated many at a time, because that takes less time than reading the clock.
  constexpr std::int64_t kTablesAtOnce = 256;
  const bool is_looked_at = !has_only_tables_ || num_asked_ % kTablesAtOnce == 0;
  if (!stop_ && is_looked_at) stop_ = watch_.reason_to_stop();
  if (!stop_ && !queue_.can_pay()) stop_ = StopReason::kBudget;
  return stop_.has_value();
}

std::optional<double> OneByOne::ask(const Assignment& x) {
  if (is_over()) return {};
  AskedConfiguration asked;
  try {
    queue_.submit(x, 0);
    asked = std::move(queue_.wait().front());
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInterrupted) throw;
    stop_ = StopReason::kInterrupted;
    return {};
  }
  if (asked.error) {
    error_ = asked.error;
    stop_ = asked.error->code() == ErrorCode::kInterrupted ? StopReason::kInterrupted : StopReason::kFactorFailed;
    return {};
  }
  ++num_asked_;
  log_error_ = std::max(log_error_, asked.log_error);
  if (asked.log_density > best_.log_density) best_ = {x, asked.log_density};
  if (watch_.is_told() && (!has_only_tables_ || num_asked_ % 256 == 0)) {
    watch_.tell({.phase = phase_,
                 .spent = budget_.spent(),
                 .num_samples = num_asked_,
                 .best = best_.log_density == kNegInf ? std::nullopt : std::optional(best_.log_density)});
  }
  return asked.log_density;
}

std::optional<Configuration> OneByOne::best() const {
  return best_.log_density == kNegInf ? std::nullopt : std::optional(best_);
}

RunReport OneByOne::report() const {
  return {.stop = stop_.value_or(StopReason::kBudget),
          .error = error_,
          .log_z = {},
          .spent = budget_.spent(),
          .seconds = watch_.seconds()};
}

Assignment uniform_configuration(const FactorGraph& graph, Random& random) {
  Assignment x;
  for (int v = 0; v < graph.num_variables(); ++v) {
    x.push_back(static_cast<int>(random.below(static_cast<std::uint64_t>(graph.num_states(v)))));
  }
  return x;
}

}  // namespace treesample
