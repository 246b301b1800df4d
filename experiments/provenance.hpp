// Where numbers come from: the commit, the compiler, the processor, and every finished instance unchanged.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "report.hpp"

namespace treesample::experiments {

// The commit of the sources ("unknown" outside of a repository), the compiler, the processor and its number of cores.
std::vector<std::pair<std::string, std::string>> provenance();

// All numbers of a run's file, one line per instance. A field is empty if an instance lacks the number.
CsvFile instances_csv(const std::filesystem::path& run_file);

}  // namespace treesample::experiments
