#include "csv_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "observed_words.hpp"
#include "source_text.hpp"
#include "treesample/error.hpp"
#include "treesample/io/file.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

void observe_field(Observations& known, const Names& names, int variable, std::string_view text) {
  const bool is_state = names.find_state(variable, text) >= 0;
  if (!is_state && (text.empty() || text == "?" || text == "NA")) return;
  if (is_state || !text.starts_with('~')) {
    known.states.push_back({variable, names.state(variable, text)});
    return;
  }
  std::vector<double> weights;
  for (std::string_view rest = trimmed(text.substr(1)); !rest.empty();) {
    const std::size_t end = std::min(rest.find_first_of(" ,;"), rest.size());
    if (end > 0) weights.push_back(weight_of(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  observe_soft(known, names, variable, std::move(weights));
}

}  // namespace

CsvCases::CsvCases(std::string_view text, std::string_view source_name, const Names& names)
    : name_(source_name), names_(names), reader_(text, source_name) {
  if (!reader_.next(row_)) throw Error(ErrorCode::kParse, fmt::format("{}: there is no line with names", name_));
  for (const std::string& field : row_.fields) add_column(std::string(trimmed(field)));
}

bool CsvCases::next(Case& now) {
  if (!reader_.next(row_)) return false;
  if (row_.fields.size() != columns_.size()) {
    throw Error(ErrorCode::kParse, fmt::format("{}:{}: {}, the first line has {}", name_, row_.line,
                                               counted(std::ssize(row_.fields), "field"), columns_.size()));
  }
  now = Case{fmt::format("{}", ++num_cases_), {}};
  at_line(name_, row_.line, [&] {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (columns_[c] == kLabel) now.label = row_.fields[c];
      if (columns_[c] != kLabel) observe_field(now.observed, names_, columns_[c], trimmed(row_.fields[c]));
    }
  });
  return true;
}

void CsvCases::add_column(const std::string& name) {
  at_line(name_, row_.line, [&] {
    const bool is_label = name == kCaseColumn && names_.find_variable(name) < 0;
    try {
      columns_.push_back(is_label ? kLabel : names_.variable(name));
    } catch (const Error& error) {
      const std::string message = error.what();
      if (message.ends_with('?')) throw;  // the message already suggests a variable
      throw Error(error.code(), fmt::format("{} (a column of labels is called '{}')", message, kCaseColumn));
    }
  });
  if (different_.insert(columns_.back()).second) return;
  throw Error(ErrorCode::kParse, fmt::format("{}:{}: two columns are called {}", name_, row_.line, cited(name)));
}

struct CaseReader::Source {
  std::string text = {};
  std::optional<CsvCases> rows = {};
  std::vector<Case> cases = {};  // of a file that is read as a whole
  std::size_t num_taken = 0;
};

CaseReader::CaseReader(const std::filesystem::path& path, const Names& names) : source_(std::make_unique<Source>()) {
  source_->text = read_file(path);
  if (case_extension(path) == ".csv") {
    source_->rows.emplace(source_->text, path.string(), names);
  } else {
    source_->cases = parse_cases(source_->text, path.string(), case_extension(path), names);
  }
}
CaseReader::~CaseReader() = default;

bool CaseReader::next(Case& now) {
  if (source_->rows) return source_->rows->next(now);
  if (source_->num_taken == source_->cases.size()) return false;
  now = std::move(source_->cases[source_->num_taken++]);
  return true;
}

}  // namespace treesample
