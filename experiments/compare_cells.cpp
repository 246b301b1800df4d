#include "compare_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "treesample/error.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/infer/infer.hpp"
#include "treesample/surrogate/learned_search.hpp"

namespace treesample::experiments {
namespace {

bool is_random(const MethodSetting& setting) {
  switch (setting.contender) {
    case Contender::kUniform:
    case Contender::kMass:
      return false;
    case Contender::kTree:
    case Contender::kElbo:
    case Contender::kElboStates:
    case Contender::kGraph:
    case Contender::kAndOr:
      return setting.options.ties == TieRule::kRandom;
    default:
      return true;
  }
}

Numbers exact_reference(double log_z) { return {{"log_z", log_z}, {"error", 0.0}, {"is_exact", 1.0}}; }

// The run that gives the reference value of log Z: exact if that is cheap, otherwise by a search or a learned model,
// and samples.
InferRequest reference_request(const FactorGraph& graph, const CompareOptions& options) {
  InferRequest request{.question = {.marginals = false, .best = false},
                       .options = {.method = Method::kSearch, .space = SpaceKind::kAndOr, .simplify = false}};
  request.options.seed = options.seed;
  request.options.noise = "no";  // methods that share their calls make each of them once
  request.limits.bytes = static_cast<std::size_t>(options.max_elimination_bytes);
  request.limits.threads = 1;  // each model has its own thread
  if (!graph.has_only_tables()) {
    const ReferencePlan plan = reference_plan(graph, options);
    request.limits.budget = plan.search_calls;
    request.options.budget_unit = BudgetUnit::kCall;
    if (states_to_learn(graph, plan.search_calls)) {
      const std::int64_t sample_calls = plan.log_z_samples * plan.calls_each;
      request.limits.budget += sample_calls;
      request.options.method = Method::kLearned;
      request.options.space.reset();
      request.options.error_share =
          static_cast<double>(sample_calls) / static_cast<double>(std::max<std::int64_t>(request.limits.budget, 1));
      return request;
    }
    request.options.select = SelectRule::kMass;
    request.options.importance = plan.log_z_samples;
    return request;
  }
  const EliminationPlan elimination = plan_elimination(graph);
  if (elimination.num_entries <= options.max_elimination_entries &&
      elimination.sample_bytes <= options.max_elimination_bytes) {
    request.options.method = Method::kExact;
    request.options.space.reset();
    return request;
  }
  request.options.select = SelectRule::kQUct;
  request.options.importance = options.num_importance_samples;
  request.limits.budget = options.budgets.back();
  return request;
}

}  // namespace

std::string key_of(const CompareOptions& options, const Cell& cell) {
  return fmt::format("{}/{}/{}", word_of(options.settings[cell.setting].contender), cell.budget, cell.run);
}

std::vector<Cell> cells_of(const CompareOptions& options) {
  std::vector<Cell> cells;
  for (const std::int64_t budget : options.budgets) {
    for (std::size_t s = 0; s < options.settings.size(); ++s) {
      for (int run = 0; run < (is_random(options.settings[s]) ? options.num_runs : 1); ++run) {
        cells.push_back({static_cast<int>(s), budget, run});
      }
    }
  }
  return cells;
}

std::optional<Numbers> reference(const FactorGraph& graph, const CompareOptions& options, const RunControl& control) {
  if (options.aim == Aim::kBest) return Numbers{{"is_exact", 0.0}};
  if (!graph.has_only_tables() && reference_plan(graph, options).calls() == 0) return Numbers{{"is_exact", 0.0}};
  const auto [question, limits, chosen] = reference_request(graph, options);
  const Answer answer = infer(graph, question, limits, chosen, {.should_stop = control.is_interrupted});
  if (control.is_interrupted()) return std::nullopt;
  if (answer.error) throw Error(*answer.error);
  const bool is_solved = answer.stop == StopReason::kExact || answer.stop == StopReason::kRounding;
  if (is_solved) return exact_reference(*answer.log_z);
  if (!answer.importance) return Numbers{{"is_exact", 0.0}};
  const double error = answer.importance->no_error.empty() ? answer.importance->std_error : HUGE_VAL;
  return Numbers{{"log_z", answer.importance->log_z}, {"error", error}, {"is_exact", 0.0}};
}

ReferencePlan reference_plan(const FactorGraph& graph, const CompareOptions& options) {
  ReferencePlan plan;
  for (const Factor& factor : graph.factors()) plan.calls_each += factor.is_table() ? 0 : 1;
  if (plan.calls_each == 0 || options.aim == Aim::kBest) return plan;
  for (const Cell& cell : cells_of(options)) {
    plan.num_kl_runs += row_of(options.settings[cell.setting].contender).has_particles ? 0 : 1;
  }
  // A quarter is for the search from which log Z is estimated, a quarter for its samples, and half for the KL.
  plan.search_calls = options.reference_calls / 4;
  plan.log_z_samples = options.reference_calls / 4 / plan.calls_each;
  const std::int64_t kl_configurations = options.reference_calls / 2 / plan.calls_each;
  if (plan.num_kl_runs > 0) plan.kl_samples = kl_configurations / plan.num_kl_runs;
  plan.log_z_samples = std::min<std::int64_t>(plan.log_z_samples, options.num_importance_samples);
  plan.kl_samples = std::min<std::int64_t>(plan.kl_samples, options.num_importance_samples);
  if (plan.kl_samples < 2) plan.kl_samples = 0;  // a single sample has no error
  return plan;
}

std::int64_t most_method_calls(const CompareOptions& options) {
  std::int64_t sum = 0;
  for (const Cell& cell : cells_of(options)) {
    if (__builtin_add_overflow(sum, cell.budget, &sum)) return INT64_MAX;
  }
  return sum;
}

}  // namespace treesample::experiments
