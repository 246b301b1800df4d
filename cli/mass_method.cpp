#include "mass_method.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "command.hpp"
#include "infer_support.hpp"
#include "trace_file.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/search/solved_marginals.hpp"
#include "treesample/value/make_leaf_value.hpp"

namespace treesample::cli {
namespace {

constexpr int kMarginalSamples = 10'000;
constexpr double kSearchEnd = 0.85;  // of the time, where importance sampling is to follow
constexpr double kExactMarginalsShare = 0.2, kExactMarginalsSeconds = 5.0;
// For estimates that agree with each other, the sampler and the best configuration.
constexpr double kPassSecondsPerNode = 0.5e-6;

// Upper bounds where all factors have a maximum; estimates by --prior, null for those that the search learns.
LeafValues make_leaves(const FactorGraph& graph, const SearchSpace& space, const InferOptions& options) {
  const std::string& prior = options.prior;
  LeafValues leaves;
  leaves.upper = maxima_value(graph, space, set_up_limit(options));
  if (prior == "calibrated") return leaves;
  if (prior != "uniform" && prior.rfind("net:", 0) != 0) {
    throw_argument("--prior", fmt::format("'{}' is none of calibrated, uniform, net:FILE (--select mass)", prior));
  }
  leaves.estimate = make_leaf_value(prior, graph, space);
  return leaves;
}

AnytimeOptions search_options(const FactorGraph& graph, const InferOptions& options) {
  AnytimeOptions result;
  result.select = SelectRule::kMass;
  result.c = options.c;
  result.seed = static_cast<std::uint64_t>(options.seed);
  result.seconds_per_node = kPassSecondsPerNode;
  result.answer_order = answer_order(options);
  result.observer_interval = graph.has_only_tables() ? 256 : 1;  // a function may take seconds
  if (!options.trace.empty()) result.observer_interval = std::min(result.observer_interval, TraceFile::kInterval);
  return result;
}

// Of a search that ended solved, by one pass over its store: P_V where everything was evaluated, P_U where bounds
// closed what was not.
std::optional<Marginals> exact_marginals(const AnytimeResult& result, const SearchApproximation& sampler,
                                         const InferOptions& options) {
  SolvedMarginalsOptions pass;
  pass.bytes = parse_size("--memory", options.memory) / 4;
  pass.should_stop = time_box(options, kExactMarginalsShare, kExactMarginalsSeconds);
  if (auto marginals = solved_marginals(result, sampler, pass)) return marginals;
  if (!result.leaves.upper) return {};
  return solved_marginals(result, SearchApproximation(result, SamplerKind::kUpper), pass);
}

// What the budget of calls leaves buys no node any more, but configurations of P_X: one of them may be the best.
void spend_rest(Answer& answer, const FactorGraph& graph, const InferOptions& options) {
  const std::int64_t calls_each = num_functions(graph);
  const std::int64_t rest = options.budget - answer.spent.calls;
  if (options.unit != "call" || answer.stop != to_string(StopReason::kBudget) || rest < calls_each) return;
  if (options.budget == INT64_MAX || calls_each == 0) return;
  Random random(static_cast<std::uint64_t>(options.seed), "rest");
  const ImportanceEstimate drawn =
      importance_estimate(graph, *answer.approximation, static_cast<int>(rest / calls_each), random,
                          {.should_stop = [&] { return Interruption::is_asked() || options.seconds_left() <= 0.0; }});
  answer.spent += drawn.spent;
  if (drawn.error) answer.error = drawn.error;
  if (drawn.best.log_density == kNegInf) return;
  if (!answer.best || drawn.best.log_density > answer.best->log_density) answer.best = drawn.best;
}

void add_sampler(Answer& answer, const FactorGraph& graph, const AnytimeResult& result, const InferOptions& options) {
  const auto sampler = std::make_shared<SearchApproximation>(result, SamplerKind::kEstimate, time_limit(options));
  if (sampler->log_value() == kNegInf) return;
  answer.approximation = sampler;
  answer.best = best_configuration(result, time_limit(options));
  const bool is_solved = result.report.stop == StopReason::kExact || result.report.stop == StopReason::kRounding;
  if (is_solved) {
    if (auto marginals = exact_marginals(result, *sampler, options)) {
      answer.set_exact_marginals(*std::move(marginals));
      return;
    }
  }
  answer.has_importance = !is_solved && !answer.error && result.report.stop != StopReason::kInterrupted;
  // P_X of a complete configuration is gamma / exp(log_value), so this is their share.
  if (!answer.is_exact)
    answer.unexplored_mass = -std::expm1(std::min(0.0, result.report.log_z.lower - sampler->log_value()));
  const int num_samples = add_frequencies(answer, *sampler, graph, kMarginalSamples, options);
  answer.marginals_from = fmt::format("from {} samples of P_X", num_samples);
  if (!answer.error) spend_rest(answer, graph, options);
}

}  // namespace

Answer mass_search(const FactorGraph& graph, const InferOptions& options) {
  const Stopwatch& clock = options.clock;
  Watch watch(options);
  TraceFile trace(options.trace);
  const SearchSpace space = space_for(graph, options, parse_space(options.space));
  const LeafValues leaves = make_leaves(graph, space, options);
  Limits limits = limits_of(options);
  limits.bytes /= 2;
  limits.gap = options.gap;
  limits.seconds = (options.num_importance > 0 ? kSearchEnd : 1.0) * options.seconds_left();
  const auto tell = [&](const treesample::Progress& now) {
    const double estimate = now.estimate.value_or(kNegInf);
    trace.add(clock.seconds(), now.spent, now.log_z, estimate);
    watch.update(now.spent, clock.seconds(), fmt::format(", {} nodes, log Z ~ {:.4f}", now.num_nodes, estimate));
  };
  const AnytimeResult result =
      anytime_search(graph, space, leaves, limits, search_options(graph, options), {tell, search_limit(options)});
  const AnytimeReport& report = result.report;
  Answer answer;
  answer.method = fmt::format("treesample by unresolved mass, space {}, order {} (width {}), prior {}", options.space,
                              options.order, space.width(), options.prior);
  if (options.oracle_workers > 1) {
    answer.method += fmt::format(", {} programs at a time (order of {})", options.oracle_workers, options.oracle_order);
  }
  answer.stop = to_string(report.stop);
  answer.error = report.error;
  answer.spent = report.spent;
  answer.set_log_z(report.estimate, report.log_z);
  trace.finish(clock.seconds(), report.spent, report.log_z, *answer.log_z);
  if (report.spent.calls > 0) answer.evaluated = {0.0, report.estimate, "learned from the evaluations"};
  unless_given_up([&] {
    add_sampler(answer, graph, result, options);
    return true;
  });
  return answer;
}

}  // namespace treesample::cli
