// Tables as text with one line per row: CSV as RFC 4180 has it, and as spreadsheets write it.
//
// Fields are separated by commas, or, where the first line has no comma outside quotes, by semicolons, or else by tabs.
// A field in double quotes may contain separators, line breaks and quotes, which are written twice. Lines end with LF
// or CRLF. Empty lines are skipped.
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

// Throws Error (kParse) as "file:line: ..." for a quote that is not closed and for text after a closing quote.
std::vector<CsvRow> parse_csv(std::string_view text, std::string_view source_name);

// One line, including its LF; fields are quoted where necessary.
std::string csv_line(const std::vector<std::string>& fields);

}  // namespace treesample
