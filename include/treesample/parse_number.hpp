// Numbers as people type them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace treesample {

// The whole number that a decimal text stands for: 1000, 1e6, 2.5e3. None if the text is not a whole number (1.5, 1e-1,
// abc) or does not fit. Nothing is rounded: 9007199254740993 is read exactly.
std::optional<std::int64_t> parse_integer(std::string_view text);

// Any real number, inf included; none for other text.
std::optional<double> parse_real(std::string_view text);

// A number of bytes, written as 512M, 4G, 4GB, 4GiB, 1e9 or 123456, where K is 1024; none for other text, and beyond
// 1e18.
std::optional<std::uint64_t> parse_size(std::string_view text);

// Seconds, written as 90, 0.5, 500ms, 90s, 1.5m or 1.5min, 2h, 1d or inf; none for other text.
std::optional<double> parse_seconds(std::string_view text);

}  // namespace treesample
