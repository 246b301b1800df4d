#include "treesample/reduce/simplify.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "math/compensated_sum.hpp"
#include "model/table_index.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/reduce/propagator.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

bool depends_on_all(const FactorGraph& graph, const Factor& factor) {
  if (factor.is_clause()) return true;  // over variables of two and more states, as propagation leaves them
  const std::vector<int> num_states = states_of_scope(graph, factor.scope());
  for (std::size_t place = 0; place < num_states.size(); ++place) {
    if (is_flat(num_states, factor.log_values(), place)) return false;
  }
  return !factor.scope().empty();
}

// Step 4 of the header.
void drop_what_says_nothing(FactorGraph& graph, SimplifyReport& report) {
  const bool says_all = std::all_of(graph.factors().begin(), graph.factors().end(), [&](const Factor& factor) {
    return !factor.is_table() || depends_on_all(graph, factor);
  });
  if (says_all) return;
  FactorGraph smaller;
  for (int v = 0; v < graph.num_variables(); ++v) smaller.add_variable(graph.variable(v));
  CompensatedSum constant;
  for (const Factor& factor : graph.factors()) {
    if (!factor.is_table() || depends_on_all(graph, factor)) {
      smaller.add_factor(factor);
      continue;
    }
    std::vector<int> scope = factor.scope();
    std::vector<double> values = factor.log_values();
    const bool is_smaller = drop_flat_variables(states_of_scope(graph, scope), scope, values);
    if (scope.empty()) {
      constant.add(values[0]);
      ++report.num_dropped_factors;
    } else {
      smaller.add_factor(Factor::table_of_sums(std::move(scope), std::move(values)));
      report.num_smaller_factors += is_smaller ? 1 : 0;
    }
  }
  if (constant.value() != 0.0) smaller.add_factor(Factor::table_of_sums({}, {constant.value()}));
  report.log_error = constant.error();
  graph = std::move(smaller);
}

// Removes the states that lead to a contradiction when they are assumed. Every remaining state costs one propagation,
// which does not pay for most models: so probing ends after much work (counted in words of tables) without success.
void probe(Propagator& propagator, const ShouldStop& should_stop) {
  constexpr std::int64_t kMostWork = 20'000'000, kMostWorkForNothing = 1'000'000;  // some 50 ns each
  const std::int64_t last = propagator.work() + kMostWork;
  std::int64_t last_success = propagator.work(), last_look = propagator.work();
  constexpr std::int64_t kStepsPerWord = 16;
  StopCheck stop(should_stop);
  for (bool is_changed = true; is_changed && propagator.is_consistent();) {
    is_changed = false;
    for (int v = 0; v < propagator.num_variables(); ++v) {
      if (!propagator.is_constrained(v)) continue;
      for (int s = propagator.next_left(v, 0); s >= 0 && !propagator.is_fixed(v); s = propagator.next_left(v, s + 1)) {
        if (propagator.work() >= std::min(last, last_success + kMostWorkForNothing)) return;
        if (stop.is_asked(kStepsPerWord * (propagator.work() - last_look) + kStepsPerWord)) return;
        last_look = propagator.work();
        const std::size_t mark = propagator.mark();
        const bool is_possible = propagator.assign(v, s);
        propagator.undo(mark);
        if (is_possible) continue;
        is_changed = true;
        if (!propagator.remove(v, s)) return;
        last_success = propagator.work();
      }
    }
  }
}

ReducedModel impossible_model(const FactorGraph& graph) {
  ReducedModel model;
  model.graph.add_table({}, {kNegInf});
  model.fixed_states.assign(static_cast<std::size_t>(graph.num_variables()), 0);
  for (int v = 0; v < graph.num_variables(); ++v) model.num_original_states.push_back(graph.num_states(v));
  return model;
}

}  // namespace

SimplifiedModel simplify(const FactorGraph& graph, const Evidence& evidence, const ShouldStop& should_stop) {
  const Assignment observed = observed_states(graph, evidence);
  SimplifiedModel result;
  SimplifyReport& report = result.report;
  Propagator propagator(graph);
  for (int v = 0; v < graph.num_variables() && propagator.is_consistent(); ++v) {
    if (observed[v] >= 0) propagator.assign(v, observed[v]);
  }
  if (propagator.is_consistent()) probe(propagator, should_stop);
  if (!propagator.is_consistent()) {
    report.is_impossible = true;
    result.model = impossible_model(graph);
    return result;
  }
  std::vector<std::vector<int>> left(observed.size());
  std::vector<char> is_fixed(observed.size(), 0);
  for (int v = 0; v < graph.num_variables(); ++v) {
    for (int s = propagator.next_left(v, 0); s >= 0; s = propagator.next_left(v, s + 1)) left[v].push_back(s);
    is_fixed[v] = left[v].size() == 1 ? 1 : 0;
    if (is_fixed[v] == 0) {
      report.num_removed_states += graph.num_states(v) - static_cast<int>(left[v].size());
    } else if (observed[v] < 0) {
      ++report.num_fixed_variables;
    }
  }
  result.model = restrict_model(graph, std::move(left), is_fixed);
  drop_what_says_nothing(result.model.graph, report);
  return result;
}

std::string SimplifyReport::brief() const {
  if (is_impossible) return "no configuration is possible (Z = 0)";
  std::vector<std::string> parts;
  const auto say = [&](int count, const char* noun, const char* rest) {
    if (count > 0) parts.push_back(counted(count, noun) + rest);
  };
  say(num_fixed_variables, "variable", " forced");
  say(num_removed_states, "impossible state", " removed");
  say(num_dropped_factors, "constant factor", "");
  say(num_smaller_factors, "factor", " over fewer variables");
  return parts.empty() ? "nothing to remove" : fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace treesample
