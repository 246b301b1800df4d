// Text from files, programs and command lines, made fit to be shown.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace treesample {

bool is_utf8(std::string_view text);

// One line that cannot command a terminal: control characters, line and paragraph separators, characters that change
// the direction of writing, and bytes that are not UTF-8 are shown as \xNN, one escape per byte. Everything else stays,
// so that printable text is returned unchanged.
std::string printable(std::string_view text);

// The same, with at most `limit` bytes and "...", cut between characters: for messages that quote from a file.
std::string shortened(std::string_view text, std::size_t limit);

// "1 factor", "2 factors".
std::string counted(std::int64_t count, std::string_view noun);

// A count given by its logarithm: small ones as 1234, large ones as 3.4e56.
std::string count_text(double log_count);

// "1.5 GiB".
std::string bytes_text(double bytes);

// Six digits after the point, rounded in a direction: the result is never above the value (direction -1), or never
// below it (1).
std::string decimal_bound(double value, double direction);

// A tolerance with few digits, rounded up.
std::string tolerance_text(double value, int num_digits);

// A logarithm, followed by the same to base 10, as people in this field write it.
std::string log_value_text(double value);

// A number with this many decimals; without a minus sign if all digits are 0.
std::string fixed(double value, int decimals = 6);

// The word of the list that was probably meant: the one that needs the fewest letters changed, left out, inserted or
// swapped with their neighbour. Empty if none is near.
std::string nearest_word(std::string_view typed, const std::vector<std::string>& words);
// The end of a message about a word that is not in the list: "; did you mean lung?", or nothing.
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& words);

}  // namespace treesample
