#include "method.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "treesample/baselines/particle_approximation.hpp"
#include "treesample/error.hpp"
#include "treesample/evaluate/divergence.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample::experiments {
namespace {

InferOptions tree_search(std::optional<SpaceKind> space, std::optional<OrderKind> order = {}) {
  return {.method = Method::kSearch, .select = SelectRule::kQUct, .space = space, .order = order};
}

InferOptions with_leaf(InferOptions options, LeafKind kind) {
  options.leaf = LeafChoice{kind};
  return options;
}

InferOptions with_states_bonus(InferOptions options) {
  options.bonus = BonusScale::kLogStates;
  options.ties = TieRule::kRandom;
  return options;
}

// The request asks only for what is measured: a budget would otherwise be spent on other questions.
InferRequest request_of(const MethodSetting& setting, const MethodRun& run) {
  InferRequest request{.question = {.marginals = false, .best = false}, .options = setting.options};
  request.question.aim = run.aim;
  request.question.best = run.aim == Aim::kBest;
  request.limits.threads = 1;  // each problem has its own thread
  request.limits.budget = setting.contender == Contender::kUniform ? 0 : run.budget;
  request.options.budget_unit = run.unit;
  request.options.importance = 0;
  request.options.simplify = false;
  request.options.seed = run.seed;
  // BP by decimation consists of its samples, so one has to be asked for.
  if (setting.contender == Contender::kBp) request.question.samples = 1;
  return request;
}

Outcome particle_outcome(const ParticleApproximation& particles, const MethodRun& run) {
  const double energy = particles.mean_log_density();
  const double entropy = particles.entropy();
  Outcome outcome{.energy = energy, .entropy = entropy, .delta_kl = -energy - entropy};
  if (!run.log_z) return outcome;
  outcome.total_variation = 0.0;
  for (int i = 0; i < particles.num_atoms(); ++i) {
    *outcome.total_variation +=
        std::max(0.0, particles.probability(i) - std::exp(particles.log_density(i) - *run.log_z));
  }
  return outcome;
}

Outcome sampler_outcome(const FactorGraph& graph, CallSampler sampler, const MethodRun& run) {
  Limits limits;
  limits.budget = run.budget;
  limits.unit = run.unit;
  const CallSamplerResult result =
      sample_by_calls(graph, limits, sampler, run.seed, {.should_stop = run.is_interrupted});
  if (result.report.error) throw Error(*result.report.error);
  Outcome outcome{.energy = kNegInf, .has_divergence = run.aim == Aim::kAll, .delta_kl = HUGE_VAL};
  if (run.aim == Aim::kAll && !result.approximation.is_empty()) outcome = particle_outcome(result.approximation, run);
  if (run.aim == Aim::kAll) outcome.log_z = result.log_known;
  if (run.aim == Aim::kBest) outcome.best = result.best ? result.best->log_density : kNegInf;
  outcome.num_evaluations = static_cast<double>(result.report.spent.reward_evaluations);
  outcome.num_calls = static_cast<double>(result.report.spent.calls);
  outcome.seconds = result.report.seconds;
  return outcome;
}

// The outcome of a search. Evaluations of functions beyond the budget are limited to the run's samples, so it uses
// neither means of function factors nor enumeration, which divergence() would choose. A solved search is the target: KL
// = 0.
Outcome search_outcome(const FactorGraph& graph, const Answer& answer, const MethodRun& run) {
  Random random(run.seed, "evaluate");
  const bool has_tables = graph.has_only_tables();
  const bool is_solved = answer.stop == StopReason::kExact || answer.stop == StopReason::kRounding;
  if (!has_tables && is_solved) {
    return {.energy = NAN, .entropy = NAN, .delta_kl = -*answer.log_z, .total_variation = 0.0};
  }
  if (!has_tables && run.num_samples < 2) return {.has_divergence = false};
  const Divergence found = has_tables
                               ? divergence(graph, *answer.approximation, {.num_samples = run.num_samples}, random)
                               : sampled_divergence(graph, *answer.approximation, run.num_samples, random);
  Outcome outcome{.energy = found.energy,
                  .entropy = found.entropy,
                  .delta_kl = found.delta_kl,
                  .delta_kl_error = found.delta_kl_error};
  if (run.log_z && !found.log_ratios.empty()) outcome.total_variation = found.total_variation(*run.log_z).first;
  return outcome;
}

ContenderRow call_row(const char* word, const char* title, int color, CallSampler sampler) {
  return {.word = word,
          .title = title,
          .color = color,
          .options = {},
          .has_particles = true,
          .is_beyond_paper = true,
          .sampler = sampler};
}

std::vector<ContenderRow> numbered(std::vector<ContenderRow> rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].contender = static_cast<Contender>(i);
  return rows;
}

}  // namespace

