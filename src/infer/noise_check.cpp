// Certified numbers rest on functions that give the same value every time. Where that was not declared (--noise no) and
// the method has not tried it, the best configuration is evaluated again at the end, twice where the limits allow it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "infer/noise_option.hpp"
#include "infer/phase_verbs.hpp"
#include "infer/sample_calls.hpp"
#include "space/configuration_queue.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr double kSame = 1e-9;  // relative difference of densities that are the same but for rounding

// Whether the limits allow that each function is called so many times more.
bool can_pay(const Task& task, const Draft& draft, const SampleCalls& calls, int times) {
  const Limits limits = task.plan.request.limits;
  if (task.run.seconds_left() <= 0.0) return false;
  if (limits.unit != BudgetUnit::kCost || limits.budget == Limits::kUnlimited) return calls.affordable(times) == times;
  double cost = limits.seconds_before + draft.spent.cost_seconds;
  for (const Factor& factor : task.graph.factors())
    cost += factor.is_table() ? 0.0 : times * factor.cost().value_or(0.0);
  const EvaluationQueue* const queue = task.graph.evaluation_queue();
  const bool has_calls = queue == nullptr || queue->num_left() >= times * num_functions(task.graph);
  return has_calls && cost <= static_cast<double>(limits.budget);
}

// The best configuration, otherwise any that is believed in, whose density is then not known yet.
std::optional<Configuration> to_repeat(const Draft& draft, std::uint64_t seed) {
  if (draft.known.best.best()) return draft.known.best.best();
  if (!draft.approximation) return {};
  Random random(seed, "noise");
  return Configuration{draft.approximation->sample(random), kNegInf};
}

// The log densities of a configuration, evaluated anew so many times after what is known of it.
struct Repeats {
  std::vector<double> densities = {};
  double rounding = 0.0;

  [[nodiscard]] bool differ() const {
    const auto [least, most] = std::minmax_element(densities.begin(), densities.end());
    return *least != *most && !(*most - *least <= kSame * (1.0 + std::abs(*most)) + rounding);
  }
};

Repeats evaluate_again(const FactorGraph& graph, const Configuration& chosen, int times, SampleCalls& calls) {
  Repeats result;
  if (chosen.log_density != kNegInf) result.densities.push_back(chosen.log_density);
  Budget budget(times * num_functions(graph), BudgetUnit::kCall);
  ConfigurationQueue queue(graph, budget, AnswerOrder::kSubmission);
  for (int repeat = 1; repeat <= times; ++repeat) {
    queue.submit(chosen.x, 0, repeat);
    const AskedConfiguration again = queue.wait().front();
    if (again.error) break;
    result.densities.push_back(again.log_density);
    result.rounding = std::max(result.rounding, 2.0 * again.log_error);
  }
  calls.charge(budget.spent());
  return result;
}

}  // namespace

void check_noise(Findings& found, const Task& task, const PhaseClock&) {
  constexpr int kTimes = 2;
  Draft& draft = found.draft;
  if (task.graph.has_only_tables() || draft.has_repeated || draft.error || task.run.is_interrupted()) return;
  const std::optional<Configuration> chosen = to_repeat(draft, task.seed());
  if (!looks_for_noise(task.options(), task.graph) || !chosen) return;
  SampleCalls calls(task, draft);
  int times = kTimes;
  while (times > 0 && !can_pay(task, draft, calls, times)) --times;
  const Repeats repeats = evaluate_again(task.graph, *chosen, times, calls);
  if (repeats.densities.size() < 2 || !repeats.differ()) return;
  draft.doubt("the values are noisy");
  const std::string remark = fmt::format(
      "the same configuration had log density {:.6g} and then {:.6g}: values are noisy, so that nothing is "
      "certified (--method learned --noise yes learns their means)",
      repeats.densities.front(), repeats.densities.back());
  task.run.remark(remark);
  task.plan.remarks.push_back(remark);
}

}  // namespace treesample
