// The weights of a formula as integers over one denominator for each variable.
#pragma once

#include <vector>

#include "formula/integer_counts.hpp"
#include "treesample/io/dimacs.hpp"
#include "treesample/space/limits.hpp"

namespace treesample {

struct ExactWeights {
  std::vector<StatePair> states;  // by variable, from 0; empty if no shown variable has weights
  Integer denominator{1};         // of all of them together
  double num_digits = 0.0;        // that a sum of products of them may have, and more
  bool has_negative = false, has_zero = false;
};

// Weights of variables that are not shown are left out. Throws kResource for exponents beyond 1e5, whose integers would
// be too long, and where all of them together have too many digits for the limits of time and memory.
ExactWeights exact_weights(const Formula& formula, const std::vector<char>& is_hidden, const Limits& limits);

}  // namespace treesample
