// Counting: exact answers of models with many zeros.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "infer/counting.hpp"
#include "infer/policy.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

CountOptions count_options(const Task& task, double end) {
  CountOptions options;
  options.memory_limit_bytes = task.limits().bytes / policy::kSearchMemoryDivisor;
  options.seed = task.seed();
  options.should_stop = [run = task.run, end = end * task.run.time_limit()] {
    return run.is_interrupted() || run.seconds() > end;
  };
  options.seconds = end * task.run.time_limit() - task.run.seconds();  // a part of it is for the bounds
  return options;
}

// What a circuit tells. It belongs to a search that was solved, so that everything is exact.
void take_circuit(Draft& draft, const std::shared_ptr<const Circuit>& circuit, const Task& task) {
  draft.approximation = circuit;
  if (task.question().marginals) draft.set_exact_marginals(circuit->marginals());
  if (!task.question().best) return;
  draft.best = circuit->best();
  // The best of the circuit is the best of the model up to the rounding of the circuit's products.
  draft.best->log_density = task.graph.log_density(draft.best->x);
}

}  // namespace

bool wants_counting(const FactorGraph& graph) {
  std::size_t num_entries = 0, num_zeros = 0;
  for (const Factor& factor : graph.factors()) {
    if (!factor.is_table()) return false;
    if (factor.scope().size() < 2) continue;
    num_entries += factor.log_values().size();
    num_zeros += static_cast<std::size_t>(std::count(factor.log_values().begin(), factor.log_values().end(), kNegInf));
  }
  return static_cast<double>(num_zeros) >= policy::kZerosToCount * static_cast<double>(num_entries) && num_zeros > 0;
}

CountResult count_within(const Task& task, double end) {
  task.run.tell({.phase = "counting"});
  CountResult counted = count(task.graph, count_options(task, end));
  task.run.tell({.phase = "counting", .log_z = counted.log_z});
  return counted;
}

std::shared_ptr<const Circuit> circuit_within(const Task& task, double end) {
  if (!(task.run.seconds() < end * task.run.time_limit())) return nullptr;
  task.run.tell({.phase = "circuit"});
  CountOptions options = count_options(task, end);
  options.keep_circuit = true;
  return count(task.graph, options).circuit;
}

void set_counted(Draft& draft, const CountResult& counted, const Task& task, double end) {
  draft.stop = counted.log_z.is_exact() ? StopReason::kExact : StopReason::kRounding;
  draft.set_log_z(counted.log_z.lower == kNegInf ? kNegInf : 0.5 * (counted.log_z.lower + counted.log_z.upper),
                  counted.log_z);
  draft.method = fmt::format("count: {}", counted.report.brief());
  if (draft.log_z == kNegInf) return;
  const bool wants_more = task.question().marginals || task.question().best || task.question().samples > 0;
  if (!wants_more) return;
  if (const auto circuit = circuit_within(task, end)) {
    take_circuit(draft, circuit, task);
    draft.method += fmt::format("; circuit of {}", treesample::counted(circuit->num_nodes(), "node"));
  }
}

Draft run_count(const Task& task) {
  Draft draft;
  const CountResult result = count_within(task, policy::kCountEnd);
  if (result.is_solved) {
    set_counted(draft, result, task, 1.0);
    return draft;
  }
  draft.method = fmt::format("count: {}", result.report.brief());
  draft.stop = result.report.end == CountEnd::kMemory ? StopReason::kMemory : StopReason::kTime;
  if (result.log_z.lower != kNegInf) {
    draft.set_log_z(result.log_z.lower, result.log_z);
  } else if (result.log_z.upper < HUGE_VAL) {
    draft.upper = result.log_z.upper;  // and no estimate
  }
  return draft;
}

}  // namespace treesample
