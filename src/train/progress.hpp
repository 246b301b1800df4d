// progress.csv and the figure made from it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>

#include "treesample/train/train.hpp"

namespace treesample {

// Appends one row per episode and flushes it, so that the file can be watched during the run.
class ProgressFile {
 public:
  // Keeps the header and the first `num_rows` rows of an existing file. Later rows belong to episodes after the
  // checkpoint from which the run resumes, and these episodes will be run again. Throws kIo.
  ProgressFile(const std::filesystem::path& path, std::int64_t num_rows);
  void append(const EpisodeRecord& record);

 private:
  std::filesystem::path path_;
  std::ofstream stream_;
};

// Writes progress.gp beside the CSV file and lets gnuplot make progress.svg and progress.png from it. Returns false if
// gnuplot is not installed or fails, or if there is nothing to draw.
bool draw_progress(const std::filesystem::path& csv);

}  // namespace treesample
