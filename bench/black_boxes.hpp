// Functions of many kinds over discrete variables, which are expensive in real life. They serve to find out how much
// can be learned from few of their values.
//
// All of them except the last group can be enumerated. A kind and a number give one instance, the same on every
// machine.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "treesample/blackbox/domain.hpp"

namespace treesample::bench {

struct KnownTable {
  std::vector<int> scope;
  std::vector<double> log_values;
};

struct BlackBoxProblem {
  Domain domain;
  // The log value; NaN if the evaluation fails.
  std::function<double(std::span<const int>)> function;
  std::vector<KnownTable> tables = {};
  double noise = 0.0;  // standard deviation of one evaluation
};

// The names of the kinds: first of those that can be enumerated, then of those of which only the best value is wanted.
const std::vector<std::string>& black_box_kinds();
const std::vector<std::string>& black_box_tasks();
// Throws Error (kArgument) for an unknown name. "kind+noise" is the same problem with noise of this standard deviation,
// as in "selection+0.5".
BlackBoxProblem black_box_problem(const std::string& kind, std::uint64_t instance);

}  // namespace treesample::bench
