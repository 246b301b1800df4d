#include "anytime_method.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include "command.hpp"
#include "infer_support.hpp"
#include "trace_file.hpp"
#include "treesample/error.hpp"
#include "treesample/evaluate/bounded_importance.hpp"
#include "treesample/exact/find_configuration.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/search/first_bounds.hpp"
#include "treesample/search/solved_marginals.hpp"
#include "treesample/value/make_leaf_value.hpp"

namespace treesample::cli {
namespace {

// Of the time limit: when the search ends and sampling begins.
constexpr double kSearchEnd = 0.65;
// Bounds that are this far apart when this much time is over hardly move any more: samples then tell more.
constexpr double kFarGap = 10.0;
constexpr double kFarSearchEnd = 0.4;
constexpr double kPassSecondsPerNode = 0.5e-6;  // for the samplers and the best configuration
constexpr double kFindShare = 0.1;              // for a first configuration
constexpr double kFindSeconds = 2.0;            // the same without a time limit
constexpr double kExactMarginalsShare = 0.2;    // of the time limit, when the search is solved
constexpr double kExactMarginalsSeconds = 5.0;
constexpr int kMeanFieldSweeps = 20;
constexpr double kMeanFieldShare = 0.05, kMeanFieldSeconds = 5.0;
constexpr double kEstimateEnd = 0.9, kRejectionEstimateEnd = 0.75;  // of the time limit, where --samples are to follow
constexpr std::int64_t kFewestSamples = 10'000;
constexpr double kExtraSamplesSeconds = 10.0, kSolvedSamplesSeconds = 5.0;

struct Leaves {
  LeafValues values;
  std::string text;
};

Leaves make_leaves(const FactorGraph& graph, const SearchSpace& space, const InferOptions& options) {
  const bool has_tables = graph.has_only_tables();
  Leaves leaves;
  const bool has_buckets = options.prior.rfind("mini-bucket", 0) == 0;
  const auto made = has_buckets ? unless_given_up([&] { return make_mini_buckets(graph, space, options); })
                                : std::optional<std::shared_ptr<const WeightedMiniBucket>>();
  if (made) {
    const auto& buckets = *made;
    const LocalDistributions local = mean_field(graph, kMeanFieldSweeps, static_cast<std::uint64_t>(options.seed),
                                                time_box(options, kMeanFieldShare, kMeanFieldSeconds));
    leaves.values = mini_bucket_leaves(graph, space, buckets, local, set_up_limit(options));
    leaves.text = fmt::format("mini-bucket, i = {}", buckets->report().i_bound);
    return leaves;
  }
  if (has_buckets) note(options.is_quiet, "no time for mini-buckets: the maxima of the factors are the bounds");
  leaves.values.upper = maxima_value(graph, space, set_up_limit(options));
  if (has_tables) {
    leaves.values.lower = product_value(graph, space, uniform_distributions(graph), set_up_limit(options));
  }
  check_argument(leaves.values.upper != nullptr, "--select gap",
                 "needs upper bounds: a factor that is a function must declare its maximum");
  leaves.text = "maxima of the factors";
  if (options.prior.rfind("net:", 0) == 0) {
    leaves.values.estimate = make_leaf_value(options.prior, graph, space);
    leaves.text += ", estimates by " + options.prior;
  }
  return leaves;
}

// One possible configuration, for models in which that is not a matter of course.
std::optional<Configuration> first_configuration(const FactorGraph& graph, const InferOptions& options) {
  if (!graph.has_only_tables()) return {};
  FindOptions find;
  find.seed = static_cast<std::uint64_t>(options.seed);
  find.should_stop = time_box(options, kFindShare, kFindSeconds);
  FindResult found = find_configuration(graph, find);
  if (found.outcome != FindOutcome::kFound) return {};
  return std::move(found.configuration);
}

AnytimeOptions search_options(const InferOptions& options) {
  AnytimeOptions result;
  result.c = options.c;
  result.epsilon = options.epsilon;
  result.answer_order = answer_order(options);
  result.seconds_per_node = kPassSecondsPerNode;
  result.observer_interval = options.trace.empty() ? 256 : TraceFile::kInterval;
  return result;
}

// The completed sampler by upper bounds: the weights of the smaller model are those of the whole one.
BoundedSampler completed(const SearchApproximation& upper, const SummedModel* summed) {
  if (summed == nullptr) {
    return {upper.log_value(), [&upper](std::span<int> x, Random& random) { return upper.sample_into(x, random); }};
  }
  return {upper.log_value(),
          [&upper, summed, left = Assignment(summed->variable_of().size())](std::span<int> x, Random& random) mutable {
            const double log_prob = upper.sample_into(left, random);
            for (std::size_t i = 0; i < left.size(); ++i) x[summed->variable_of()[i]] = left[i];
            return log_prob + summed->draw(x, random);
          }};
}

// Samples until the time is over, or --importance of them, more where they are cheap. What is solved needs them for
// marginals only, and a user who asked for a gap wants the answer once it is reached.
BoundedImportance estimate(const FactorGraph& graph, const BoundedSampler& upper, const InferOptions& options,
                           StopReason stop) {
  BoundedImportanceOptions importance;
  importance.confidence = options.confidence;
  const bool is_done = stop == StopReason::kExact || stop == StopReason::kRounding || stop == StopReason::kGap;
  // Calls of programs are made as far as the budget pays for them.
  const bool is_paid = !graph.has_only_tables() && options.budget != INT64_MAX;
  const bool fills_time = options.time > 0.0 && !is_done && !is_paid;
  importance.max_samples = fills_time ? INT64_MAX : options.num_importance;
  if (!fills_time && graph.has_only_tables()) importance.max_samples = std::max(options.num_importance, kFewestSamples);
  const double end_with_samples = options.sampler == "rejection" ? kRejectionEstimateEnd : kEstimateEnd;
  ShouldStop should_stop = time_limit(options, options.num_samples > 0 ? end_with_samples : 1.0);
  if (options.time <= 0.0) {
    // More than were asked for only as long as they are cheap. What is solved needs none of them: a sample of a
    // variable with a million states takes a hundredth of a second.
    const bool is_solved = stop == StopReason::kExact;
    should_stop = [num_drawn = std::int64_t{0}, most = is_solved ? 1 : options.num_importance,
                   is_late =
                       time_box(options, 1.0, is_solved ? kSolvedSamplesSeconds : kExtraSamplesSeconds)]() mutable {
      return Interruption::is_overdue() || (++num_drawn >= most && is_late());
    };
  }
  Random random(static_cast<std::uint64_t>(options.seed), "importance");
  return bounded_importance(graph, upper, importance, random, {.should_stop = should_stop});
}

// Of the whole model.
LogBounds certified_bounds(const AnytimeResult& result, const SummedModel* summed) {
  const double log_slack = summed != nullptr ? summed->log_slack() : 0.0;
  return {result.report.log_z.lower - log_slack, result.report.log_z.upper + log_slack};
}

// What --samples are drawn from: certified when it can be.
void choose_sampler(Answer& answer, const AnytimeResult& result,
                    const std::shared_ptr<const SearchApproximation>& upper, const InferOptions& options) {
  const auto complete = [&](std::shared_ptr<const Approximation> sampler) -> std::shared_ptr<const Approximation> {
    if (!answer.summed) return sampler;
    return std::make_shared<CompletedApproximation>(answer.summed, std::move(sampler));
  };
  answer.approximation = complete(upper);
  if (options.sampler == "rejection") {
    answer.exact_sampler = upper;
    return;
  }
  if (options.sampler == "upper") return;
  const auto lower = std::make_shared<SearchApproximation>(result, SamplerKind::kLower, time_limit(options));
  if (lower->log_value() == kNegInf) return;
  answer.approximation = complete(lower);
  answer.sampler_divergence = std::max(0.0, certified_bounds(result, answer.summed.get()).upper - lower->log_value());
}

// Where every weighted sample is impossible, P_L still knows something that is not.
void add_certified_marginals(Answer& answer, const FactorGraph& graph, const InferOptions& options) {
  constexpr int kMostSamples = 1000;
  const int num_samples = add_frequencies(answer, *answer.approximation, graph, kMostSamples, options);
  answer.marginals_from = fmt::format("from {} samples of P_L: all weighted samples were impossible", num_samples);
}

std::optional<Configuration> completed(std::optional<Configuration> best, const FactorGraph& whole,
                                       const SummedModel* summed) {
  if (!best || summed == nullptr) return best;
  Assignment x = summed->spread(best->x);
  summed->choose_best(x);
  const double log_density = whole.log_density(x);
  return Configuration{std::move(x), log_density};
}

// Of a solved search: from its store, else by elimination where that is quick. Those of barren variables follow from
// neither.
void add_exact_marginals(Answer& answer, const FactorGraph& whole, const AnytimeResult& result,
                         const SearchApproximation& upper, const InferOptions& options) {
  const double seconds = box_seconds(options, kExactMarginalsShare, kExactMarginalsSeconds);
  SolvedMarginalsOptions pass;
  pass.bytes = parse_size("--memory", options.memory) / 4;
  pass.should_stop = time_box(options, kExactMarginalsShare, kExactMarginalsSeconds);
  const std::optional<Marginals> solved = solved_marginals(result, upper, pass);
  if (solved && !answer.summed) {
    answer.set_exact_marginals(*solved);
  } else if (!whole.has_only_tables()) {
    return;
  } else if (const auto elimination = cheap_elimination(whole, options, seconds)) {
    answer.set_exact_marginals(Elimination(whole, limits_of(options), *elimination).marginals());
  } else if (solved && answer.marginals.size() == static_cast<std::size_t>(whole.num_variables())) {
    answer.set_exact_marginals_left(*solved);
  }
}

// What is drawn from the search: samples, an estimate with its interval, marginals.
void add_samplers(Answer& answer, const FactorGraph& whole, const AnytimeResult& result, const InferOptions& options) {
  if (!(result.report.log_z.upper < HUGE_VAL)) return;  // beyond the range of the search's numbers
  const auto upper = std::make_shared<SearchApproximation>(result, SamplerKind::kUpper, time_limit(options));
  if (upper->log_value() == kNegInf) return;
  choose_sampler(answer, result, upper, options);
  const LogBounds bounds{answer.lower.value_or(kNegInf), answer.upper.value_or(HUGE_VAL)};  // what is known of log Z
  // Samples of a model with programs cost calls: where the search is solved it tells more than they would.
  if (answer.is_exact && !whole.has_only_tables()) add_exact_marginals(answer, whole, result, *upper, options);
  if (options.num_importance == 0 || answer.error || !answer.marginals.empty()) return;
  BoundedImportance sampled = estimate(whole, completed(*upper, answer.summed.get()), options, result.report.stop);
  if (sampled.error) answer.error = sampled.error;
  sampled.log_z = bounds.clamp(sampled.log_z);
  if (!answer.is_exact && sampled.log_z != kNegInf) answer.log_z = sampled.log_z;
  // What is certified holds with any confidence.
  sampled.interval.lower = std::max(sampled.interval.lower, bounds.lower);
  sampled.interval.upper = std::min(sampled.interval.upper, bounds.upper);
  answer.set_sampled_marginals(sampled, "weighted");
  if (!sampled.best.x.empty()) check_below_upper(sampled.best.log_density, bounds.upper);
  const bool is_better = !answer.best || sampled.best.log_density > answer.best->log_density;
  if (!sampled.best.x.empty() && is_better) answer.best = sampled.best;
  answer.bounded_importance = std::move(sampled);
  if (answer.is_exact && whole.has_only_tables()) add_exact_marginals(answer, whole, result, *upper, options);
  if (answer.marginals.empty() && answer.sampler_divergence) add_certified_marginals(answer, whole, options);
}

}  // namespace

Answer anytime(const FactorGraph& whole, const InferOptions& options) {
  const Stopwatch& watch = options.clock;
  Watch progress(options);  // from here on Ctrl-C ends with an answer
  const std::shared_ptr<const SummedModel> summed = sum_out(whole, options);
  TraceFile trace(options.trace, summed ? summed->log_slack() : 0.0);
  const FactorGraph& graph = summed ? summed->graph() : whole;
  // There is something certain from the first moment on.
  trace.add(watch.seconds(), {}, first_bounds(whole), kNegInf);
  const std::optional<Configuration> first = first_configuration(whole, options);
  const LogBounds first_known = first_bounds(whole, first);
  trace.add(watch.seconds(), {}, first_known, kNegInf);
  const bool has_buckets = options.prior.rfind("mini-bucket", 0) == 0;
  const SearchSpace space = has_buckets ? space_for_mini_buckets(graph, options, parse_space(options.space))
                                        : space_for(graph, options, parse_space(options.space));
  const Leaves leaves = make_leaves(graph, space, options);
  AnytimeOptions search = search_options(options);
  if (first) search.first_configurations = {summed ? summed->left(first->x) : first->x};
  Limits limits = limits_of(options);
  limits.bytes /= 2;
  limits.gap = options.gap;
  if (options.time > 0.0) limits.seconds = std::max(0.0, kSearchEnd * options.time - watch.seconds());
  double last_estimate = kNegInf;
  bool ends_far = false;
  const auto tell = [&](const treesample::Progress& now) {
    last_estimate = now.estimate.value_or(kNegInf);
    trace.add(watch.seconds(), now.spent, now.log_z, last_estimate);
    const bool is_late = options.time > 0.0 && watch.seconds() > kFarSearchEnd * options.time;
    ends_far = is_late && options.gap == 0.0 && now.log_z.upper - now.log_z.lower > kFarGap;
    progress.update(
        now.spent, watch.seconds(),
        fmt::format(", {} nodes, log Z in [{:.4f}, {:.4f}]", now.num_nodes, now.log_z.lower, now.log_z.upper));
  };
  const AnytimeResult result =
      anytime_search(graph, space, leaves.values, limits, search,
                     {tell, [&, is_over = search_limit(options)] { return ends_far || is_over(); }});
  const AnytimeReport& report = result.report;
  // The last sweep of the search may have gained something; sampling changes no bound.
  trace.add(watch.seconds(), report.spent, report.log_z,
            std::clamp(last_estimate, report.log_z.lower, report.log_z.upper));
  Answer answer;
  answer.summed = summed;
  answer.method = fmt::format("treesample with bounds, space {}, order {} (width {}), leaves: {}{}", options.space,
                              options.order, space.width(), leaves.text, summed_out_text(summed.get()));
  answer.stop = ends_far ? to_string(StopReason::kTime) : to_string(report.stop);
  answer.error = report.error;
  answer.spent = report.spent;
  const LogBounds bounds = certified_bounds(result, summed.get());
  // A search that had no time may know less than what was known before it.
  const LogBounds known{std::max(bounds.lower, first_known.lower), std::min(bounds.upper, first_known.upper)};
  answer.set_log_z(bounds.is_exact() ? report.estimate : known.lower, known);
  unless_given_up([&] {
    add_samplers(answer, whole, result, options);
    return true;
  });
  unless_given_up([&] {
    const auto best = completed(best_configuration(result, time_limit(options)), whole, summed.get());
    if (best && (!answer.best || best->log_density >= answer.best->log_density)) answer.best = best;
    return true;
  });
  if (first && (!answer.best || first->log_density > answer.best->log_density)) answer.best = first;
  trace.finish(watch.seconds(), report.spent, report.log_z, *answer.log_z);
  return answer;
}

}  // namespace treesample::cli
