// Tables as text with one line per row: CSV as RFC 4180 defines it, and as spreadsheets write it.
//
// Fields are separated by commas; if the first line has no comma outside of quotes, by semicolons; and if it has none
// of these either, by tabs. A field in double quotes may contain separators, line breaks and quotes, which are written
// twice. Lines end with LF or CRLF. Empty lines are skipped.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace treesample {

struct CsvRow {
  std::vector<std::string> fields;
  std::size_t line = 0;  // number of the line in the text, from 1
};

// Reads row by row. The text must outlive the reader.
class CsvReader {
 public:
  CsvReader(std::string_view text, std::string_view source_name);
  CsvReader(const CsvReader&) = delete;
  CsvReader& operator=(const CsvReader&) = delete;
  // Fills in the next row; false after the last one. Throws Error (kParse) as "file:line: ..." for a quote that is not
  // closed and for text after a closing quote.
  bool next(CsvRow& row);
  // Where the next row begins.
  [[nodiscard]] std::size_t position() const { return at_; }

 private:
  bool takes(char c);
  [[nodiscard]] bool is_at_end() const;
  bool takes_double_quote();
  void read_field(std::string& value);

  std::string storage_, source_name_;
  std::string_view text_;
  char separator_ = ',';
  std::size_t at_ = 0, line_ = 1;
};

// All rows.
std::vector<CsvRow> parse_csv(std::string_view text, std::string_view source_name);

// One line, including its LF; fields are quoted where necessary.
std::string csv_line(const std::vector<std::string>& fields);

}  // namespace treesample
