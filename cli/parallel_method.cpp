#include "parallel_method.hpp"

#include <fmt/format.h>

#include "command.hpp"
#include "infer_support.hpp"
#include "number_text.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/search/anytime_search.hpp"
#include "treesample/search/bounded_approximation.hpp"

namespace treesample::cli {
namespace {

constexpr int kMarginalSamples = 10'000;

AnytimeOptions search_options(const InferOptions& options) {
  AnytimeOptions result;
  result.budget = options.budget;
  result.budget_unit = options.budget_unit();
  result.select = SelectRule::kQUct;
  result.c = options.c;
  result.epsilon = options.epsilon;
  result.dive_interval = 0;  // the rule goes deep by itself, and a dive occupies one worker only
  if (options.time > 0.0) result.time_limit_seconds = options.time;
  result.memory_limit_bytes = parse_size("--memory", options.memory);
  result.observer_interval = 1;
  result.answer_order = options.oracle_order == "submission" ? AnswerOrder::kSubmission : AnswerOrder::kArrival;
  return result;
}

}  // namespace

Answer parallel_search(const FactorGraph& graph, const InferOptions& options) {
  check_argument(options.prior == "uniform", "--prior", "only uniform is possible with several --oracle-workers");
  const SearchSpace space = space_for(graph, options, parse_space(options.space));
  LeafValues leaves;
  leaves.upper = maxima_fallback(graph, space);  // null unless all factors have a maximum
  leaves.estimate = value_fallback(std::make_shared<UniformValue>(space), space);
  Watch watch(options);
  const AnytimeResult result =
      anytime_search(graph, space, leaves, search_options(options), [&](const AnytimeProgress& now) {
        return watch.update(now.spent, now.seconds,
                            fmt::format(", {} nodes, log Z about {:.4f}", now.num_nodes, now.estimate));
      });
  const AnytimeReport& report = result.report;
  const auto approximation = std::make_shared<BoundedApproximation>(result, SamplerKind::kEstimate);
  Answer answer;
  answer.method = fmt::format(
      "treesample, space {}, order {} (width {}), prior uniform, {} programs at a time (order of {}); exact takes {} "
      "evaluations",
      options.space, options.order, space.width(), options.oracle_workers, options.oracle_order,
      count_text(space.log_exact_cost()));
  answer.stop = to_string(report.stop);
  answer.error = report.error;
  answer.spent = report.spent;
  answer.is_exact = report.stop == StopReason::kExact;
  answer.log_z = answer.is_exact ? report.log_z.upper : approximation->log_value();
  answer.lower = report.log_z.lower;
  if (leaves.upper) answer.upper = report.log_z.upper;
  if (approximation->log_value() == kNegInf) return answer;
  answer.approximation = approximation;
  answer.has_importance = !answer.is_exact && !answer.error && report.stop != StopReason::kInterrupted;
  Random random(static_cast<std::uint64_t>(options.seed), "marginals");
  answer.marginals = sampled_marginals(*approximation, graph, kMarginalSamples, random);
  answer.marginals_from = fmt::format("from {} samples of the approximation", kMarginalSamples);
  return answer;
}

}  // namespace treesample::cli
