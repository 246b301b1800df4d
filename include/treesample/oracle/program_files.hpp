// The files on which the values of a program depend.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "treesample/io/json_model.hpp"

namespace treesample {

// Relative to the folder of the model: the words of the command that are regular files, and the declared files. A
// program that is found in PATH is not among them, so that an upgrade of the interpreter keeps the journal valid.
std::vector<std::string> program_files(const ProgramDescription& program, const std::filesystem::path& folder);

}  // namespace treesample
