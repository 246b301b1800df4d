// Counting: exact answers for models with many zeros.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "infer/counting.hpp"
#include "infer/formula_methods.hpp"
#include "infer/phase_verbs.hpp"
#include "infer/policy.hpp"
#include "model/clause.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/max_product.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

Limits count_limits(const Task& task, double seconds) {
  Limits limits = task.limits();
  limits.bytes /= policy::kSearchMemoryDivisor;
  limits.seconds = seconds;
  return limits;
}

CountOptions count_options(const Task& task, double seconds, CountOptions options) {
  options.seed = task.seed();
  if (std::isfinite(seconds)) {
    options.most_eliminated_entries =
        std::max(options.most_eliminated_entries, kEntriesPerSecond * policy::kReducedShare * seconds);
  }
  return options;
}

// Finished branches show how long the rest would take if it were like them. With a cache it is mostly faster.
bool is_promising(double share_done, double seconds, const CountTime& time) {
  return seconds <= time.optimism * share_done * time.seconds;
}

CountResult run_within(const Task& task, const CountTime& time, const CountOptions& options) {
  std::optional<double> share_done;  // of the search, once it has begun
  double seconds = 0.0;
  const double end = task.run.seconds() + time.seconds;
  const Observer observer{.progress =
                              [&](const Progress& now) {
                                share_done = now.share_done;
                                seconds = now.seconds;
                                task.run.tell(now);
                              },
                          .should_stop =
                              [&] {
                                if (task.run.is_interrupted() || task.run.seconds() > end) return true;
                                return share_done && seconds > time.trial_seconds &&
                                       !is_promising(*share_done, seconds, time);
                              }};
  return count(task.graph, count_limits(task, time.seconds), count_options(task, time.seconds, options), observer);
}

void state_log_z(Draft& draft, const LogBounds& log_z) {
  draft.known.bound(log_z);
  draft.known.estimate(log_z.lower == kNegInf ? kNegInf : 0.5 * (log_z.lower + log_z.upper), Trust::kExact);
}

// The circuit comes from a solved search, so that everything is exact.
void take_circuit(Draft& draft, const std::shared_ptr<const Circuit>& circuit, const Task& task) {
  draft.approximation = circuit;
  if (task.question().marginals) {
    draft.known.offer_solved(circuit->marginals(), circuit->log_z().width(), "a circuit");
  }
  if (!task.question().best) return;
  Circuit::Best best = circuit->best();
  best.configuration.log_density = task.graph.log_density(best.configuration.x);
  // Factors that simplification found constant are constant within their rounding.
  draft.known.best.prove(best.configuration, best.gap + 2.0 * task.run.log_error());
}

}  // namespace

Zeros zeros_of(const FactorGraph& graph) {
  double num_entries = 0.0, num_zeros = 0.0, num_tables = 0.0, num_hard = 0.0;
  for (const Factor& factor : graph.factors()) {
    if (!factor.is_table()) return {};
    if (factor.scope().size() < 2) continue;
    if (factor.is_clause()) {  // one zero
      num_entries += std::exp2(std::min(10.0, static_cast<double>(factor.scope().size())));
      num_zeros += 1.0;
      num_tables += 1.0;
      num_hard += 1.0;
      continue;
    }
    const std::vector<double>& values = factor.log_values();
    const auto zeros = static_cast<double>(std::count(values.begin(), values.end(), kNegInf));
    const double log_max = *std::max_element(values.begin(), values.end());
    const bool is_hard = zeros > 0.0 && std::all_of(values.begin(), values.end(),
                                                    [&](double v) { return v == log_max || v == kNegInf; });
    num_entries += static_cast<double>(values.size());
    num_zeros += zeros;
    num_tables += 1.0;
    num_hard += is_hard ? 1.0 : 0.0;
  }
  if (num_zeros == 0.0) return {};
  const double hard_share = num_hard / num_tables;
  return {num_zeros >= policy::kZerosToCount * num_entries, hard_share >= policy::kHardToCount, hard_share};
}

bool choose_clauses(Plan& plan, const FactorGraph& graph) {
  const std::vector<Factor>& factors = graph.factors();
  const auto num_clauses =
      std::count_if(factors.begin(), factors.end(), [](const Factor& factor) { return factor.is_clause(); });
  if (!has_long_clause(graph) && num_clauses < policy::kManyClauses) return false;
  plan.request.options.method = Method::kCount;
  plan.reasons.emplace_back("clauses that are long or many: counting works with them as they are");
  return true;
}

