// What is known of the noise of one evaluation of a function.
#pragma once

#include <optional>

namespace treesample {

// Without noise the same configuration has the same value every time.
struct Noise {
  bool is_there = false;
  std::optional<double> sd = {};  // where it is known; otherwise it is fitted
};

}  // namespace treesample
