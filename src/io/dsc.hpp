// Bayesian networks in DSC, the format of Microsoft's tools, which GeNIe and Netica also read:
//
//   belief network "asia"
//   node tub { type : discrete [ 2 ] = { "yes", "no" }; }
//   probability (tub | asia) { (0) : 0.05, 0.95; (1) : 0.01, 0.99; }
//
// A row is named by the states of its parents, by number or by name; a table without parents is a row alone. Rows that
// are not given have the entries of `default`. Other attributes are skipped; tables that are given by functions are
// refused.
#pragma once

#include <string>
#include <string_view>

#include "treesample/model/factor_graph.hpp"

namespace treesample {

// Throws Error: kParse as "file:line: ...".
FactorGraph parse_dsc(std::string_view text, std::string_view source_name);

// Names of nodes become identifiers, as for XDSL (xdsl.hpp). Throws Error (kArgument) unless the graph has the form of
// a Bayesian network.
std::string format_dsc(const FactorGraph& graph);

}  // namespace treesample
