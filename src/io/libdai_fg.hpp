// Factor graphs in the format of libDAI (.fg):
//
//   2                 # factors
//
//   2                 # the first has two variables,
//   0 3               # with these labels
//   2 2               # and these numbers of states
//   3                 # entries that are not zero:
//   0 0.5             # the number of the entry, in which the first variable varies fastest, and its value
//   1 0.2
//   3 1.0
//   ...
//
// Labels are numbers. Variables are in the order of their labels; they are called x<label>.
#pragma once

#include <string>
#include <string_view>

#include "treesample/model/factor_graph.hpp"

namespace treesample {

// Throws Error: kParse as "file:line: ...".
FactorGraph parse_libdai_fg(std::string_view text, std::string_view source_name);

// Variables get their indices as labels, and lose their names. Throws Error (kArgument) for a model with functions.
std::string format_libdai_fg(const FactorGraph& graph);

}  // namespace treesample
