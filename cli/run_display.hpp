// How `reproduce` and `compare` run experiments at a terminal, and the files that they write.
#pragma once

#include <filesystem>

#include "experiments/report.hpp"
#include "experiments/run_instances.hpp"
#include "terminal.hpp"

namespace treesample::cli {

// Throws Error (kIo) naming the folder.
void make_folder(const std::filesystem::path& folder);

// Shows the number of finished instances and the remaining time; Ctrl-C ends the run. `progress` must outlive it.
experiments::RunControl run_control(Progress& progress, int num_threads);

// Prints one line on how to continue, unless there is no folder. Returns the exit code of an interrupted run.
int report_interruption(Progress& progress, const std::filesystem::path& folder);

// Prints the tables and writes all files into the folder, unless that is empty. Returns the exit code.
int show_report(const experiments::Report& report, const std::filesystem::path& folder, bool is_quiet);

}  // namespace treesample::cli
