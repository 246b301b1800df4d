// Finds numbers in JSON that are so small that a double represents them with fewer digits than others, or as 0.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace treesample {

// Both throw Error (kParse) naming the first such number. The text must be JSON. `factors` is its list of factors,
// whose "values" are checked. `evidence` is the whole text, in which such a number is a weight.
void check_small_values(const nlohmann::json& factors, std::string_view text, std::string_view source_name);
void check_small_weights(const nlohmann::json& evidence, std::string_view text, std::string_view source_name);

}  // namespace treesample
