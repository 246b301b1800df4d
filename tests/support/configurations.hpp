// All configurations of a small model.
#pragma once

#include "treesample/model/factor_graph.hpp"

namespace treesample::testing {

// Calls visit(x) for every configuration, the last variable fastest.
template <class Visit>
void for_each_configuration(const FactorGraph& graph, const Visit& visit) {
  Assignment x(graph.num_variables(), 0);
  while (true) {
    visit(static_cast<const Assignment&>(x));
    int v = graph.num_variables() - 1;
    while (v >= 0 && ++x[v] == graph.num_states(v)) x[v--] = 0;
    if (v < 0) return;
  }
}

}  // namespace treesample::testing