// Rows in the order of Contender.
const std::vector<ContenderRow>& contenders() {
  static const std::vector<const char*> kExploration = {"1", "0.5", "2", "0.3", "3", "0.2", "5", "0.1", "10"};
  // An ELBO can be negative; epsilon = 0.1 is then the only scale of the exploration.
  static const std::vector<const char*> kMoreExploration = {"1", "0.5", "2",  "0.3", "3",   "0.2",
                                                            "5", "0.1", "10", "30",  "100", "300"};
  static const std::vector<ContenderRow> rows = numbered({
      {"sis", "SIS", 5, {.method = Method::kSis}, {}, true},
      {"smc",
       "SMC",
       1,
       {.method = Method::kSmc},
       {{"ess-threshold", {"0.5", "0.25", "0.75", "1"}}, {"resampling", {"multinomial", "stratified", "systematic"}}},
       true},
      {"gibbs", "GIBBS", 7, {.method = Method::kGibbs}, {{"sweeps", {"1", "2", "5", "10", "20", "50"}}}, true},
      {"bp", "BP", 8, {.method = Method::kBp}, {{"messages", {"1", "2", "3", "5", "10"}}}, true},
      {"tree", "TS", 0, tree_search(SpaceKind::kTree), {{"c", kExploration}}},
      {"mass", "TS, rule mass", 9, {.method = Method::kSearch, .select = SelectRule::kMass, .space = SpaceKind::kTree}},
      {"elbo",
       "TS, ELBO leaves",
       6,
       with_leaf(tree_search(SpaceKind::kTree), LeafKind::kMeans),
       {{"c", kMoreExploration}}},
      {"elbo-states",
       "TS, ELBO leaves, bonus (N - n) log K, random ties",
       10,
       with_states_bonus(with_leaf(tree_search(SpaceKind::kTree), LeafKind::kMeans)),
       {{"c", kMoreExploration}}},
      {"uniform", "uniform P_X", 4, tree_search(SpaceKind::kTree)},
      {"graph", "graph", 3, tree_search(SpaceKind::kGraph), {{"c", kExploration}}},
      {"andor", "andor", 2, tree_search(SpaceKind::kAndOr, OrderKind::kMinFill), {{"c", kExploration}}},
      {.word = "ais",
       .title = "AIS",
       .color = 14,
       .options = {.method = Method::kAis},
       .has_particles = true,
       .is_beyond_paper = true},
      {.word = "learned",
       .title = "learned model",
       .color = 11,
       .options = {.method = Method::kLearned},
       .is_beyond_paper = true},
      {.word = "metropolis",
       .title = "Metropolis",
       .color = 12,
       .options = {.method = Method::kMetropolis},
       .has_particles = true,
       .is_beyond_paper = true},
      {.word = "frequencies",
       .title = "frequencies of the best quarter (TPE)",
       .color = 13,
       .options = {.method = Method::kFrequencies},
       .has_particles = true,
       .is_beyond_paper = true,
       .sampler = CallSampler::kFrequencies},
      call_row("remember", "Metropolis, remembering", 2, CallSampler::kMetropolis),
      call_row("tempering", "tempering, remembering", 3, CallSampler::kTempering),
      call_row("annealing", "annealed SMC, remembering", 1, CallSampler::kAnnealing),
      call_row("cross-entropy", "cross-entropy, remembering", 5, CallSampler::kCrossEntropy),
      call_row("random", "random", 7, CallSampler::kRandom),
  });
  return rows;
}

