// The zeros of a table as clauses: boxes of zeros, each as large as it can be in the forms that propagate well.
//
// A box forbids S_1 x ... x S_n, where each S_i is one state, all states but one, or all states of its variable. In the
// clause these become "x_i is not s", "x_i is t", or nothing. Sides of other sizes are not used: "x_i is t or u" as a
// clause of two literals would not remove the other states when the rest of the clause fails, and so would propagate
// less than one box for each forbidden state does.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace treesample {

struct BoxSide {
  int position = 0;    // in the scope
  int state = 0;       // the one state, or the only state that is not in the side
  bool is_one = true;  // true: the side is {state}; false: it is all states but `state`
};
// Sides that contain all states are not listed.
using ZeroBox = std::vector<BoxSide>;

// Boxes that together contain all entries equal to -inf and no others; last variable fastest.
std::vector<ZeroBox> cover_zeros(std::span<const int> num_states, std::span<const double> log_values);

}  // namespace treesample
