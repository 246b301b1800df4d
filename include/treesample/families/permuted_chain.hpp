// PERMUTED CHAIN: a Markov chain whose order sigma is hidden from the search.
//
//   psi_n(x_sigma(n-1), x_sigma(n)) = log P(x_sigma(n) | x_sigma(n-1)),   n = 2..N
//
// with sigma a uniform permutation and each row of each table drawn from a symmetric Dirichlet.
//
// How the paper's sentences are read:
// - "conditional probability tables ... used as binary factors": their logarithms, since factors add up in
//   the log domain; log_tables = false uses the probabilities themselves as psi.
// - The first variable of the chain has no condition and gets no factor, so that Z = K exactly;
//   first_factor adds the logarithm of one more Dirichlet draw, and Z = 1.
// - ring: not in the text; one more table, for sigma(1) given sigma(N): what indices do that begin at 0 and wrap
//   around as in Python. pair_offset: a constant added to each table, as for CHAIN.
// Both readings of the paper use the defaults.
//
// Factors: the "pair" factors in chain order, with scope (sigma(n-1), sigma(n)), where a row of the table belongs to a
// state of sigma(n-1), with that of the ring last; then the "unary" factor of the first variable, if asked for.
#pragma once

#include "treesample/families/family.hpp"

namespace treesample {

struct PermutedChainOptions {
  int n = 10;
  int k = 5;
  double concentration = 1.0;
  bool log_tables = true;
  bool first_factor = false;
  bool ring = false;
  double pair_offset = 0.0;
};

PermutedChainOptions permuted_chain_options(Reading reading);
FamilyInstance make_permuted_chain(const PermutedChainOptions& options, std::uint64_t seed, std::uint64_t instance = 0);

}  // namespace treesample
