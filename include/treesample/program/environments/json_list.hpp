// Texts of states as JSON, which every door can read.
#pragma once

#include <string>

namespace treesample {

// Whole numbers as [1, 2, 3].
std::string json_list(const auto& numbers) {
  std::string text = "[";
  for (const auto number : numbers) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(static_cast<int>(number));
  }
  return text + "]";
}

}  // namespace treesample
