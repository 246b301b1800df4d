#include "mass_method.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "command.hpp"
#include "infer_support.hpp"
#include "trace_file.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/value/network_value.hpp"

namespace treesample::cli {
namespace {

constexpr int kMarginalSamples = 10'000;
constexpr double kSearchEnd = 0.85;  // of the time, where importance sampling is to follow

// Upper bounds where all factors have a maximum; estimates by --prior, null for those that the search learns.
LeafValues make_leaves(const FactorGraph& graph, const SearchSpace& space, const std::string& prior) {
  LeafValues leaves;
  leaves.upper = maxima_fallback(graph, space);
  if (prior == "calibrated") return leaves;
  std::shared_ptr<const ValueFunction> value;
  if (prior == "uniform") {
    value = std::make_shared<UniformValue>(space);
  } else if (prior.rfind("net:", 0) == 0) {
    value = load_network_value(prior.substr(4), graph, {}, space);
  } else {
    throw_argument("--prior", fmt::format("'{}' is none of calibrated, uniform, net:FILE (--select mass)", prior));
  }
  leaves.estimate = value_fallback(value, space);
  return leaves;
}

AnytimeOptions search_options(const FactorGraph& graph, const InferOptions& options) {
  AnytimeOptions result;
  result.select = SelectRule::kMass;
  result.budget = options.budget;
  result.budget_unit = options.budget_unit();
  result.c = options.c;
  result.seed = static_cast<std::uint64_t>(options.seed);
  result.gap = options.gap;
  result.time_limit_seconds = (options.num_importance > 0 ? kSearchEnd : 1.0) * options.seconds_left();
  result.memory_limit_bytes = parse_size("--memory", options.memory) / 2;
  result.answer_order = answer_order(options);
  result.observer_interval = graph.has_only_tables() ? 256 : 1;  // a function may take seconds
  if (!options.trace.empty()) result.observer_interval = std::min(result.observer_interval, TraceFile::kInterval);
  return result;
}

void add_sampler(Answer& answer, const FactorGraph& graph, const AnytimeResult& result, const InferOptions& options) {
  const auto sampler = std::make_shared<BoundedApproximation>(result, SamplerKind::kEstimate);
  if (sampler->log_value() == kNegInf) return;
  answer.approximation = sampler;
  answer.has_importance = !answer.is_exact && !answer.error && result.report.stop != StopReason::kInterrupted;
  // P_X of a complete configuration is gamma / exp(log_value), so this is their share.
  if (!answer.is_exact)
    answer.unexplored_mass = -std::expm1(std::min(0.0, result.report.log_z.lower - sampler->log_value()));
  const int num_samples = add_frequencies(answer, *sampler, graph, kMarginalSamples, options);
  answer.marginals_from = fmt::format("from {} samples of P_X", num_samples);
  answer.best = best_configuration(result);
}

}  // namespace

Answer mass_search(const FactorGraph& graph, const InferOptions& options) {
  const Stopwatch& clock = options.clock;
  const SearchSpace space = space_for(graph, options, parse_space(options.space));
  const LeafValues leaves = make_leaves(graph, space, options.prior);
  Watch watch(options);
  TraceFile trace(options.trace);
  const AnytimeResult result =
      anytime_search(graph, space, leaves, search_options(graph, options), [&](const AnytimeProgress& now) {
        trace.add(clock.seconds(), now.spent, now.log_z, now.estimate);
        return watch.update(now.spent, clock.seconds(),
                            fmt::format(", {} nodes, log Z ~ {:.4f}", now.num_nodes, now.estimate));
      });
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
  add_sampler(answer, graph, result, options);
  return answer;
}

}  // namespace treesample::cli
