#include "treesample/io/csv.hpp"

#include <algorithm>
#include <utility>

#include "source_text.hpp"

namespace treesample {
namespace {

// The separator of the fields in the first line.
char separator_of(std::string_view text) {
  bool is_quoted = false;
  bool has_semicolon = false, has_tab = false;
  for (const char c : text) {
    if (c == '"') is_quoted = !is_quoted;
    if (is_quoted) continue;
    if (c == '\n') break;
    if (c == ',') return ',';
    has_semicolon = has_semicolon || c == ';';
    has_tab = has_tab || c == '\t';
  }
  return has_semicolon ? ';' : has_tab ? '\t' : ',';
}

}  // namespace

CsvReader::CsvReader(std::string_view text, std::string_view source_name) : source_name_(source_name) {
  text_ = source_text(utf8_text(text, storage_), source_name_).text;
  separator_ = separator_of(text_);
}

bool CsvReader::next(CsvRow& row) {
  while (at_ < text_.size()) {
    row.line = line_;
    const std::size_t begin = at_;
    std::size_t count = 0;
    do {
      if (count == row.fields.size()) row.fields.emplace_back();
      read_field(row.fields[count++]);
    } while (takes(separator_));
    row.fields.resize(count);
    const bool is_empty = at_ == begin;
    takes('\r');
    takes('\n');
    if (!is_empty) return true;
  }
  return false;
}

bool CsvReader::takes(char c) {
  if (at_ == text_.size() || text_[at_] != c) return false;
  line_ += c == '\n' ? 1 : 0;
  ++at_;
  return true;
}

bool CsvReader::is_at_end() const {
  return at_ == text_.size() || text_[at_] == separator_ || text_[at_] == '\n' ||
         (text_[at_] == '\r' && (at_ + 1 == text_.size() || text_[at_ + 1] == '\n'));
}

void CsvReader::read_field(std::string& value) {
  value.clear();
  const std::size_t begin = at_;
  if (!takes('"')) {
    while (!is_at_end()) ++at_;
    value.assign(text_.substr(begin, at_ - begin));
    return;
  }
  const SourceText source{text_, source_name_};
  while (true) {
    if (at_ == text_.size()) throw_parse_error(source, begin, "the quote is not closed, expected '\"'");
    if (text_[at_] == '"' && !takes_double_quote()) break;
    line_ += text_[at_] == '\n' ? 1 : 0;
    value += text_[at_++];
  }
  ++at_;
  if (!is_at_end()) throw_parse_error(source, at_, "expected the end of the field after its quote");
}

// Is this quote followed by another one? If so, moves to the second.
bool CsvReader::takes_double_quote() {
  if (at_ + 1 == text_.size() || text_[at_ + 1] != '"') return false;
  ++at_;
  return true;
}

std::vector<CsvRow> parse_csv(std::string_view text, std::string_view source_name) {
  CsvReader reader(text, source_name);
  std::vector<CsvRow> rows;
  CsvRow row;
  while (reader.next(row)) rows.push_back(std::move(row));
  return rows;
}

std::string csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) line += ',';
    const std::string& field = fields[i];
    // Fields with semicolons and tabs are quoted too, so that a first line with one field is read back as one field.
    const bool is_line = field.empty() && fields.size() == 1;  // an empty line would not be a row
    if (!is_line && field.find_first_of(",;\t\"\r\n") == std::string::npos) {
      line += field;
      continue;
    }
    line += '"';
    for (const char c : field) {
      if (c == '"') line += '"';
      line += c;
    }
    line += '"';
  }
  return line + '\n';
}

}  // namespace treesample
