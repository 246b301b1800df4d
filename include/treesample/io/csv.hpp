// Tables as text with one line per row: CSV as RFC 4180 has it, and as spreadsheets write it.
//
// Fields are separated by commas; where the first line has none outside of quotes, by semicolons, else by tabs. A field
// may stand in double quotes, may then hold separators and line breaks, and has a quote as two. Lines end with LF or
// CRLF. Empty lines are no rows.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace treesample {

struct CsvRow {
  std::vector<std::string> fields;
  std::size_t line = 0;  // of the text, from 1
};

// Throws Error (kParse) as "file:line: ..." for a quote that is not closed and for text behind one.
std::vector<CsvRow> parse_csv(std::string_view text, std::string_view source_name);

// One line, its LF included; fields in quotes where they need them.
std::string csv_line(const std::vector<std::string>& fields);

}  // namespace treesample
