// Options of `infer` that were given and mean nothing to the method.
#pragma once

#include <string>
#include <vector>

#include "command.hpp"

namespace treesample::cli {

struct UnusedOption {
  std::string option;
  std::string methods;  // those that would use it
};

// Not those that only the search with bounds knows: whether it is one depends on more than the method.
std::vector<UnusedOption> unused_options(const CommandLine& line, const std::string& method);

}  // namespace treesample::cli
