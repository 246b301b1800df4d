// A small program whose paths mean objects.
#pragma once

#include <array>
#include <cmath>

namespace treesample {

// Sets of three of six numbers, drawn one after the other. The state only has their sum, so that many sets share it.
struct Sets {
  using State = std::array<int, 3>;  // how many, their sum, and the numbers as bits, which `merge` forgets at the end
  State start() const { return {0, 0, 0}; }
  bool is_end(const State& s) const { return s[0] == 3; }
  void actions(const State& s, auto&& emit) const {
    for (int i = 0; i < 6; ++i) {
      if ((s[2] >> i & 1) == 0) emit(i, State{s[0] + 1, s[1] + i, s[2] | 1 << i}, 0.1 * i);
    }
  }
  State merge(const State& s) const { return s[0] == 3 ? State{3, s[1], 0} : s; }
  double reward(const State& s) const { return s[1] % 2 == 0 ? 1.0 : -1.0; }
  double log_paths(const State&) const { return std::log(6.0); }
};

}  // namespace treesample
