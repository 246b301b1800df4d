// The leaf values of a search or particle filter, for its rule and the option `leaf`.
#pragma once

#include <string>

#include "infer/methods.hpp"
#include "treesample/math/log_bounds.hpp"
#include "treesample/value/leaf_value.hpp"

namespace treesample {

struct Leaves {
  LeafValues values;  // no estimate is the uniform one (q-uct), or one that the search learns (mass)
  LogBounds log_z;    // what mini-buckets certify
  std::string text = "uniform";
};
// Throws OptionError for leaf values that the model or the other options exclude. `is_given`: not by default.
void check_leaf(const InferOptions& options, bool is_given, const FactorGraph& graph);
// For a rule or a filter that needs estimates: q-uct, sis, smc.
Leaves make_estimate(const Task& task, const SearchSpace& space);
// For the rule gap: mini-buckets, or the maxima of the factors; both kinds of bounds where the factors allow it.
Leaves make_bounds(const Task& task, const FactorGraph& graph, const SearchSpace& space);
// For the rule mass: upper bounds where all factors have a maximum, and estimates.
Leaves make_mass_leaves(const Task& task, const SearchSpace& space);

// What is searched, and its leaf values.
struct BoundedSpace {
  SearchSpace space;
  Leaves leaves;
};

}  // namespace treesample
