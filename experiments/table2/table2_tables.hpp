// The tables and CSV files of Table 2, of one reading each.
#pragma once

#include <string>
#include <vector>

#include "experiments/report.hpp"
#include "results.hpp"

namespace treesample::experiments {

// The results of one reading, and the lines that are shown.
struct Part {
  Reading reading;
  std::string word;  // letter, best
  Results results;
  std::vector<Line> lines;
};

std::vector<Table> part_tables(const Part& part);
CsvFile table_csv(const std::vector<Part>& parts);
// Every run, in nats, not relative to anything.
CsvFile runs_csv(const std::vector<Part>& parts);

}  // namespace treesample::experiments
