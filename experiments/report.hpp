// The result of an experiment: tables, figures, and one HTML page with all of them.
//
// A runner fills a Report. print_report shows the tables on the terminal. write_report writes these files:
//   NAME.csv               one per csv: the numbers of the tables in full precision
//   NAME.svg .png .gp      one set per figure: two pictures, and the gnuplot script with its data
//   report.html            self-contained: tables, figures, options, seed, version
// They depend on the report alone, so equal reports give equal bytes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plot.hpp"

namespace treesample::experiments {

struct Table {
  std::string title;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  // the first column is text, the others are numbers
  std::string remark;                          // below the table
};

struct Figure {
  std::string name;  // of the files
  std::string title;
  std::string caption;
  std::string script;             // gnuplot, without terminal and output
  std::optional<Plot> plot = {};  // the content of the script, for a page that draws it itself; may be missing
};

struct CsvFile {
  std::string name;
  std::string text;  // the header line is first
};

struct Report {
  std::string title;
  std::string introduction;
  std::string advice = {};                                   // what to do, in a sentence or two; comes first
  std::vector<std::pair<std::string, std::string>> options;  // including seed and version
  std::vector<Table> tables;
  std::vector<Figure> figures;
  std::vector<CsvFile> csv_files;
};

// Columns are aligned and as wide as needed.
std::string format_tables(const std::vector<Table>& tables);

// One page without links to other files. `pictures` are the SVG texts of the figures; empty ones are left out.
std::string format_html(const Report& report, const std::vector<std::string>& pictures);

// Writes everything and returns remarks for the user, such as that gnuplot is missing. The folder must exist. Throws
// Error (kIo) if a file cannot be written.
std::vector<std::string> write_report(const Report& report, const std::filesystem::path& folder);

}  // namespace treesample::experiments
