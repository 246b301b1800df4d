// What an experiment ends in: tables, figures, and one HTML page that holds them all.
//
// A runner fills a Report; print_report shows the tables on the terminal, write_report leaves
//   NAME.csv               one per csv: what the tables show, in full precision
//   NAME.svg .png .gp      one set per figure: two pictures, and the gnuplot script with its data
//   report.html            self-contained: tables, figures, options, seed, version
// in the folder. Everything is a function of the report alone, so equal reports give equal bytes.
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
  std::optional<Plot> plot = {};  // what the script draws, for a page that draws it itself; may be missing
};

struct CsvFile {
  std::string name;
  std::string text;  // header line first
};

struct Report {
  std::string title;
  std::string introduction;
  std::vector<std::pair<std::string, std::string>> options;  // seed and version included
  std::vector<Table> tables;
  std::vector<Figure> figures;
  std::vector<CsvFile> csv_files;
};

// Aligned columns, as many characters wide as needed.
std::string format_tables(const std::vector<Table>& tables);

// One page without links to other files; `pictures` are the SVG texts of the figures, empty ones left out.
std::string format_html(const Report& report, const std::vector<std::string>& pictures);

// Writes everything and returns remarks for the user, such as that gnuplot is missing. The folder must
// exist. Throws Error (kIo) when a file cannot be written.
std::vector<std::string> write_report(const Report& report, const std::filesystem::path& folder);

}  // namespace treesample::experiments
