// Numbers as people type them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace treesample {

// The whole number that a decimal text stands for: 1000, 1e6, 2.5e3. Nothing when the text is not a whole number (1.5,
// 1e-1, abc) or does not fit. There is no rounding: 9007199254740993 is that number.
std::optional<std::int64_t> parse_integer(std::string_view text);

// Any real number, inf included; nothing for other text.
std::optional<double> parse_real(std::string_view text);

// Bytes from 512M, 4G, 1e9, 123456; nothing for other text, and beyond 1e18.
std::optional<std::uint64_t> parse_size(std::string_view text);

}  // namespace treesample
