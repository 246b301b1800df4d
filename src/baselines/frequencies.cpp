#include "treesample/baselines/frequencies.hpp"

#include <cmath>

#include "baselines/frequency_proposals.hpp"
#include "baselines/one_by_one.hpp"

namespace treesample {
FrequenciesResult best_by_frequencies(const FactorGraph& graph, const Limits& limits, const FrequenciesOptions& options,
                                      const Observer& observer) {
  OneByOne asking(graph, limits, observer, "frequencies");
  FrequencyProposals proposals(graph, options.seed);
  FrequenciesReport report;
  while (const std::optional<Assignment> x = proposals.next()) {
    const std::optional<double> value = asking.ask(*x);
    if (!value) break;
    proposals.note(*x, *value);
  }
  report.num_asked = asking.num_asked();
  report.log_error = asking.log_error();
  report.is_complete = std::log(static_cast<double>(report.num_asked)) >= graph.log_num_configurations() - 1e-9;
  if (report.is_complete) asking.end(StopReason::kConverged);
  static_cast<RunReport&>(report) = asking.report();
  return {asking.best(), report};
}

}  // namespace treesample
