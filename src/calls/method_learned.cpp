// Functions over many variables, learned from the values that were paid for.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "calls/methods.hpp"
#include "calls/sampled_statements.hpp"
#include "infer/policy.hpp"
#include "infer/words.hpp"
#include "treesample/blackbox/black_box.hpp"
#include "treesample/exact/max_product.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/surrogate/learned_search.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

std::string terms_text(const LearnedReport& report) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < report.num_terms.size(); ++i) {
    if (report.num_terms[i] == 0) continue;
    const std::string what = i == 0 ? "main effect" : i == 1 ? "pair" : fmt::format("term of {} variables", i + 1);
    if (i < 2) {
      parts.push_back(counted(report.num_terms[i], what));
    } else {
      parts.push_back(
          fmt::format("{} term{} of {} variables", report.num_terms[i], report.num_terms[i] == 1 ? "" : "s", i + 1));
    }
  }
  return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, ", "));
}

// With errors where these were sampled; exact where everything was evaluated.
void add_marginals(Draft& draft, const LearnedResult& result) {
  const std::optional<SampledErrors>& errors = result.report.errors;
  if (draft.known.is_exact()) return draft.known.offer_solved(result.marginals, 0.0, "evaluation");
  if (!errors) return draft.known.offer({.values = result.marginals, .from = "of P_X, by elimination"});
  draft.known.offer(marginals_of(*errors));
}

void add_best(Draft& draft, const LearnedResult& result) {
  if (!result.best) return;
  draft.known.best.offer(*result.best);
  if (!result.log_most) return;
  const double gap = *result.log_most - result.best->log_density + result.best_error;
  draft.known.best.prove(*result.best, std::max(0.0, gap));
}

}  // namespace

bool is_worth_learning(const FactorGraph& graph, std::int64_t calls, std::string& why) {
  const std::optional<double> num_states = states_to_learn(graph, calls);
  if (!num_states) return false;
  why = fmt::format("a function has {:.3g} states, more than the {} calls: it is learned from those that are asked",
                    *num_states, calls);
  return true;
}

void learn_functions(Findings& found, const Task& task, const PhaseClock& clock) {
  const bool wants_best = task.question().aim == Aim::kBest;
  const bool has_functions = !task.graph.has_only_tables();  // evidence may have decided them
  if (has_functions && (wants_best || BlackBox::can_enumerate(task.graph))) return learn_black_box(found, task, clock);
  const InferOptions& chosen = task.options();
  const Run& run = task.run;
  LearnedSearchOptions options;
  options.seed = task.seed();
  options.answer_order = *chosen.answer_order;
  options.error_share = *chosen.error_share;
  options.confidence = *chosen.confidence;
  const Observer observer{.progress = [&](const Progress& now) { run.tell(now); }, .should_stop = run.search_end()};
  const LearnedResult result = learned_search(task.graph, task.limits(), options, observer);
  const LearnedReport& report = result.report;
  Draft& draft = found.draft;
  draft.method = fmt::format("learned from {}: {} (width {})", counted(report.num_asked, "configuration"),
                             terms_text(report), report.width);
  add_report(draft, report, chosen);
  add_best(draft, result);
  if (!draft.known.is_exact()) draft.evaluated = {0.0, report.estimate, "as it was learned"};
  if (!result.approximation) return;
  draft.approximation = result.approximation;
  if (report.errors) {
    draft.importance = importance_of(*report.errors);
    if (report.errors->no_error.empty()) draft.sampled_interval = {report.errors->interval, report.errors->confidence};
  }
  if (task.question().marginals) add_marginals(draft, result);
}

}  // namespace treesample
