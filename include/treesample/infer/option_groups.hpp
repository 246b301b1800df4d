// The options of `infer` (infer/options.hpp) in groups, for help that people read.
#pragma once

#include <string_view>

namespace treesample {

// The title of the group of an option.
const char* option_group(std::string_view name);

}  // namespace treesample
