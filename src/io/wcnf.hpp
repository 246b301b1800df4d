// Weighted MaxSAT (.wcnf), in its older and its newer form:
//
//   c a comment                        c a comment
//   p wcnf 3 2 100                     (variables and clauses are counted)
//   100 1 -2 0     hard                h 1 -2 0
//   7 2 3 0        soft, weight 7      7 2 3 0
//
// The variables x1, x2, ... have the states false and true. A clause that is not satisfied has a log-value of minus its
// weight, in nats, or is impossible where it is hard: the most probable configuration breaks clauses of the least
// weight. Every clause becomes a table, so that it may have at most 20 variables.
#pragma once

#include <string_view>

#include "treesample/model/factor_graph.hpp"

namespace treesample {

// Throws Error: kParse as "file:line: ...".
FactorGraph parse_wcnf(std::string_view text, std::string_view source_name);

}  // namespace treesample