CountTime count_time(const Run& run, double end) {
  const double seconds = std::max(0.0, run.at(end) - run.seconds());
  return {seconds, seconds};
}

Counter make_counter(const Task& task, double seconds, CountOptions options) {
  return Counter(task.graph, count_limits(task, seconds), count_options(task, seconds, options));
}

CountResult count_within(const Task& task, const CountTime& time) {
  task.run.tell({.phase = "counting"});
  return run_within(task, time, {});
}

CountResult compile_within(const Task& task, const CountTime& time) {
  task.run.tell({.phase = "circuit"});
  return run_within(task, time, {.keep_circuit = true});
}

bool wants_more(const Question& question) { return question.marginals || question.best || question.samples > 0; }

double elimination_seconds(const Plan& plan) {
  return plan.elimination ? predicted_seconds(*plan.elimination, plan.request.limits, wants_more(plan.request.question))
                          : 0.0;
}

void count_instead(Findings& found, const Task& task, const PhaseClock&) {
  Draft& draft = found.draft;
  const double seconds = elimination_seconds(task.plan);
  const CountTime time{policy::kCountBesideElimination * seconds, policy::kCountForElimination * seconds,
                       policy::kCountOptimismBeside};
  const bool needs_circuit = wants_more(task.question());
  const CountResult counted = needs_circuit ? compile_within(task, time) : count_within(task, time);
  const bool is_impossible = counted.is_solved && counted.report.log_z.upper == kNegInf;
  draft.known.bound(counted.report.log_z);
  if (!counted.is_solved || (needs_circuit && !counted.circuit && !is_impossible)) return;
  found.is_complete = true;
  if (counted.circuit) {
    set_compiled(draft, counted.circuit, task);
  } else {
    draft.stop = counted.report.stop;
    state_log_z(draft, counted.report.log_z);
  }
  draft.method = fmt::format("count: {}{}{}", counted.report.brief(), draft.method.empty() ? "" : "; ", draft.method);
}

void set_compiled(Draft& draft, const std::shared_ptr<const Circuit>& circuit, const Task& task) {
  state_log_z(draft, circuit->log_z());
  draft.stop = StopReason::kExact;
  draft.method = fmt::format("circuit of {}", counted(circuit->num_nodes(), "node"));
  if (circuit->log_z().upper != kNegInf) take_circuit(draft, circuit, task);
}

void set_counted(Draft& draft, const CountResult& counted, const Task& task, const CountTime& time) {
  draft.stop = counted.report.stop;
  state_log_z(draft, counted.report.log_z);
  draft.method = fmt::format("count: {}", counted.report.brief());
  if (counted.report.log_z.upper == kNegInf) return;
  if (!wants_more(task.question()) || !(time.seconds > 0.0)) return;
  if (const auto circuit = compile_within(task, time).circuit) {
    take_circuit(draft, circuit, task);
    draft.method += fmt::format("; circuit of {}", treesample::counted(circuit->num_nodes(), "node"));
  }
}

void count_as_formula(Findings& found, const Task& task, const PhaseClock& clock) {
  if (formula_methods() == nullptr) return;
  const double left = task.run.has_time_limit() ? clock.seconds_left() : policy::kFormulaSeconds;
  const Observer observer{
      .progress = [&](const Progress& now) { task.run.tell(now); },
      .should_stop = [&, end = task.run.seconds() +
                               left] { return task.run.is_interrupted() || task.run.seconds() > end; }};
  const auto counted =
      formula_methods()->count(task.graph, count_limits(task, std::max(1e-3, left)), task.seed(), observer);
  if (!counted) return;
  found.draft.known.bound(counted->report.log_z);
  if (!counted->is_solved) return;
  const double extra = task.run.extra_seconds();
  set_counted(found.draft, *counted, task, {extra, extra});
  found.is_complete =
      found.draft.approximation || !wants_more(task.question()) || counted->report.log_z.upper == kNegInf;
}

void count_zeros(Findings& found, const Task& task, const PhaseClock& clock) {
  const double seconds = std::max(0.0, clock.seconds_left());
  const CountResult result = count_within(task, {seconds, seconds});
  if (result.is_solved) {
    const double extra = task.run.extra_seconds();
    return set_counted(found.draft, result, task, {extra, extra});
  }
  found.draft.method = fmt::format("count: {}", result.report.brief());
  found.draft.stop = result.report.stop;
  found.draft.known.bound(result.report.log_z);
}

}  // namespace treesample
