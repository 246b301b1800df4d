#include "method.hpp"

#include <fmt/format.h>

#include <cmath>

#include "treesample/baselines/belief_propagation.hpp"
#include "treesample/baselines/gibbs.hpp"
#include "treesample/baselines/smc.hpp"
#include "treesample/error.hpp"
#include "treesample/evaluate/divergence.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample::experiments {
namespace {

struct MethodName {
  Method method;
  const char* word;
  const char* title;
};
constexpr MethodName kNames[] = {
    {Method::kSis, "sis", "SIS"},       {Method::kSmc, "smc", "SMC"},
    {Method::kGibbs, "gibbs", "GIBBS"}, {Method::kBp, "bp", "BP"},
    {Method::kTree, "tree", "TS"},      {Method::kUniform, "uniform", "uniform P_X"},
    {Method::kGraph, "graph", "graph"}, {Method::kAndOr, "andor", "andor"},
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

SpaceKind space_of(Method method) {
  if (method == Method::kGraph) return SpaceKind::kGraph;
  return method == Method::kAndOr ? SpaceKind::kAndOr : SpaceKind::kTree;
}

SearchSpace make_space(const FactorGraph& graph, const MethodSetting& setting) {
  const SpaceKind kind = space_of(setting.method);
  return make_search_space(graph, search_order(graph, kind, {.kind = setting.order}), kind);
}

std::optional<Outcome> run_search(const FactorGraph& graph, const MethodSetting& setting, const MethodRun& run) {
  SearchOptions options;
  options.budget = setting.method == Method::kUniform ? 0 : run.budget;
  options.c = setting.c;
  options.ties = setting.ties;
  options.seed = run.seed;
  const SearchResult result = tree_sample(graph, make_space(graph, setting), options, nullptr,
                                          [&](const SearchProgress&) { return !run.is_interrupted(); });
  if (result.report.stop == StopReason::kInterrupted) return std::nullopt;
  Outcome outcome;
  if (result.approximation.log_z() == kNegInf) {  // Z = 0: nothing to sample from
    outcome = {.energy = kNegInf, .delta_kl = HUGE_VAL};
  } else {
    Random random(run.seed, "evaluate");
    const Divergence found = divergence(graph, result.approximation, {.num_samples = run.num_samples}, random);
    outcome = {.energy = found.energy,
               .entropy = found.entropy,
               .delta_kl = found.delta_kl,
               .delta_kl_error = found.delta_kl_error};
  }
  outcome.log_z = result.approximation.log_z();
  outcome.num_evaluations = static_cast<double>(result.report.spent.reward_evaluations);
  outcome.seconds = result.report.search_seconds;
  return outcome;
}

template <class Report>
std::optional<Outcome> finish(const ParticleApproximation& particles, const Report& report) {
  if (report.stop == StopReason::kInterrupted) return std::nullopt;
  Outcome outcome = particle_outcome(particles);
  outcome.num_evaluations = static_cast<double>(report.spent.reward_evaluations);
  outcome.seconds = report.seconds;
  return outcome;
}

std::optional<Outcome> run_smc(const FactorGraph& graph, const MethodSetting& setting, const MethodRun& run,
                               const BaselineObserver& observer) {
  const double threshold = setting.method == Method::kSis ? 0.0 : setting.ess_threshold;
  const SmcResult result =
      smc(graph, make_space(graph, setting),
          {.budget = run.budget, .ess_threshold = threshold, .resampling = setting.resampling, .seed = run.seed},
          nullptr, observer);
  std::optional<Outcome> outcome = finish(result.approximation, result.report);
  if (outcome) outcome->log_z = result.report.log_z;
  return outcome;
}

}  // namespace

const char* word_of(Method method) { return name_of(method).word; }
const char* title_of(Method method) { return name_of(method).title; }

Method parse_method(const std::string& option, const std::string& word) {
  std::string allowed;
  for (const MethodName& name : kNames) {
    if (word == name.word) return name.method;
    allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ", name.word);
  }
  throw_argument(option, fmt::format("'{}' is none of {}", word, allowed));
}

std::string MethodSetting::tuned_text() const {
  switch (method) {
    case Method::kSis:
    case Method::kUniform:
      return "";
    case Method::kSmc:
      return fmt::format("t={} resampling={}", ess_threshold, to_string(resampling));
    case Method::kGibbs:
      return fmt::format("num_sweeps={}", num_sweeps);
    case Method::kBp:
      return fmt::format("num_messages={}", num_messages);
    case Method::kTree:
    case Method::kGraph:
    case Method::kAndOr:
      return fmt::format("c={}", c);
  }
  return "";
}

std::optional<Outcome> run_method(const FactorGraph& graph, const MethodSetting& setting, const MethodRun& run) {
  const BaselineObserver observer = [&](const BaselineProgress&) { return !run.is_interrupted(); };
  switch (setting.method) {
    case Method::kSis:
    case Method::kSmc:
      return run_smc(graph, setting, run, observer);
    case Method::kGibbs: {
      const GibbsResult result =
          gibbs(graph, {.budget = run.budget, .num_sweeps = setting.num_sweeps, .seed = run.seed}, observer);
      return finish(result.approximation, result.report);
    }
    case Method::kBp: {
      const BpSampleResult result =
          bp_sample(graph, {.budget = run.budget, .num_steps = setting.num_messages, .seed = run.seed}, observer);
      return finish(result.approximation, result.report);
    }
    case Method::kTree:
    case Method::kUniform:
    case Method::kGraph:
    case Method::kAndOr:
      return run_search(graph, setting, run);
  }
  throw Error(ErrorCode::kInternal, "a method without a function");
}

}  // namespace treesample::experiments
