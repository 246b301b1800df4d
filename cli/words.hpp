// Words and numbers as people type them on a command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace treesample::cli {

// The word of the list that was probably meant: the one that needs the fewest letters changed, left out, put in or
// exchanged with their neighbour. Empty when none is near.
std::string nearest_word(std::string_view typed, const std::vector<std::string>& words);

}  // namespace treesample::cli
