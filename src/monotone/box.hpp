// A set of configurations: each variable has the states from `first` to `last`.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "treesample/math/log_domain.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

struct Box {
  std::vector<int> first, last;  // by variable

  [[nodiscard]] static Box of_all(const FactorGraph& graph) {
    Box box;
    for (int v = 0; v < graph.num_variables(); ++v) {
      box.first.push_back(0);
      box.last.push_back(graph.num_states(v) - 1);
    }
    return box;
  }
  [[nodiscard]] bool is_fixed(int v) const { return first[v] == last[v]; }
};

// exp(a - b), also for a = -inf.
inline double ratio(double a, double b) { return a == kNegInf ? 0.0 : std::exp(a - b); }

}  // namespace treesample
