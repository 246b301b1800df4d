// The search by unresolved mass: for factors of which only the evaluated values are known.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "infer/leaves.hpp"
#include "infer/phase_verbs.hpp"
#include "infer/policy.hpp"
#include "infer/sample_calls.hpp"
#include "infer/words.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/search/solved_marginals.hpp"

namespace treesample {
namespace {

// Marginals of a solved search, by one pass over its store: of P_V where everything was evaluated, of P_U where bounds
// closed the rest.
std::optional<Marginals> exact_marginals(const SearchResult& result, const SearchApproximation& sampler,
                                         const Task& task) {
  SolvedMarginalsOptions pass;
  pass.bytes = task.limits().bytes / policy::kMarginalsMemoryDivisor;
  pass.should_stop = task.run.time_box(policy::kExactMarginalsShare, policy::kExactMarginalsSeconds);
  if (auto marginals = solved_marginals(result, sampler, pass)) return marginals;
  const auto upper = SearchApproximation::upper(result);
  return upper ? solved_marginals(result, *upper, pass) : std::nullopt;
}

// What is left of the budget of calls buys no further node, but some configurations of P_X: one of them may be the
// best.
void spend_rest(Draft& draft, const Task& task) {
  const Limits limits = task.limits();
  const std::int64_t calls_each = num_functions(task.graph);
  if (limits.unit != BudgetUnit::kCall || draft.stop != StopReason::kBudget) return;
  if (limits.budget == Limits::kUnlimited || calls_each == 0) return;
  SampleCalls calls(task, draft);
  const std::int64_t num_samples = calls.affordable((limits.budget - draft.spent.calls) / calls_each);
  if (num_samples <= 0) return;
  Random random(task.seed(), "rest");
  const ImportanceEstimate drawn = importance_estimate(task.graph, *draft.approximation, static_cast<int>(num_samples),
                                                       random, {.should_stop = task.run.search_end()});
  calls.charge(drawn.spent);
  if (drawn.error) draft.error = drawn.error;
  if (drawn.best.log_density != kNegInf) draft.known.best.offer(drawn.best);
}

}  // namespace

void search_by_mass(Findings& found, const Task& task, const PhaseClock& clock) {
  const InferOptions& chosen = task.options();
  const Run& run = task.run;
  if (!found.space) return;
  const SearchSpace& space = found.space->space;
  Limits limits = task.limits();
  limits.seconds = std::max(0.0, clock.seconds_left());
  limits.bytes /= policy::kSearchMemoryDivisor;
  SearchOptions options;
  options.select = task.plan.select;
  options.c = *chosen.c;
  options.seed = task.seed();
  options.seconds_per_node = policy::kSearchPassSeconds;
  options.answer_order = *chosen.answer_order;
  options.observer_interval = task.graph.has_only_tables() ? policy::kTraversalsBetweenLooks : 1;  // calls take long
  const Observer observer{.progress = [&](const Progress& now) { run.tell(now); }, .should_stop = run.search_end()};
  found.searched = std::make_shared<const SearchResult>(
      search(task.graph, space, found.space->leaves.values, limits, options, observer));
  const SearchReport& report = found.searched->report;
  Draft& draft = found.draft;
  draft.method = fmt::format("search by unresolved mass, space {}, order {} (width {}), leaf {}",
                             word_for(*chosen.space), word_for(*chosen.order), space.width(), found.space->leaves.text);
  add_report(draft, report, chosen);
  if (report.spent.calls > 0) draft.evaluated = {0.0, report.estimate, "learned from the evaluations"};
}

void read_mass(Findings& found, const Task& task, const PhaseClock&) {
  if (!found.searched) return;
  const SearchResult& result = *found.searched;
  Draft& draft = found.draft;
  const auto sampler = std::make_shared<SearchApproximation>(result, SamplerKind::kEstimate, task.run.until());
  if (sampler->log_value() == kNegInf) return;
  draft.approximation = sampler;
  std::optional<StoredBest> stored;
  if (task.question().best) stored = best_configuration(result, task.run.until());
  if (stored) offer_stored_best(draft, *stored, result, task.graph);
  const bool is_solved = result.report.stop == StopReason::kExact || result.report.stop == StopReason::kRounding;
  if (is_solved && task.question().marginals) {
    if (auto marginals = exact_marginals(result, *sampler, task)) {
      draft.known.offer_solved(*std::move(marginals), result.report.log_z.width(), "the search");
      return;
    }
  }
  draft.has_importance = !is_solved && !draft.error && result.report.stop != StopReason::kInterrupted;
  // P_X of a complete configuration is gamma / exp(log_value), so this is one minus the share of the complete ones.
  if (!draft.known.is_exact()) {
    draft.unexplored_mass = -std::expm1(std::min(0.0, result.report.log_z.lower - sampler->log_value()));
  } else if (!sampler->is_exact()) {
    draft.unexplored_mass = sampler->unexplored_mass(task.run.until());
    say_cut_off(draft, task);
  }
  if (task.question().marginals) {
    add_frequencies(draft, *sampler, policy::kMarginalSamples, task, "from {} samples of P_X");
  }
  if (!draft.error && task.question().best) spend_rest(draft, task);
}

}  // namespace treesample
