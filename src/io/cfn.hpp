// Cost function networks (.cfn), toulbar2's format:
//
//   {problem: {name: small, mustbe: "<100.0"},             # costs of 100 and more are forbidden
//    variables: {rain: [no, yes], lawn: 3},                # names of states, or their number
//    functions: {
//      f: {scope: [rain, lawn], defaultcost: 0, costs: [no, 0, 2.5,  yes, 2, 100.0]},
//      g: {scope: [lawn], costs: [0.5, -1, 0]},            # a cost for each tuple, the last variable fastest
//      h: {scope: [rain, lawn], costs: f}}}                # the costs of another function
//
// It is JSON in which quotes, commas, colons and the names of the fields may be missing, the order of the fields is
// fixed, and lines that begin with # are remarks. A cost is a log-value with the other sign, in nats. With ">" in front
// of the bound it is maximised: a number is then a log-value as it is. The bound is one on sums: what cannot stay
// within it, whatever the other functions say, is impossible. Constraints that are given by a name are refused.
#pragma once

#include <string>
#include <string_view>

#include "treesample/model/factor_graph.hpp"

namespace treesample {

// Throws Error: kParse as "file:line: ...".
FactorGraph parse_cfn(std::string_view text, std::string_view source_name);

// Costs have as many decimals as toulbar2 holds in 64 bits beside the bound, at most 17. Names that the format cannot
// have become x0, x1, ... and numbers of states. Throws Error (kArgument) for a model with functions and for finite
// log-values beyond 1e15.
std::string format_cfn(const FactorGraph& graph);

}  // namespace treesample
