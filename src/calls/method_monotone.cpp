// Functions that are declared monotone: certified bounds from boxes, and samples within what the boxes leave open.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "calls/methods.hpp"
#include "infer/words.hpp"
#include "treesample/exact/max_product.hpp"
#include "treesample/monotone/box_search.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

BoxResult run_boxes(const Task& task) {
  if (const std::string obstacle = box_search_obstacle(task.graph); !obstacle.empty()) {
    throw OptionError("method", fmt::format("monotone cannot take this model: {}", obstacle));
  }
  const InferOptions& chosen = task.options();
  const BoxSearchOptions options{.seed = task.seed(),
                                 .answer_order = *chosen.answer_order,
                                 .sample_share = *chosen.error_share,
                                 .confidence = *chosen.confidence};
  const Run& run = task.run;
  LogBounds last;
  const auto tell = [&](const Progress& now) {
    if (now.log_z.lower < last.lower || now.log_z.upper > last.upper) run.take_back();  // new noise widens bounds
    last = now.log_z;
    run.tell(now);
  };
  const Observer observer{.progress = tell, .should_stop = run.search_end()};
  try {
    return box_search(task.graph, task.limits(), options, observer);
  } catch (const Error& error) {
    // The declaration in the model is wrong, which is no mistake of infer's caller.
    if (error.code() == ErrorCode::kArgument) throw Error(ErrorCode::kNumeric, error.what());
    throw;
  }
}

void add_marginals(Draft& draft, const BoxResult& result) {
  if (result.marginals.empty()) return;
  const double error = *std::max_element(result.marginal_errors.begin(), result.marginal_errors.end());
  // The bounds of log Z may be those of earlier boxes; the marginals are those of the last.
  if (draft.known.is_exact() && error <= LogBounds::kExact) {
    return draft.known.offer_solved(result.marginals, 0.5 * error, "boxes");
  }
  draft.known.offer({.values = result.marginals,
                     .trust = Trust::kCertified,
                     .errors = result.marginal_errors,
                     .largest_error = error,
                     .from = "of boxes"});
}

}  // namespace

bool is_worth_boxes(const FactorGraph& graph, std::string& why) {
  const bool is_declared = std::any_of(graph.factors().begin(), graph.factors().end(),
                                       [](const Factor& factor) { return !factor.directions().empty(); });
  if (!is_declared) return false;
  const std::string obstacle = box_search_obstacle(graph);
  why = obstacle.empty() ? "functions are declared monotone: two of their values bound a whole box of configurations"
                         : fmt::format("a function is declared monotone, but that is of no use: {}", obstacle);
  return obstacle.empty();
}

void search_boxes(Findings& found, const Task& task, const PhaseClock&) {
  const BoxResult result = run_boxes(task);
  const BoxReport& report = result.report;
  Draft& draft = found.draft;
  draft.method =
      fmt::format("monotone functions: {}, {} decided", counted(report.num_boxes, "part"), report.num_decided);
  add_report(draft, report, task.options());
  if (result.best) {
    draft.known.best.prove(*result.best, std::max(0.0, result.log_most - result.best->log_density));
  }
  draft.approximation = result.approximation;
  if (report.samples) {
    const BoxSamples& samples = *report.samples;
    draft.bounded_importance = BoundedImportance{.log_z = samples.log_z,
                                                 .interval = samples.interval,
                                                 .confidence = samples.confidence,
                                                 .std_error = samples.std_error,
                                                 .ess = static_cast<double>(samples.num_samples),
                                                 .num_samples = samples.num_samples};
    if (!std::isfinite(samples.std_error)) {
      draft.bounded_importance->no_error =
          fmt::format("{}, which may have missed more than a tenth of Z", counted(samples.num_samples, "sample"));
    }
  }
  if (task.question().marginals) add_marginals(draft, result);
}

}  // namespace treesample
