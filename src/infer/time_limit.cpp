#include "infer/time_limit.hpp"

#include <fmt/format.h>

#include <cmath>

#include "infer/option_table.hpp"
#include "infer/policy.hpp"

namespace treesample {
namespace {

bool takes_default_time(const Model& model, const InferRequest& request) {
  const InferOptions& options = request.options;
  return std::isinf(request.limits.seconds) && !model.circuit && model.graph.has_only_tables() && !options.method &&
         !options.select && options.compile != true && request.limits.budget == Limits::kUnlimited &&
         !option_of_a_search(request);
}

}  // namespace

std::optional<std::string> first_given(const InferRequest& request, std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    if (option_row(name).is_given(request)) return fmt::format("--{}", name);
  }
  return {};
}

std::optional<std::string> option_of_a_search(const InferRequest& request) {
  return first_given(request, {"space", "order", "leaf", "budget-unit", "c", "epsilon", "ties"});
}

Run begin_run(const Model& model, InferRequest& request, const Observer& observer, const TimeSource& time) {
  TimeLimit kind = TimeLimit::kGiven;
  if (request.limits.seconds == kNoTimeLimit) {
    request.limits.seconds = HUGE_VAL;
    kind = TimeLimit::kRefused;
  } else if (takes_default_time(model, request)) {
    request.limits.seconds = policy::kDefaultSeconds;
    kind = TimeLimit::kDefault;
  }
  return Run(request.limits.seconds, observer, kind, time);
}

void remark_on_time(Plan& plan, Run& run) {
  if (run.kind_of_limit() == TimeLimit::kRefused) {
    plan.remarks.emplace_back(
        "no time limit: the search ends when log Z is known, and an interruption gives the answer so far");
    return;
  }
  if (run.has_time_limit() && run.kind_of_limit() == TimeLimit::kGiven) return;
  if (!run.has_time_limit()) run.set_time_limit(policy::kDefaultSeconds);
  plan.request.limits.seconds = policy::kDefaultSeconds;
  plan.remarks.push_back(fmt::format("neither --time nor --budget is given: {} seconds", policy::kDefaultSeconds));
}

}  // namespace treesample
