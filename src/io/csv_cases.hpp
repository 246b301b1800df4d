// Cases in the rows of a CSV file, one after the other.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "treesample/io/csv.hpp"
#include "treesample/io/evidence_file.hpp"

namespace treesample {

inline constexpr const char* kCaseColumn = "case";  // of labels, unless a variable has that name

// The ending of the name, in small letters.
std::string case_extension(const std::filesystem::path& path);

class CsvCases {
 public:
  // The text and the names must outlive the object.
  CsvCases(std::string_view text, std::string_view source_name, const Names& names);
  // Fills in the next case; false after the last one.
  bool next(Case& now);

 private:
  static constexpr int kLabel = -2;

  void add_column(const std::string& name);

  std::string name_;
  const Names& names_;
  CsvReader reader_;
  CsvRow row_;
  std::vector<int> columns_;
  std::unordered_set<int> different_;
  std::size_t num_cases_ = 0;
};

}  // namespace treesample
