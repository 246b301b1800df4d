// How `reproduce` and `compare` run experiments at a terminal, and what they write.
#pragma once

#include <filesystem>

#include "experiments/report.hpp"
#include "experiments/run_instances.hpp"
#include "terminal.hpp"

namespace treesample::cli {

// Throws Error (kIo) naming the folder.
void make_folder(const std::filesystem::path& folder);

// Shows finished instances and the remaining time; Ctrl-C ends it. The progress must outlive it.
experiments::RunControl run_control(Progress& progress, int num_threads);

// Prints one line on how to continue, unless there is no folder; returns the exit code of an interrupted run.
int report_interruption(Progress& progress, const std::filesystem::path& folder);

// Prints the tables and writes all files into the folder, unless that is empty; returns the exit code.
int show_report(const experiments::Report& report, const std::filesystem::path& folder, bool is_quiet);

}  // namespace treesample::cli
