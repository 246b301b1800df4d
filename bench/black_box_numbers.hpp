// Black boxes over numbers in order.
#pragma once

#include "black_boxes.hpp"
#include "treesample/math/random.hpp"

namespace treesample::bench {

BlackBoxProblem kinetics(Random random, double error);
BlackBoxProblem feasible(Random random);
BlackBoxProblem epidemic(Random random);
BlackBoxProblem bumps(Random random);

}  // namespace treesample::bench
