// The factory of leaf values, from a choice (value/leaf_choice.hpp).
#pragma once

#include <memory>

#include "treesample/value/leaf_choice.hpp"
#include "treesample/value/leaf_value.hpp"
#include "treesample/value/mini_bucket.hpp"

namespace treesample {

struct LeafValueOptions {
  MiniBucketOptions mini_bucket = {};  // the i-bound of the choice, if any, replaces i_bound
  int mean_field_sweeps = 0;           // of elbo; 0: independent uniform variables
  ShouldStop should_settle = {};       // for the sweeps
  std::uint64_t seed = 0;              // for the sweeps
  ShouldStop should_stop = {};         // for elbo, maxima and networks
};

// Throws Error: kArgument for a choice that the model does not allow and for one that is made elsewhere (calibrated,
// program, function), and whatever the maker of the leaf value throws. Null for maxima if a function declares none.
std::shared_ptr<const LeafValue> make_leaf_value(const LeafChoice& choice, const FactorGraph& graph,
                                                 const SearchSpace& space, const LeafValueOptions& options = {});

}  // namespace treesample
