// Bayesian networks among factor graphs: one table P(child | parents) per variable, the child last in the scope, each
// row adding up to 1, and no variable among its own ancestors. Z of such a model given evidence is the probability of
// the evidence.
#pragma once

#include <string>
#include <vector>

#include "treesample/model/factor_graph.hpp"

namespace treesample {

struct NetworkCheck {
  bool has_form = false;                   // each variable is the last one in the scope of exactly one table
  std::vector<std::string> warnings = {};  // about rows and cycles of a graph of that form, one line each

  [[nodiscard]] bool is_network() const { return has_form && warnings.empty(); }
};

// Rows may be off by 1e-6, because published networks are rounded.
NetworkCheck check_network(const FactorGraph& graph);
// A certified upper bound of log Z of a network, and of any part of it given evidence: the sum over the tables of the
// logarithms of their largest rows. It is 0 up to rounding if rows add up to 1, and +inf if the graph is no network.
double network_log_upper(const FactorGraph& graph);

}  // namespace treesample
