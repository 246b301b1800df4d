// Operations on single rows of 16 features, for gathering and scattering rows between products.
#pragma once

#include <cstring>

#include "treesample/nn/parameters.hpp"

namespace treesample::nn {

inline void copy_row(const float* from, float* to) { std::memcpy(to, from, kPanel * sizeof(float)); }

inline void add_row(const float* __restrict from, float* __restrict to) {
  for (int i = 0; i < kPanel; ++i) to[i] += from[i];
}

inline void add_scaled_row(float scale, const float* __restrict from, float* __restrict to) {
  for (int i = 0; i < kPanel; ++i) to[i] += scale * from[i];
}

}  // namespace treesample::nn
