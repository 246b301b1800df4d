// A mixed case whose model comes from a file.
#pragma once

#include <string>
#include <vector>

#include "mixer/judge.hpp"

namespace treesample::mixer {

// Writes the model in the case's format and reads it: the case with the numbers that were read. A model that the format
// cannot hold is refused, and stays as it is. Adds a line for each promise that does not hold.
MixedCase from_file(const MixedCase& given, Tally& tally, std::vector<std::string>& broken);

}  // namespace treesample::mixer
