#include "first_answer.hpp"

#include <cmath>

#include "infer_support.hpp"
#include "treesample/exact/find_configuration.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/search/first_bounds.hpp"

namespace treesample::cli {
namespace {

constexpr double kFindSeconds = 0.1;

}  // namespace

Answer first_answer(const FactorGraph& graph, const InferOptions& options) {
  Answer answer;
  answer.method = "first bounds: the maxima of the factors and one configuration; there was no time for more";
  answer.stop = to_string(Interruption::is_asked() ? StopReason::kInterrupted : StopReason::kTime);
  bool is_impossible = false;
  if (graph.has_only_tables()) {
    FindOptions find;
    find.seed = static_cast<std::uint64_t>(options.seed);
    const Stopwatch watch;
    find.should_stop = [&] { return watch.seconds() > kFindSeconds; };
    FindResult found = find_configuration(graph, find);
    if (found.outcome == FindOutcome::kFound) answer.best = std::move(found.configuration);
    is_impossible = found.outcome == FindOutcome::kImpossible;
  }
  const LogBounds bounds = first_bounds(graph, answer.best);
  if (is_impossible || bounds.upper == kNegInf) {
    answer.set_log_z(kNegInf, {kNegInf, kNegInf});
    answer.stop = to_string(StopReason::kExact);
  } else if (bounds.lower != kNegInf) {
    answer.set_log_z(bounds.lower, bounds);
  } else if (bounds.upper < HUGE_VAL) {
    answer.upper = bounds.upper;  // and no estimate
  }
  return answer;
}

}  // namespace treesample::cli
