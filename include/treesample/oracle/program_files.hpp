// The files on which the values of a program depend.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "treesample/io/json_model.hpp"

namespace treesample {

// The words of the command that are regular files, and the declared files, relative to the folder of the model. A
// program that is found in PATH is not listed, so that an upgrade of the interpreter keeps the journal valid.
std::vector<std::string> program_files(const ProgramDescription& program, const std::filesystem::path& folder);

}  // namespace treesample
