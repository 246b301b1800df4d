#include "method.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <utility>

#include "elbo_value.hpp"
#include "treesample/baselines/belief_propagation.hpp"
#include "treesample/baselines/gibbs.hpp"
#include "treesample/baselines/smc.hpp"
#include "treesample/error.hpp"
#include "treesample/evaluate/divergence.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/search/anytime_search.hpp"
#include "treesample/search/q_uct_search.hpp"
#include "treesample/search/search_approximation.hpp"

namespace treesample::experiments {
namespace {

struct MethodName {
  const char* word;
  const char* title;
  Method method;
  int color;
};
constexpr MethodName kNames[] = {
    {"sis", "SIS", Method::kSis, 5},
    {"smc", "SMC", Method::kSmc, 1},
    {"gibbs", "GIBBS", Method::kGibbs, 7},
    {"bp", "BP", Method::kBp, 8},
    {"tree", "TS", Method::kTree, 0},
    {"mass", "TS, improved", Method::kMass, 9},
    {"elbo", "TS, ELBO leaves", Method::kElbo, 6},
    {"uniform", "uniform P_X", Method::kUniform, 4},
    {"graph", "graph", Method::kGraph, 3},
    {"andor", "andor", Method::kAndOr, 2},
};

const MethodName& name_of(Method method) {
  for (const MethodName& name : kNames) {
    if (name.method == method) return name;
  }
  throw Error(ErrorCode::kInternal, "a method without a name");
}

Outcome particle_outcome(const ParticleApproximation& particles) {
  if (particles.is_empty()) return {.energy = kNegInf, .delta_kl = HUGE_VAL};
  const double energy = particles.mean_log_density();
  const double entropy = particles.entropy();
  return {.energy = energy, .entropy = entropy, .delta_kl = -energy - entropy};
}

// Of a search. What evaluates functions beyond the budget is limited to the run's samples: neither means of function
// factors nor enumeration, which divergence() would choose. A solved search is the target: KL = 0.
Outcome search_outcome(const FactorGraph& graph, const StoreApproximation& approximation,
                       std::optional<double> exact_log_z, const MethodRun& run) {
  Random random(run.seed, "evaluate");
  if (graph.has_only_tables()) {
    const Divergence found = divergence(graph, approximation, {.num_samples = run.num_samples}, random);
    return {.energy = found.energy,
            .entropy = found.entropy,
            .delta_kl = found.delta_kl,
            .delta_kl_error = found.delta_kl_error};
  }
  if (exact_log_z) return {.energy = NAN, .entropy = NAN, .delta_kl = -*exact_log_z};
  if (run.num_samples < 2) return {.has_divergence = false};
  const Divergence found = sampled_divergence(graph, approximation, run.num_samples, random);
  return {.energy = found.energy,
          .entropy = found.entropy,
          .delta_kl = found.delta_kl,
          .delta_kl_error = found.delta_kl_error};
}

SpaceKind space_of(Method method) {
  if (method == Method::kGraph) return SpaceKind::kGraph;
  return method == Method::kAndOr ? SpaceKind::kAndOr : SpaceKind::kTree;
}

SearchSpace make_space(const FactorGraph& graph, const MethodSetting& setting) {
  const SpaceKind kind = space_of(setting.method);
  if (kind != SpaceKind::kGraph)
    return make_search_space(graph, search_order(graph, kind, {.kind = setting.order}), kind);
  // Greedy elimination orders are made for branching spaces; on a path another order can be far cheaper.
  SearchSpace best;
  for (const OrderKind order : {OrderKind::kMinFill, OrderKind::kMinWidth, OrderKind::kGiven}) {
    SearchSpace space = make_search_space(graph, search_order(graph, kind, {.kind = order}), kind);
    if (order == OrderKind::kMinFill || space.log_exact_cost() < best.log_exact_cost()) best = std::move(space);
  }
  return best;
}

std::optional<Outcome> run_search(const FactorGraph& graph, const MethodSetting& setting, const MethodRun& run) {
  TreeSearchOptions options;
  options.c = setting.c;
  options.ties = setting.ties;
  options.seed = run.seed;
  const SearchSpace space = make_space(graph, setting);
  std::shared_ptr<const LeafValue> prior;
  if (setting.method == Method::kElbo) prior = std::make_shared<ElboValue>(graph, space);
  const QUctResult result =
      q_uct_search(graph, space, {.estimate = prior},
                   {.budget = setting.method == Method::kUniform ? 0 : run.budget, .unit = run.unit}, options,
                   {.should_stop = run.is_interrupted});
  if (result.report.stop == StopReason::kInterrupted) return std::nullopt;
  if (result.report.error) throw Error(*result.report.error);
  Outcome outcome;
  if (result.approximation->log_value() == kNegInf) {  // Z = 0: nothing to sample from
    outcome = {.energy = kNegInf, .delta_kl = HUGE_VAL};
  } else {
    const bool is_exact = result.approximation->is_exact();
    outcome = search_outcome(graph, *result.approximation,
                             is_exact ? std::optional(result.report.estimate) : std::nullopt, run);
  }
  outcome.log_z = result.report.estimate;
  outcome.num_evaluations = static_cast<double>(result.report.spent.reward_evaluations);
  outcome.num_calls = static_cast<double>(result.report.spent.calls);
  outcome.seconds = result.report.seconds;
  return outcome;
}

std::optional<Outcome> run_mass_search(const FactorGraph& graph, const MethodSetting& setting, const MethodRun& run) {
  AnytimeOptions options;
  options.select = SelectRule::kMass;
  options.c = setting.c;
  const AnytimeResult result =
      anytime_search(graph, make_space(graph, setting), {}, {.budget = run.budget, .unit = run.unit}, options,
                     {.should_stop = run.is_interrupted});
  if (result.report.stop == StopReason::kInterrupted) return std::nullopt;
  if (result.report.error) throw Error(*result.report.error);
  const SearchApproximation sampler(result, SamplerKind::kEstimate);
  Outcome outcome{.energy = kNegInf, .delta_kl = HUGE_VAL};
  if (sampler.log_value() != kNegInf) {
    const bool is_exact = result.report.stop == StopReason::kExact || result.report.stop == StopReason::kRounding;
    outcome = search_outcome(graph, sampler, is_exact ? std::optional(result.report.log_z.lower) : std::nullopt, run);
  }
  outcome.log_z = result.report.estimate;
  outcome.num_evaluations = static_cast<double>(result.report.spent.reward_evaluations);
  outcome.num_calls = static_cast<double>(result.report.spent.calls);
  outcome.seconds = result.report.seconds;
  return outcome;
}

template <class Report>
std::optional<Outcome> finish(const ParticleApproximation& particles, const Report& report) {
  if (report.stop == StopReason::kInterrupted) return std::nullopt;
  Outcome outcome = particle_outcome(particles);
  outcome.num_evaluations = static_cast<double>(report.spent.reward_evaluations);
  outcome.num_calls = static_cast<double>(report.spent.calls);
  outcome.seconds = report.seconds;
  return outcome;
}

std::optional<Outcome> run_smc(const FactorGraph& graph, const MethodSetting& setting, const MethodRun& run,
                               const Observer& observer) {
  const double threshold = setting.method == Method::kSis ? 0.0 : setting.ess_threshold;
  const SmcResult result =
      smc(graph, make_space(graph, setting), {}, {.budget = run.budget, .unit = run.unit},
          {.ess_threshold = threshold, .resampling = setting.resampling, .seed = run.seed}, observer);
  std::optional<Outcome> outcome = finish(result.approximation, result.report);
  if (outcome) outcome->log_z = result.report.estimate;
  return outcome;
}

}  // namespace

const char* word_of(Method method) { return name_of(method).word; }
const char* title_of(Method method) { return name_of(method).title; }
int color_of(Method method) { return name_of(method).color; }

std::string all_method_words() {
  std::string words;
  for (const MethodName& name : kNames) words += fmt::format("{}{}", words.empty() ? "" : ", ", name.word);
  return words;
}

Method parse_method(const std::string& option, const std::string& word) {
  for (const MethodName& name : kNames) {
    if (word == name.word) return name.method;
  }
  throw_argument(option, fmt::format("'{}' is none of {}", word, all_method_words()));
}

bool has_sampled_outcome(Method method) {
  switch (method) {
    case Method::kSis:
    case Method::kSmc:
    case Method::kGibbs:
    case Method::kBp:
      return false;
    default:
      return true;
  }
}

std::string MethodSetting::tuned_text() const {
  switch (method) {
    case Method::kSis:
    case Method::kUniform:
    case Method::kMass:
      return "";
    case Method::kSmc:
      return fmt::format("t={} resampling={}", ess_threshold, to_string(resampling));
    case Method::kGibbs:
      return fmt::format("num_sweeps={}", num_sweeps);
    case Method::kBp:
      return fmt::format("num_messages={}", num_messages);
    case Method::kTree:
    case Method::kElbo:
    case Method::kGraph:
    case Method::kAndOr:
      return fmt::format("c={}", c);
  }
  return "";
}

std::optional<Outcome> run_method(const FactorGraph& graph, const MethodSetting& setting, const MethodRun& run) {
  const Limits limits{.budget = run.budget, .unit = run.unit};
  const Observer observer{.should_stop = run.is_interrupted};
  switch (setting.method) {
    case Method::kSis:
    case Method::kSmc:
      return run_smc(graph, setting, run, observer);
    case Method::kGibbs: {
      const GibbsResult result = gibbs(graph, limits, {.num_sweeps = setting.num_sweeps, .seed = run.seed}, observer);
      return finish(result.approximation, result.report);
    }
    case Method::kBp: {
      const BpSampleResult result =
          bp_sample(graph, limits, {.num_steps = setting.num_messages, .seed = run.seed}, observer);
      return finish(result.approximation, result.report);
    }
    case Method::kMass:
      return run_mass_search(graph, setting, run);
    case Method::kTree:
    case Method::kElbo:
    case Method::kUniform:
    case Method::kGraph:
    case Method::kAndOr:
      return run_search(graph, setting, run);
  }
  throw Error(ErrorCode::kInternal, "a method without a function");
}

}  // namespace treesample::experiments
