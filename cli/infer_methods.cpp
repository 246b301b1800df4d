#include "infer_methods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "anytime_method.hpp"
#include "command.hpp"
#include "infer_support.hpp"
#include "mass_method.hpp"
#include "number_text.hpp"
#include "trace_file.hpp"
#include "treesample/baselines/belief_propagation.hpp"
#include "treesample/baselines/gibbs.hpp"
#include "treesample/baselines/smc.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/max_product.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/search/q_uct_search.hpp"
#include "treesample/text.hpp"
#include "treesample/value/make_leaf_value.hpp"
#include "treesample/value/mini_bucket.hpp"

namespace treesample::cli {
namespace {

constexpr int kMarginalSamples = 10'000;
// For the best configuration, marginals and what is unexplored.
constexpr double kPassSecondsPerNode = 0.3e-6;
// Of the time limit: from when on elimination that would take too long is given up, and when it must be done.
constexpr double kEliminationLook = 0.3, kEliminationEnd = 0.9;
// The same for the most probable configuration, which comes last.
constexpr double kMostProbableLook = 0.5, kMostProbableEnd = 0.95;
constexpr double kMostProbableSeconds = 20.0;  // without a time limit
constexpr double kMaximaPerSecond = 5e7;
constexpr int kMostBestSamples = 1000;  // where it does not fit
constexpr double kBestSampleShare = 0.02, kBestSampleSeconds = 0.5;
constexpr double kBeliefsEnd = 0.5;  // of the time limit, where samples are to follow
constexpr double kSearchEnd = 0.85;  // the same, where importance sampling is to follow
constexpr int kMostExactSamples = 100'000;
constexpr double kExactSamplesShare = 0.25, kExactSamplesSeconds = 2.5;  // with a time limit and without one

// Q_phi by its word on the command line; null is the uniform one. Mini-buckets also bound log Z.
struct Prior {
  std::shared_ptr<const LeafValue> value;
  std::optional<double> lower, upper;
  std::string text = "uniform";
};

Prior make_prior(const FactorGraph& graph, const SearchSpace& space, const InferOptions& options) {
  const std::string& word = options.prior;
  if (word == "uniform") return {};
  if (word.rfind("net:", 0) == 0) {
    return {make_leaf_value(word, graph, space), {}, {}, word};
  }
  const auto made = unless_given_up([&] { return make_mini_buckets(graph, space, options); });
  if (!made) {
    note(options.is_quiet, "no time for mini-buckets: the prior is uniform");
    return {};
  }
  const auto& buckets = *made;
  const MiniBucketReport& report = buckets->report();
  Prior prior{buckets, {}, report.log_upper, fmt::format("mini-bucket, i = {}", report.i_bound)};
  if (report.has_lower || report.is_exact) prior.lower = report.log_lower;
  return prior;
}

Answer search(const FactorGraph& graph, const InferOptions& options) {
  const SearchSpace space = space_for(graph, options, parse_space(options.space));
  TreeSearchOptions search_options;
  search_options.c = options.c;
  search_options.epsilon = options.epsilon;
  search_options.ties = options.ties == "random" ? TieRule::kRandom : TieRule::kLowest;
  search_options.seed = static_cast<std::uint64_t>(options.seed);
  Watch watch(options);
  const Prior prior = make_prior(graph, space, options);
  const double search_end = options.num_importance > 0 ? kSearchEnd : 1.0;
  Limits limits = limits_of(options);
  limits.seconds = search_end * options.seconds_left();
  TraceFile trace(options.trace);
  if (trace.is_wanted()) search_options.observer_interval = TraceFile::kInterval;
  const LogBounds bounds{prior.lower.value_or(-HUGE_VAL), prior.upper.value_or(HUGE_VAL)};
  bool is_large = false;  // passes over all nodes would take too long if it went on
  const auto progress = [&](const treesample::Progress& now) {
    const double log_z = now.estimate.value_or(kNegInf);
    trace.add(options.clock.seconds(), now.spent, bounds, log_z);
    is_large = options.seconds_left() < kPassSecondsPerNode * static_cast<double>(now.num_nodes);
    watch.update(now.spent, now.seconds, fmt::format(", {} nodes, log Z about {:.4f}", now.num_nodes, log_z));
  };
  const QUctResult result = q_uct_search(graph, space, {.estimate = prior.value}, limits, search_options,
                                         {progress, [&] { return is_large || Interruption::is_asked(); }});
  const double pass_seconds = kPassSecondsPerNode * static_cast<double>(result.report.num_nodes);
  const bool has_passes = !Interruption::is_asked() || pass_seconds < Interruption::kGraceSeconds;
  Answer answer;
  answer.method =
      fmt::format("treesample, space {}, order {} (width {}), prior {}; exact takes {} evaluations", options.space,
                  options.order, space.width(), prior.text, count_text(space.log_exact_cost()));
  answer.stop = to_string(is_large ? StopReason::kTime : result.report.stop);
  answer.set_log_z(result.report.estimate, {std::max(prior.lower.value_or(kNegInf), result.report.log_z.lower),
                                            std::min(prior.upper.value_or(HUGE_VAL), result.report.log_z.upper)});
  trace.finish(options.clock.seconds(), result.report.spent, bounds, *answer.log_z);
  answer.spent = result.report.spent;
  if (has_passes) answer.best = result.approximation->best();
  if (answer.log_z != kNegInf && has_passes) {
    if (result.approximation->has_exact_marginals()) {
      answer.marginals = result.approximation->marginals();
      answer.marginals_from =
          result.report.stop == StopReason::kExact ? "exact" : "of the approximation, by one pass over the search";
    } else {
      const int num_samples = add_frequencies(answer, *result.approximation, graph, kMarginalSamples, options);
      answer.marginals_from = fmt::format("from {} samples of the approximation", num_samples);
    }
  }
  answer.approximation = result.approximation;
  answer.error = result.report.error;
  answer.has_importance = !answer.is_exact && !answer.error && result.report.stop != StopReason::kInterrupted;
  if (!answer.is_exact && has_passes) answer.unexplored_mass = result.approximation->unexplored_mass();
  return answer;
}

// Exact samples of the whole model, for what elimination does not tell: marginals, and a good configuration.
void add_sampled_marginals(Answer& answer, const FactorGraph& whole, double log_z, const InferOptions& options) {
  BoundedImportanceOptions sampling;
  sampling.max_samples = kMostExactSamples;
  const auto draw = [&](std::span<int> x, Random& random) {
    const Assignment sample = answer.approximation->sample(random);
    std::copy(sample.begin(), sample.end(), x.begin());
    return whole.log_density(x) - log_z;
  };
  Random random(static_cast<std::uint64_t>(options.seed), "marginals");
  BoundedImportance sampled =
      bounded_importance(whole, {log_z, draw}, sampling, random,
                         {.should_stop = time_box(options, kExactSamplesShare, kExactSamplesSeconds)});
  answer.best = sampled.best;
  answer.set_sampled_marginals(std::move(sampled), "exact");
}

// The best sample, its barren variables in their most probable states where that is better.
void improve_best(Answer& answer, const FactorGraph& whole) {
  if (!answer.best) return;
  Assignment completed = answer.summed->spread(answer.summed->left(answer.best->x));
  answer.summed->choose_best(completed);
  const double log_density = whole.log_density(completed);
  if (log_density > answer.best->log_density) answer.best = {std::move(completed), log_density};
}

// Stops where the rest would not be done by `end` of --time, as the share that is done after a while tells, and a
// moment after Ctrl-C.
Observer unless_late(const InferOptions& options, double look, double end) {
  if (options.time <= 0.0) return {.should_stop = [] { return Interruption::is_overdue(); }};
  struct Done {
    double start = 0.0, share = 0.0;
  };
  const auto done = std::make_shared<Done>();
  const auto progress = [clock = options.clock, done](const treesample::Progress& now) {
    done->share = now.share_done.value_or(0.0);
    if (done->share == 0.0) done->start = clock.seconds();
  };
  return {progress, [clock = options.clock, done, look = look * options.time, end = end * options.time] {
            if (Interruption::is_overdue()) return true;
            const double now = clock.seconds();
            const double expected_end = done->share > 0.0 ? done->start + (now - done->start) / done->share : now;
            return now > end || (now > look && expected_end > end);
          }};
}

// Of a few exact samples, where nothing better can be had.
Configuration best_sample(const Approximation& approximation, const FactorGraph& whole, const InferOptions& options) {
  const std::function<bool()> is_late = time_box(options, kBestSampleShare, kBestSampleSeconds);
  Random random(static_cast<std::uint64_t>(options.seed), "best");
  Configuration best;
  for (int i = 0; i < kMostBestSamples && (i == 0 || !is_late()); ++i) {
    Assignment x = approximation.sample(random);
    const double log_density = whole.log_density(x);
    if (i == 0 || log_density > best.log_density) best = {std::move(x), log_density};
  }
  return best;
}

// The most probable configuration by a max-product pass, which takes less time than elimination and as much memory
// again. Where that does not fit the best sample has to do; returns what there is not enough of.
std::string add_most_probable(Answer& answer, const FactorGraph& whole, const Elimination& elimination,
                              const InferOptions& options) {
  EliminationOptions pass = elimination_options(options);
  Limits limits = limits_of(options);
  limits.bytes -= std::min(limits.bytes, static_cast<std::size_t>(elimination.cost().bytes));
  // Barren variables are part of a configuration: the model that was eliminated is not the one in question.
  if (!answer.summed) pass.order = elimination.cost().order;
  const EliminationCost cost = elimination_cost(whole, pass, set_up_limit(options));
  pass.order = cost.order;
  if (cost.bytes > static_cast<double>(limits.bytes)) return "memory (--memory)";
  const double seconds =
      options.time > 0.0 ? kMostProbableEnd * options.time - options.clock.seconds() : kMostProbableSeconds;
  if (cost.num_entries > kMaximaPerSecond * seconds) return "time";
  const Observer observer = unless_late(options, kMostProbableLook, kMostProbableEnd);
  const auto found = unless_given_up([&] { return most_probable(whole, limits, pass, observer); });
  if (!found || !*found) return "time";
  const bool is_better = !answer.best || (*found)->configuration.log_density > answer.best->log_density;
  if (is_better || (*found)->is_optimal()) answer.best = (*found)->configuration;
  answer.is_best_optimal = (*found)->is_optimal();
  if (is_better || (*found)->is_optimal()) answer.best_gap = (*found)->gap;
  return "";
}

// What the three particle methods share.
Answer particle_answer(const ParticleApproximation& particles, StopReason stop, const Spending& spent) {
  Answer answer;
  answer.stop = to_string(stop);
  answer.spent = spent;
  answer.marginals_from = "of the particles";
  if (particles.is_empty()) return answer;
  answer.best = particles.best();
  answer.marginals = particles.marginals();
  answer.approximation = std::make_shared<ParticleApproximation>(particles);
  return answer;
}

Answer particle_filter(const FactorGraph& graph, const InferOptions& options) {
  SmcOptions smc_options;
  smc_options.min_samples = options.min_samples;
  smc_options.ess_threshold = options.method == "sis" ? 0.0 : options.ess_threshold;
  smc_options.resampling = options.resampling == "multinomial"  ? ResamplingScheme::kMultinomial
                           : options.resampling == "stratified" ? ResamplingScheme::kStratified
                                                                : ResamplingScheme::kSystematic;
  smc_options.seed = static_cast<std::uint64_t>(options.seed);
  const SearchSpace space = space_for(graph, options, SpaceKind::kTree);
  Watch watch(options);
  const SmcResult result = smc(graph, space, {.estimate = make_prior(graph, space, options).value}, limits_of(options),
                               smc_options, watch.observer());
  Answer answer = particle_answer(result.approximation, result.report.stop, result.report.spent);
  const bool is_cut_off = result.report.stop == StopReason::kInterrupted;
  if (!is_cut_off || !result.approximation.is_empty()) answer.log_z = result.report.estimate;
  answer.method = fmt::format("{}, order {}: {}, {}, effective sample size {:.1f}", options.method, options.order,
                              counted(result.report.num_particles, "particle"),
                              counted(result.report.num_resamplings, "resampling"), result.report.ess);
  return answer;
}

Answer gibbs_sampling(const FactorGraph& graph, const InferOptions& options) {
  GibbsOptions gibbs_options;
  gibbs_options.min_samples = options.min_samples;
  gibbs_options.mode = options.gibbs_mode == "chain" ? GibbsMode::kChain : GibbsMode::kRestarts;
  gibbs_options.num_sweeps = static_cast<int>(options.num_sweeps);
  gibbs_options.burn_in = static_cast<int>(options.burn_in);
  gibbs_options.seed = static_cast<std::uint64_t>(options.seed);
  Watch watch(options);
  const GibbsResult result = gibbs(graph, limits_of(options), gibbs_options, watch.observer());
  Answer answer = particle_answer(result.approximation, result.report.stop, result.report.spent);
  answer.method = fmt::format("gibbs ({}): {}, {} each, {} of them without density", options.gibbs_mode,
                              counted(result.report.num_samples, "sample"), counted(options.num_sweeps, "sweep"),
                              result.report.num_zero_density);
  return answer;
}

Answer message_passing(const FactorGraph& graph, const InferOptions& options) {
  BeliefPropagationOptions bp_options;
  bp_options.damping = options.damping;
  Watch bp_watch(options);  // Ctrl-C ends with the beliefs so far
  const ShouldStop is_over = time_limit(options, options.num_samples > 0 ? kBeliefsEnd : 1.0);
  const BeliefPropagationResult beliefs = belief_propagation(graph, {}, bp_options, {.should_stop = is_over});
  Answer answer;
  if (options.num_samples > 0) {
    BpSampleOptions sample_options;
    sample_options.min_samples = options.min_samples;
    sample_options.num_steps = static_cast<int>(options.num_messages);
    sample_options.damping = options.damping;
    sample_options.seed = static_cast<std::uint64_t>(options.seed);
    const BpSampleResult result = bp_sample(graph, limits_of(options), sample_options, bp_watch.observer());
    answer = particle_answer(result.approximation, result.report.stop, result.report.spent);
  } else {
    answer.stop = beliefs.report.is_converged() ? "converged" : "not converged";
    answer.spent = beliefs.report.spent;
  }
  answer.method = fmt::format("bp: {} after {}; log Z is the Bethe value, no bound",
                              beliefs.report.is_converged() ? "converged" : "NOT converged",
                              counted(beliefs.report.num_steps, "step"));
  answer.log_z = beliefs.report.estimate;
  answer.marginals = beliefs.marginals;
  answer.marginals_from = "beliefs";
  return answer;
}

}  // namespace

std::optional<Answer> eliminate(const FactorGraph& whole, const InferOptions& options) {
  Answer answer;
  answer.summed = sum_out(whole, options);
  const EliminationOptions elimination_settings = options.elimination.value_or(elimination_options(options));
  const Observer observer = unless_late(options, kEliminationLook, kEliminationEnd);  // marginals begin at 0 again
  const FactorGraph& graph = answer.summed ? answer.summed->graph() : whole;
  const auto done =
      unless_given_up([&] { return Elimination(graph, limits_of(options), elimination_settings, observer); });
  if (!done) return {};
  const auto elimination = std::make_shared<const Elimination>(*done);
  answer.method = fmt::format("exact: variable elimination, width {}{}", elimination->cost().width,
                              summed_out_text(answer.summed.get()));
  LogBounds bounds = elimination->bounds();
  if (answer.summed) bounds = {bounds.lower - answer.summed->log_slack(), bounds.upper + answer.summed->log_slack()};
  answer.set_log_z(elimination->log_z(), bounds);
  answer.stop = to_string(answer.is_exact ? StopReason::kExact : StopReason::kRounding);
  answer.marginals_from = "exact";
  answer.approximation = elimination;
  if (answer.log_z == kNegInf) return answer;
  const std::optional<Marginals> marginals = unless_given_up([&] { return elimination->marginals(); });
  if (marginals && !answer.summed) {
    answer.set_exact_marginals(*marginals);
    if (!answer.is_exact) {
      answer.marginals_error = std::min(1.0, std::expm1(2.0 * (bounds.upper - bounds.lower)));
      answer.marginal_errors.assign(marginals->size(), *answer.marginals_error);
      answer.marginals_from =
          fmt::format("by elimination, which rounding puts in doubt: errors up to {:.2g}", *answer.marginals_error);
    }
  } else {
    if (answer.summed) answer.approximation = std::make_shared<CompletedApproximation>(answer.summed, elimination);
    add_sampled_marginals(answer, whole, elimination->log_z(), options);
    if (answer.summed) improve_best(answer, whole);
    if (marginals && answer.summed) answer.set_exact_marginals_left(*marginals);
  }
  const std::string missing = add_most_probable(answer, whole, *elimination, options);
  if (missing.empty()) return answer;
  answer.is_best_optimal.reset();
  if (!answer.best) answer.best = best_sample(*answer.approximation, whole, options);
  note(options.is_quiet, fmt::format("the most probable configuration was not looked for: not enough {}", missing));
  return answer;
}

Answer run_method(const FactorGraph& graph, const InferOptions& options) {
  if (options.method == "sis" || options.method == "smc") return particle_filter(graph, options);
  if (options.method == "gibbs") return gibbs_sampling(graph, options);
  if (options.method == "bp") return message_passing(graph, options);
  if (options.select == "gap") return anytime(graph, options);
  if (options.select == "mass") return mass_search(graph, options);
  check_argument(options.oracle_workers == 1, "--oracle-workers", "several need --select mass");
  return search(graph, options);
}

}  // namespace treesample::cli
