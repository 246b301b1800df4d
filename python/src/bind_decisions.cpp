// Decisions: influence diagrams.
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "treesample/exact/decisions.hpp"
#include "treesample/io/decision_file.hpp"

namespace treesample::python {
namespace {

using KnownBy = std::vector<std::pair<int, std::vector<int>>>;
using Utilities = std::vector<std::pair<std::vector<int>, std::vector<double>>>;

// The expected utility, an upper bound of the largest one, log Z, and for each decision what matters and the choices.
py::tuple decide(const FactorGraph& graph, const KnownBy& decisions, const Utilities& utilities,
                 const std::vector<std::pair<int, int>>& evidence, bool is_limited) {
  DecisionModel model{graph, {}, {}};
  for (const auto& [variable, known] : decisions) model.decisions.push_back({variable, known});
  for (const auto& [scope, values] : utilities) model.utilities.push_back({scope, values});
  Evidence seen;
  for (const auto& [variable, state] : evidence) seen.push_back({variable, state});
  DecisionAnswer answer;
  double upper = 0.0;
  {
    const py::gil_scoped_release others_may_run;
    if (is_limited) {
      LimitedAnswer limited = best_limited_decisions(model, seen);
      answer = std::move(limited.best);
      upper = limited.upper;
    } else {
      answer = best_decisions(model, seen);
      upper = answer.expected_utility;
    }
  }
  std::vector<std::pair<std::vector<int>, std::vector<int>>> policies;
  for (Policy& policy : answer.policies) policies.emplace_back(std::move(policy.scope), std::move(policy.choice));
  return py::make_tuple(answer.expected_utility, upper, answer.log_z, std::move(policies));
}

// The graph, for each decision what is known, and the utilities.
py::tuple read(const std::string& path) {
  DecisionModel model = read_decisions(path);
  KnownBy decisions;
  for (Decision& decision : model.decisions) decisions.emplace_back(decision.variable, std::move(decision.known));
  Utilities utilities;
  for (Utility& utility : model.utilities) {
    utilities.emplace_back(std::move(utility.scope), std::move(utility.values));
  }
  return py::make_tuple(std::move(model.graph), std::move(decisions), std::move(utilities));
}

}  // namespace

void bind_decisions(py::module_& module) {
  module.def("decide", &decide);
  module.def("read_decisions", &read);
}

}  // namespace treesample::python
