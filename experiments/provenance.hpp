// Where numbers come from: the commit, the compiler and the processor, and every finished instance as it is.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "report.hpp"

namespace treesample::experiments {

// Commit of the sources ("unknown" outside of a repository), compiler, processor and its number of cores.
std::vector<std::pair<std::string, std::string>> provenance();

// All numbers of a run's file, a line per instance; empty where an instance lacks one.
CsvFile instances_csv(const std::filesystem::path& run_file);

}  // namespace treesample::experiments
