// Resampling: replaces weighted particles by equally weighted ones.
//
// Particle i gets a random number of offspring with mean count * p_i. The estimate of Z needs nothing else to be
// unbiased. Each scheme places `count` ordered points in [0, 1), and a point in the i-th interval of the cumulative
// weights is an offspring of i:
//
//   multinomial  count independent uniform points
//   stratified   one uniform point in each of the intervals [j, j + 1) / count
//   systematic   the points (j + u) / count with one uniform u
#pragma once

#include <span>
#include <vector>

#include "treesample/math/random.hpp"

namespace treesample {

enum class ResamplingScheme { kMultinomial, kStratified, kSystematic };
const char* to_string(ResamplingScheme scheme);

// Parents of the offspring, ascending, one per element of `parents`. The weights are >= 0, not all 0, and may have any
// sum. A particle of weight 0 has no offspring.
void resample(ResamplingScheme scheme, std::span<const double> weights, std::span<int> parents, Random& random);

}  // namespace treesample
