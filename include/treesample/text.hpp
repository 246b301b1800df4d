// Text from files, programs and command lines as it may be shown.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace treesample {

// One line that does nothing to a terminal: control characters, line and paragraph separators, characters that turn
// the direction of writing, and bytes that are not UTF-8 are shown as \xNN, one escape per byte. Everything else stays,
// so that text which is printable already is returned as it is.
std::string printable(std::string_view text);

// The same, at most `limit` bytes and "...", cut between characters: for messages that quote from a file.
std::string shortened(std::string_view text, std::size_t limit);

// "1 factor", "2 factors".
std::string counted(std::int64_t count, std::string_view noun);

// A count given by its logarithm: 1234 as it is, large ones as 3.4e56.
std::string count_text(double log_count);

// "1.5 GiB".
std::string bytes_text(double bytes);

// Six digits after the point, never above (direction -1) or below (1) the bound that it stands for.
std::string decimal_bound(double value, double direction);

// A tolerance with few digits, never below what it is.
std::string tolerance_text(double value, int num_digits);

// A logarithm, and the same to the base 10 as people of this field write it.
std::string log_value_text(double value);

// With this many decimals, and without a sign where all of them are 0.
std::string fixed(double value, int decimals = 6);

// The word of the list that was probably meant: the one that needs the fewest letters changed, left out, put in or
// exchanged with their neighbour. Empty when none is near.
std::string nearest_word(std::string_view typed, const std::vector<std::string>& words);
// The end of a message about a word that is none of these: "; did you mean lung?", or nothing.
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& words);

}  // namespace treesample
