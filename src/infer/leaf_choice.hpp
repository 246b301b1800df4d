// The leaf values for the word of the option prior; null is the uniform one. Mini-buckets also bound log Z.
#pragma once

#include <memory>
#include <string>

#include "infer/methods.hpp"
#include "treesample/math/log_bounds.hpp"
#include "treesample/value/leaf_value.hpp"

namespace treesample {

struct Prior {
  std::shared_ptr<const LeafValue> value;
  LogBounds log_z;
  std::string text = "uniform";
};
Prior make_prior(const Task& task, const SearchSpace& space);

struct Leaves {
  LeafValues values;
  std::string text;
};
// Mini-buckets, or the maxima of the factors; both kinds of bounds where the factors allow it.
Leaves make_bounds(const Task& task, const FactorGraph& graph, const SearchSpace& space);
// The space of the search with bounds, and its bounds.
struct BoundedSpace {
  SearchSpace space;
  Leaves leaves;
};
BoundedSpace make_bounded_space(const Task& task, const FactorGraph& graph);
// Upper bounds where all factors have a maximum; estimates by the prior, null for those that the search learns.
LeafValues make_estimates(const Task& task, const SearchSpace& space);

}  // namespace treesample
