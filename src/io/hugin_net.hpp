// Bayesian networks in Hugin's NET format:
//
//   net { node_size = (80 40); }
//   node tub { states = ("yes" "no"); label = "tuberculosis"; }
//   potential (tub | asia) { data = ((0.05 0.95) (0.01 0.99)); }   % a row for each state of asia
//
// A table runs through the states of its node fastest, then through those of the last parent; the parentheses say no
// more than that. Without data, all entries are 1, as Hugin has it. A network may stand in a `class`. Labels, positions
// and other attributes are skipped. Decisions, utilities, continuous nodes, functions, instances of classes, and tables
// that are given by formulas are refused.
#pragma once

#include <string>
#include <string_view>

#include "treesample/model/factor_graph.hpp"

namespace treesample {

// Throws Error: kParse as "file:line: ...".
FactorGraph parse_hugin_net(std::string_view text, std::string_view source_name);

// Names of nodes become identifiers, as for XDSL (xdsl.hpp), and stand unchanged in their labels. Throws Error
// (kArgument) unless the graph has the form of a Bayesian network.
std::string format_hugin_net(const FactorGraph& graph);

}  // namespace treesample
