// A mixed model by the doors beside `infer`: as a program that builds a configuration step by step, and as a black box
// that is told values.
#pragma once

#include <string>
#include <vector>

#include "mixer/judge.hpp"

namespace treesample::mixer {

// A line for each promise that does not hold. The case names its door, and has no evidence.
std::vector<std::string> broken_at_door(const MixedCase& asked, Tally& tally);

// Counts a promise; adds a line where it is broken.
void promise(Tally& tally, std::vector<std::string>& broken, const char* name, bool is_kept, const std::string& what);

}  // namespace treesample::mixer
