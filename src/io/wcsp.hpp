// Weighted constraint satisfaction (.wcsp), as toulbar2 and others read it:
//
//   name 2 3 2 100          # a name, variables, the most states, functions, and the cost from which all is forbidden
//   2 3                     # states of each variable
//   2 0 1 0 2               # the variables 0 and 1; cost 0 but for these 2 tuples:
//   0 0 5
//   1 2 100                 # forbidden
//   1 0 3 0                 # a function of variable 0 that is 3 everywhere
//
// A cost is a log-value with the other sign, in nats; what is forbidden is impossible. Constraints that are given by a
// name, and functions that are shared, are refused.
#pragma once

#include <string>
#include <string_view>

#include "treesample/model/factor_graph.hpp"

namespace treesample {

// Throws Error: kParse as "file:line: ...".
FactorGraph parse_wcsp(std::string_view text, std::string_view source_name);

// Throws Error (kArgument) for a model with functions, and unless all log-values are -inf or whole numbers of at most
// 0: costs of this format are whole.
std::string format_wcsp(const FactorGraph& graph);

}  // namespace treesample
