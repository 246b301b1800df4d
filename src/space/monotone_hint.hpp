// Do the values of a function that was not declared monotone agree with a monotone one, and what would then follow?
//
// Directions are guessed from the values: by the sign of the covariance of a variable's state and the value, and turned
// around if fewer pairs of values then contradict. Then every pair is checked. With values f_i at x_i, a monotone
// function is at least the largest f_i that x exceeds and at most the smallest that exceeds x (in all variables, each
// in its direction), which bounds the sum over all x.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "treesample/math/log_bounds.hpp"
#include "treesample/model/evaluation_queue.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

struct MonotoneHint {
  int factor = 0;
  std::vector<Direction> directions;
  std::int64_t num_values = 0;
  std::int64_t num_pairs = 0;  // pairs of different values, one of which bounds the other
  // Bounds of log Z if the function is monotone; the rounding of sums is not included. None if another function is not
  // known, or if the model has too many configurations.
  std::optional<LogBounds> log_z;
};

// None if a value contradicts every guess, if fewer than `fewest_pairs` pairs say anything, and for a function that is
// declared monotone.
std::optional<MonotoneHint> monotone_hint(const FactorGraph& graph, std::span<const KnownValue> known,
                                          std::int64_t fewest_pairs = 100);

// "all 300 values of pump agree with a function that rises with load and falls with age, ..."
std::string hint_text(const MonotoneHint& hint, const FactorGraph& graph, const std::string& name);

}  // namespace treesample
