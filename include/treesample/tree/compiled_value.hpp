// Compiles a tree into a value function, which replaces the tree when its memory is needed (the paper's section 3.3).
//
//   Q_n(a | x_<n)  ~  b_n(a) + sum over m of w_nm(a, x_m)        m: the earlier variables that Q_n depends on
//
// The coefficients come from ridge regression, in closed form, on the Q-values of the tree along samples of its P_X;
// networks are trained on the same targets. Values stay within the range of those seen. A level that no sample has
// reached keeps the paper's default.
#pragma once

#include <cstdint>
#include <memory>

#include "treesample/model/factor_graph.hpp"
#include "treesample/space/search_space.hpp"
#include "treesample/tree/tree_approximation.hpp"
#include "treesample/value/leaf_value.hpp"

namespace treesample {

// Evaluates nothing. The space is that of the tree.
std::shared_ptr<const LeafValue> compile_tree(const TreeApproximation& tree, const FactorGraph& graph,
                                              const SearchSpace& space, int num_samples, std::uint64_t seed);

}  // namespace treesample
