// A table of any size as 16 numbers, by which a graph network distinguishes factors of any content.
//
//   0..7   of the whole table: arity, log-mean-exp, mean, standard deviation, largest and smallest
//          entry (all over the finite entries), share of -inf, and the mean of the entries where all
//          variables are in the same state, relative to the mean
//   8..15  of one variable of the scope: log-mean-exp given that it is in state 0, 1, ..., 7, relative
//          to that of the table; 0 for a factor node and beyond the number of states
//
// None of them depends on the order of the scope. Values are cut off at +-20; -inf counts as -20.
#pragma once

#include "nn/gnn_cone.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample::nn {

Encoding encode_table(const FactorGraph& graph, const Factor& factor);

// The same with entries 8..15 for the variable at `position` of the scope.
Encoding encode_edge(const FactorGraph& graph, const Factor& factor, int position);

}  // namespace treesample::nn
