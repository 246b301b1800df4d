// Functions over an enumerable domain, learned from the values that were paid for.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "infer/methods.hpp"
#include "treesample/blackbox/black_box_search.hpp"
#include "treesample/exact/max_product.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

// With errors where these were sampled; exact where everything was evaluated.
void add_marginals(Draft& draft, const BlackBoxResult& result) {
  const std::optional<SampledErrors>& errors = result.report.errors;
  if (draft.is_exact) {
    draft.set_exact_marginals(result.answer.marginals);
    return;
  }
  if (!errors) {
    draft.marginals = result.answer.marginals;
    draft.marginals_from = "of P_X, by enumeration";
    return;
  }
  draft.marginals = errors->marginals;
  const std::string from =
      fmt::format("of P_X, corrected by {} with true values", counted(errors->num_samples, "sample"));
  if (!errors->no_error.empty()) {
    draft.marginals_no_error = errors->no_error;
    draft.marginals_from = fmt::format("{}{}; their error is not known: {}", kGuesses, from, errors->no_error);
    return;
  }
  draft.marginal_errors = errors->marginal_errors;
  draft.marginals_error = *std::max_element(errors->marginal_errors.begin(), errors->marginal_errors.end());
  draft.marginals_from = fmt::format("{}, standard errors at most {:.2g}", from, *draft.marginals_error);
}

}  // namespace

Draft run_black_box(const Task& task) {
  const InferOptions& chosen = task.options();
  const Run& run = task.run;
  BlackBoxSearchOptions options;
  options.box.seed = task.seed();
  options.box.wants_best = task.question().aim == Aim::kBest;
  options.answer_order = *chosen.answer_order;
  options.error_share = *chosen.error_share;
  options.confidence = *chosen.confidence;
  const Observer observer{.progress = [&](const Progress& now) { run.tell(now); }, .should_stop = run.search_end()};
  const BlackBoxResult result = black_box_search(task.graph, task.limits(), options, observer);
  const BlackBoxReport& report = result.report;
  Draft draft;
  draft.method = fmt::format("learned from {}", counted(report.num_asked, "configuration"));
  if (report.num_known > 0) draft.method += fmt::format(" and {} known before", counted(report.num_known, "value"));
  add_report(draft, report, chosen);
  draft.best = result.best;
  if (result.best && result.log_most) {
    draft.best_gap = std::max(0.0, *result.log_most - result.best->log_density + result.best_error);
    draft.is_best_optimal = *draft.best_gap <= MostProbable::kTolerance;
  }
  if (!draft.is_exact) draft.evaluated = {0.0, report.estimate, "as it was learned"};
  if (!std::isfinite(result.answer.log_z)) return draft;
  draft.approximation = result.answer.approximation;
  if (report.errors) {
    draft.importance = ImportanceEstimate{.log_z = report.errors->log_z,
                                          .std_error = report.errors->std_error,
                                          .no_error = report.errors->no_error,
                                          .ess = report.errors->ess,
                                          .num_samples = static_cast<int>(report.errors->num_samples)};
    if (report.errors->no_error.empty()) draft.sampled_interval = {report.errors->interval, report.errors->confidence};
  }
  if (task.question().marginals) add_marginals(draft, result);
  return draft;
}

}  // namespace treesample
