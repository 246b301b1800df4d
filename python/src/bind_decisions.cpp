// Decisions: influence diagrams.
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "treesample/exact/decisions.hpp"

namespace treesample::python {
namespace {

using KnownBy = std::vector<std::pair<int, std::vector<int>>>;
using Utilities = std::vector<std::pair<std::vector<int>, std::vector<double>>>;

// The expected utility, log Z, and for each decision what matters and the choices.
py::tuple decide(const FactorGraph& graph, const KnownBy& decisions, const Utilities& utilities,
                 const std::vector<std::pair<int, int>>& evidence) {
  DecisionModel model{graph, {}, {}};
  for (const auto& [variable, known] : decisions) model.decisions.push_back({variable, known});
  for (const auto& [scope, values] : utilities) model.utilities.push_back({scope, values});
  Evidence seen;
  for (const auto& [variable, state] : evidence) seen.push_back({variable, state});
  DecisionAnswer answer;
  {
    const py::gil_scoped_release others_may_run;
    answer = best_decisions(model, seen);
  }
  std::vector<std::pair<std::vector<int>, std::vector<int>>> policies;
  for (Policy& policy : answer.policies) policies.emplace_back(std::move(policy.scope), std::move(policy.choice));
  return py::make_tuple(answer.expected_utility, answer.log_z, std::move(policies));
}

}  // namespace

void bind_decisions(py::module_& module) { module.def("decide", &decide); }

}  // namespace treesample::python
