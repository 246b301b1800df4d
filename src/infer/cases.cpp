#include "treesample/infer/cases.hpp"

#include <fmt/format.h>

#include <cmath>
#include <set>
#include <string>

#include "infer/policy.hpp"
#include "infer/run.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/elimination.hpp"

namespace treesample {
namespace {

// One order serves all cases: an order that is good without evidence is good enough with it, and for small models
// finding it takes most of the time.
std::vector<int> order_without_evidence(const Model& model, const InferOptions& options, const Run& run) {
  EliminationOptions elimination;
  elimination.seed = options.seed;
  elimination.order_work =
      kEntriesPerSecond * (run.has_time_limit() ? policy::kCostShare * run.time_limit() : policy::kOrderSeconds);
  const auto plan = unless_given_up([&] { return plan_elimination(model.graph, elimination, run.set_up_end()); });
  return plan ? plan->order : std::vector<int>();
}

}  // namespace

void infer_cases(const Model& model, std::span<const Case> cases, const Question& question, const Limits& limits,
                 const InferOptions& options, const Observer& observer,
                 const std::function<void(const Case&, const Answer&)>& take) {
  InferRequest{question, limits, options}.validate_for_cases();
  const Run run(limits.seconds < kNoTimeLimit ? limits.seconds : HUGE_VAL, observer);
  InferOptions shared = options;
  // A remark that would be repeated for every case is made once.
  std::set<std::string> told;
  Observer once = observer;
  once.remark = [&](const std::string& text) {
    if (observer.remark && told.insert(text).second) observer.remark(text);
  };
  // A circuit, whose graph is one function of all variables, and other functions are not eliminated.
  if (cases.size() > 1 && shared.elimination_order.empty() && model.graph.has_only_tables()) {
    shared.elimination_order = order_without_evidence(model, options, run);
  }
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (run.is_interrupted()) return;
    if (i > 0 && run.has_time_limit() && run.seconds_left() <= 0.0) {
      once.remark(fmt::format("{} of {} cases: the time limit (--time) is over", i, cases.size()));
      return;
    }
    Limits share = limits;
    share.seconds = run.has_time_limit() ? std::max(run.seconds_left() / static_cast<double>(cases.size() - i), 1e-3)
                                         : limits.seconds;
    try {
      Model observed = model;
      observed.observe(cases[i].observed);
      take(cases[i], infer(observed, question, share, shared, once));
    } catch (const OptionError&) {
      throw;
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("case {}: {}", cases[i].label, error.what()));
    }
  }
}

}  // namespace treesample
