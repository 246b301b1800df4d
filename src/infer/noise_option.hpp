// What the option `noise` says of the values of functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "treesample/model/noise.hpp"

namespace treesample {

struct NoiseOption {
  Noise noise = {};
  bool is_looked_for = true;
};

// From look, no, yes, or a standard deviation; nothing said is no. Throws OptionError.
NoiseOption parse_noise(std::string_view text);
inline NoiseOption noise_of(const std::optional<std::string>& text) { return parse_noise(text.value_or("no")); }

}  // namespace treesample
