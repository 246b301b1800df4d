#include "treesample/reduce/intervention.hpp"

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/network.hpp"

namespace treesample {

FactorGraph intervened(const FactorGraph& graph, const Evidence& done) {
  const Assignment states = observed_states(graph, done);
  if (done.empty()) return graph;
  check_argument(check_network(graph).has_form, "do",
                 "is for Bayesian networks, with one table P(variable | parents) per variable, the variable last");
  FactorGraph cut;
  for (int v = 0; v < graph.num_variables(); ++v) cut.add_variable(graph.variable(v));
  for (const Factor& factor : graph.factors()) {
    const int child = factor.scope().back();
    if (states[child] < 0) {
      cut.add_factor(factor);
      continue;
    }
    std::vector<double> only(static_cast<std::size_t>(graph.num_states(child)), kNegInf);
    only[static_cast<std::size_t>(states[child])] = 0.0;
    cut.add_table({child}, std::move(only));
  }
  return cut;
}

}  // namespace treesample
