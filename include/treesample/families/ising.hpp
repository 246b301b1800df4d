// ISING: spins on a grid, the common test bed of approximate inference (not a family of the paper).
//
//   log gamma_hat(x) = sum over neighbours i, j of J_ij s_i s_j + sum over i of h_i s_i,   s = 2 x - 1
//
// Every J is coupling + coupling_normal z + coupling_uniform u with its own z ~ N(0, 1) and u uniform in [-1, 1), so
// that three numbers describe constant, Gaussian and uniform couplings. The same holds for every h.
//
// The spin at (row, column) is variable row * columns + column. With `torus` the last row and column are joined to the
// first, but only along sides of three or more: on shorter ones neighbours would be joined twice.
//
// Factors: a "pair" factor per neighbouring pair (to the right, then down, variable by variable), then, unless all
// numbers of the field h are 0, a "unary" factor per variable.
#pragma once

#include "treesample/families/family.hpp"

namespace treesample {

struct IsingOptions {
  int n = 10;       // rows
  int columns = 0;  // 0: as many as rows
  bool torus = false;
  double coupling = 0.0;
  double coupling_normal = 1.0;
  double coupling_uniform = 0.0;
  double field = 0.0;
  double field_normal = 0.1;
  double field_uniform = 0.0;
};

// The same for both readings; it exists so that every family has a preset.
IsingOptions ising_options(Reading reading);
FamilyInstance make_ising(const IsingOptions& options, std::uint64_t seed, std::uint64_t instance = 0);

}  // namespace treesample
