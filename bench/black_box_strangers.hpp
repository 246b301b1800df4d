// Black boxes of kinds on which nothing of the engine was chosen: they say how it does on problems of other people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "black_boxes.hpp"

namespace treesample::bench {

const std::vector<std::string>& stranger_kinds();
// The same with more variables: too many configurations for a table of all.
const std::vector<std::string>& wide_kinds();
// None for a name that is not among these.
std::optional<BlackBoxProblem> stranger(const std::string& kind, std::uint64_t instance);

}  // namespace treesample::bench
