// Words and numbers as people type them on a command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace treesample::cli {

// The whole number that a decimal text stands for: 1000, 1e6, 2.5e3. Nothing when it is none (1.5, 1e-1, abc) or does
// not fit. No rounding: 9007199254740993 is that number.
std::optional<std::int64_t> parse_integer(std::string_view text);

// The word of the list that was probably meant: the one that needs the fewest letters changed, left out, put in or
// exchanged with their neighbour. Empty when none is near.
std::string nearest_word(std::string_view typed, const std::vector<std::string>& words);

}  // namespace treesample::cli
