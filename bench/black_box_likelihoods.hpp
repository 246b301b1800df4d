// Black boxes that are likelihoods of data, and settings of a learner.
#pragma once

#include "black_boxes.hpp"
#include "treesample/math/random.hpp"

namespace treesample::bench {

BlackBoxProblem hyper(Random random, bool is_ordered);
BlackBoxProblem selection(Random random);
BlackBoxProblem network(Random random);
BlackBoxProblem inverse_ising(Random random);
BlackBoxProblem hypergrid(int side);
BlackBoxProblem smooth(Random random);

}  // namespace treesample::bench
