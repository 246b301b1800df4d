// Black boxes that are models of something: circuits, networks, schedules, regressions.
#pragma once

#include "black_boxes.hpp"
#include "treesample/math/random.hpp"

namespace treesample::bench {

BlackBoxProblem circuit(Random random);
BlackBoxProblem structure(Random random);
BlackBoxProblem schedule(Random random);
BlackBoxProblem volatility(Random random, bool fails);
BlackBoxProblem selection(Random random);
BlackBoxProblem network(Random random);
BlackBoxProblem inverse_ising(Random random);

}  // namespace treesample::bench
