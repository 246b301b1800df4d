// Numbers in lists of "values" that are so small that a double represents them with fewer digits than others, or as 0.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace treesample {

// Throws Error (kParse) naming the first. The text must be JSON, and `factors` its list of factors.
void check_small_values(const nlohmann::json& factors, std::string_view text, std::string_view source_name);

}  // namespace treesample
