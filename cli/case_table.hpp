// The table of many cases, which grows while they are answered.
#pragma once

#include <cstddef>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "treesample/error.hpp"
#include "treesample/infer/infer.hpp"
#include "treesample/io/evidence_file.hpp"

namespace treesample::cli {

// CSV: a row for each case; the first line has the names of the columns. Rows go to standard output, or to FILE.partial
// in portions, which becomes FILE at the end.
class CaseTable {
 public:
  // Empty: standard output. With `goes_on`, complete rows that an earlier run has left in FILE.partial, or in FILE, are
  // kept. Throws Error: kParse for a damaged file, kWrite.
  CaseTable(std::string file, bool goes_on);

  [[nodiscard]] std::size_t num_kept() const { return labels_.size(); }
  // For the first cases, which earlier rows must be about. Throws Error (kArgument) where they are about others.
  void check_kept(std::size_t index, const Case& now) const;
  void add(const std::string& label, const Answer& answer, const Model& model);
  [[nodiscard]] std::size_t num_rows() const { return num_rows_; }
  // The table is complete. Where the file could not be written, its rows went to standard output, and the error is
  // thrown now.
  void finish();

 private:
  void read_kept(const std::string& from);
  void write_portion();
  void give_up_file(const std::string& why);

  std::string file_, partial_;  // the second empty: rows go to the file directly
  std::ofstream out_;
  std::string text_, first_line_;
  std::vector<std::string> labels_;  // of rows that were kept
  std::size_t num_rows_ = 0;
  bool has_columns_ = false;
  std::optional<Error> unwritten_;
};

}  // namespace treesample::cli