std::vector<Contender> all_contenders() {
  std::vector<Contender> all;
  for (const ContenderRow& row : contenders()) {
    if (!row.is_beyond_paper) all.push_back(row.contender);
  }
  return all;
}

const ContenderRow& row_of(Contender contender) {
  return *std::find_if(contenders().begin(), contenders().end(),
                       [&](const ContenderRow& row) { return row.contender == contender; });
}

std::string all_method_words() {
  std::string words;
  for (const ContenderRow& row : contenders()) words += fmt::format("{}{}", words.empty() ? "" : ", ", row.word);
  return words;
}

Contender parse_method(const std::string& option, const std::string& word) {
  for (const ContenderRow& row : contenders()) {
    if (word == row.word) return row.contender;
  }
  throw_argument(option, fmt::format("'{}' is none of {}", word, all_method_words()));
}

void MethodSetting::take(const InferOptions& given) {
  if (!options.order && contender != Contender::kGraph) options.order = given.order;
  if (!options.ties) options.ties = given.ties;
  options.c = given.c;
  options.ess_threshold = given.ess_threshold;
  options.resampling = given.resampling;
  options.sweeps = given.sweeps;
  options.messages = given.messages;
  options.temperatures = given.temperatures;
}

std::string MethodSetting::tuned_text() const {
  std::string text;
  for (const Tuned& tuned : row_of(contender).tuned) {
    text +=
        fmt::format("{}{}={}", text.empty() ? "" : " ", tuned.option, option_text({.options = options}, tuned.option));
  }
  return text;
}

void MethodSetting::set_tuned(const std::string& option, const std::string& value) {
  const std::vector<Tuned>& tuned = row_of(contender).tuned;
  const bool is_tuned =
      std::any_of(tuned.begin(), tuned.end(), [&](const Tuned& known) { return option == known.option; });
  check_argument(is_tuned, option, fmt::format("is not tuned for {}", word_of(contender)));
  InferRequest request{.options = options};
  set_option(request, option, value);
  options = request.options;
}

std::optional<Outcome> run_method(const FactorGraph& graph, const MethodSetting& setting, const MethodRun& run) {
  const std::optional<CallSampler> sampler = row_of(setting.contender).sampler;
  if (sampler && (run.aim == Aim::kAll || !setting.options.method)) {
    const Outcome outcome = sampler_outcome(graph, *sampler, run);
    return run.is_interrupted() ? std::nullopt : std::optional(outcome);
  }
  auto [question, limits, options] = request_of(setting, run);
  if (!options.noise) options.noise = "no";  // methods that are compared make each call once
  const Answer answer = infer(graph, question, limits, options, {.should_stop = run.is_interrupted});
  if (answer.stop == StopReason::kInterrupted) return std::nullopt;
  if (answer.error) throw Error(*answer.error);
  Outcome outcome{.energy = kNegInf, .delta_kl = HUGE_VAL};  // for the case that there is nothing to sample from
  if (run.aim == Aim::kBest) {
    outcome = {.has_divergence = false};
    outcome.best = answer.best ? answer.best->log_density : kNegInf;
    outcome.is_best_optimal = answer.best && answer.is_best_optimal.value_or(false);
  } else if (answer.approximation && answer.log_z != kNegInf) {
    const auto* const particles = dynamic_cast<const ParticleApproximation*>(answer.approximation.get());
    outcome = particles != nullptr ? particle_outcome(*particles, run) : search_outcome(graph, answer, run);
  }
  if (setting.contender != Contender::kBp) outcome.log_z = answer.log_z;
  outcome.num_evaluations = static_cast<double>(answer.spent.reward_evaluations);
  outcome.num_calls = static_cast<double>(answer.spent.calls);
  outcome.seconds = answer.seconds;
  return outcome;
}

}  // namespace treesample::experiments
