// Functions over an enumerable domain, learned from the values that were paid for.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "calls/methods.hpp"
#include "calls/sampled_statements.hpp"
#include "infer/noise_option.hpp"
#include "treesample/blackbox/black_box_search.hpp"
#include "treesample/exact/max_product.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

// With errors where these were sampled; exact where everything was evaluated.
void add_marginals(Draft& draft, const BlackBoxResult& result) {
  const std::optional<SampledErrors>& errors = result.report.errors;
  if (draft.known.is_exact()) return draft.known.offer_solved(result.answer.marginals, 0.0, "evaluation");
  if (!errors) return draft.known.offer({.values = result.answer.marginals, .from = "of P_X, by enumeration"});
  draft.known.offer(marginals_of(*errors));
}

void add_distribution(Draft& draft, const BlackBoxResult& result, bool wants_marginals) {
  draft.approximation = result.answer.approximation;
  if (const std::optional<SampledErrors>& errors = result.report.errors) {
    draft.importance = importance_of(*errors);
    if (errors->no_error.empty()) draft.sampled_interval = {errors->interval, errors->confidence};
  }
  if (wants_marginals) add_marginals(draft, result);
}

}  // namespace

void learn_black_box(Findings& found, const Task& task, const PhaseClock&) {
  const InferOptions& chosen = task.options();
  const Run& run = task.run;
  BlackBoxSearchOptions options;
  options.box.seed = task.seed();
  options.box.wants_best = task.question().aim == Aim::kBest;
  const NoiseOption noise = noise_of(chosen.noise);
  options.box.noise = noise.noise;
  options.box.looks_for_noise = noise.is_looked_for;
  options.answer_order = *chosen.answer_order;
  options.error_share = *chosen.error_share;
  options.confidence = *chosen.confidence;
  const Observer observer{.progress = [&](const Progress& now) { run.tell(now); }, .should_stop = run.search_end()};
  Limits limits = task.limits();
  if (limits.unit == BudgetUnit::kCall) limits.budget = task.plan.call_budget;  // it looks for noise itself
  const BlackBoxResult result = black_box_search(task.graph, limits, options, observer);
  const BlackBoxReport& report = result.report;
  Draft& draft = found.draft;
  draft.has_repeated = report.has_repeated || result.answer.noise.is_there;
  draft.method = fmt::format("learned from {}", counted(report.num_asked, "configuration"));
  if (report.num_known > 0) draft.method += fmt::format(" and {} known before", counted(report.num_known, "value"));
  if (result.answer.noise.is_there) {
    draft.method += fmt::format(", whose values are noisy (standard deviation {:.2g})", *result.answer.noise.sd);
  }
  for (const std::string& remark : result.answer.remarks) {
    run.remark(remark);
    task.plan.remarks.push_back(remark);
  }
  add_report(draft, report, chosen);
  if (result.best) draft.known.best.offer(*result.best);
  if (result.best && result.log_most) {
    const double gap = *result.log_most - result.best->log_density + result.best_error;
    draft.known.best.prove(*result.best, std::max(0.0, gap));
  }
  if (!draft.known.is_exact()) draft.evaluated = {0.0, report.estimate, "as it was learned"};
  if (std::isfinite(result.answer.log_z)) add_distribution(draft, result, task.question().marginals);
  if (result.answer.noise.is_there) draft.doubt("the values are noisy");
}

}  // namespace treesample
