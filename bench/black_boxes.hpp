// Functions of discrete variables that are expensive in real life, of many kinds, to try what few values of them tell.
//
// All but the last group can be enumerated. A kind and a number give one instance, the same on every machine.
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
  // The log value; NaN where it fails.
  std::function<double(std::span<const int>)> function;
  std::vector<KnownTable> tables = {};
  double noise = 0.0;  // standard deviation of one evaluation
};

// The names of the kinds: of those to be enumerated, and of those of which only the best is looked for.
const std::vector<std::string>& black_box_kinds();
const std::vector<std::string>& black_box_tasks();
// Throws Error (kArgument) for a name that is not there. "kind+noise" is the same with noise of that deviation, as in
// "selection+0.5".
BlackBoxProblem black_box_problem(const std::string& kind, std::uint64_t instance);

}  // namespace treesample::bench
