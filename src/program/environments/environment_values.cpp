#include "program/environments/environment_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <set>
#include <utility>

#include "treesample/error.hpp"
#include "treesample/io/csv.hpp"
#include "treesample/io/file.hpp"
#include "treesample/parse_number.hpp"
#include "treesample/program/dag_posterior.hpp"
#include "treesample/text.hpp"

namespace treesample {

EnvironmentValues::EnvironmentValues(std::string environment, const std::vector<EnvironmentField>& fields,
                                     std::map<std::string, std::string> given)
    : environment_(std::move(environment)), given_(std::move(given)) {
  std::string names;
  for (const EnvironmentField& field : fields) {
    names += (names.empty() ? "" : ", ") + field.name;
    presets_[field.name] = field.preset;
    if (field.preset.empty() && !given_.contains(field.name)) {
      throw Error(ErrorCode::kArgument, fmt::format("{}: {} is missing: {}", environment_, field.name, field.help));
    }
  }
  for (const auto& [name, value] : given_) {
    if (presets_.contains(name)) continue;
    throw Error(ErrorCode::kArgument,
                fmt::format("{}: there is no field '{}', allowed are {}", environment_, printable(name), names));
  }
}

const std::string& EnvironmentValues::text(const std::string& field) const {
  const auto found = given_.find(field);
  return found == given_.end() ? presets_.at(field) : found->second;
}

int EnvironmentValues::whole(const std::string& field, int least, int most) const {
  const std::optional<std::int64_t> value = parse_integer(text(field));
  if (!value || *value < least || *value > most)
    refuse(field, fmt::format("are whole numbers from {} to {}", least, most));
  return static_cast<int>(*value);
}

double EnvironmentValues::real(const std::string& field) const {
  const std::optional<double> value = parse_real(text(field));
  if (!value || !std::isfinite(*value)) refuse(field, "are numbers");
  return *value;
}

std::uint64_t EnvironmentValues::seed() const {
  const std::optional<std::int64_t> value = parse_integer(text("seed"));
  if (!value || *value < 0) refuse("seed", "are whole numbers from 0");
  return static_cast<std::uint64_t>(*value);
}

void EnvironmentValues::refuse(const std::string& field, const std::string& allowed) const {
  throw Error(ErrorCode::kArgument,
              fmt::format("{}: {} is '{}', allowed {}", environment_, field, printable(text(field)), allowed));
}

namespace {

[[noreturn]] void fail(const std::string& file, std::size_t line, const std::string& what) {
  throw Error(ErrorCode::kParse, fmt::format("{}:{}: {}", file, line, what));
}

// The rows of a table, all as wide as the first one.
std::vector<CsvRow> read_rows(const std::string& file, std::size_t fewest) {
  std::vector<CsvRow> rows = parse_csv(read_file(file), file);
  if (rows.size() < fewest)
    fail(file, rows.empty() ? 1 : rows.back().line, "a table has a header and at least one row");
  for (const CsvRow& row : rows) {
    if (row.fields.size() == rows.front().fields.size()) continue;
    fail(file, row.line,
         fmt::format("has {}, and the first line {}", counted(std::ssize(row.fields), "field"),
                     rows.front().fields.size()));
  }
  return rows;
}

double number_at(const std::string& file, const CsvRow& row, std::size_t column, const char* advice) {
  const std::optional<double> value = parse_real(row.fields[column]);
  if (value && std::isfinite(*value)) return *value;
  fail(file, row.line,
       fmt::format("field {} is '{}', allowed are numbers{}", column + 1, printable(row.fields[column]), advice));
}

// Labels of a column become numbers in their order as texts.
std::vector<std::vector<int>> labels_of(const std::vector<CsvRow>& rows) {
  std::vector<std::vector<int>> states(rows.size() - 1, std::vector<int>(rows.front().fields.size()));
  for (std::size_t v = 0; v < rows.front().fields.size(); ++v) {
    std::set<std::string> labels;
    for (std::size_t i = 1; i < rows.size(); ++i) labels.insert(rows[i].fields[v]);
    for (std::size_t i = 1; i < rows.size(); ++i) {
      states[i - 1][v] = static_cast<int>(std::distance(labels.begin(), labels.find(rows[i].fields[v])));
    }
  }
  return states;
}

}  // namespace

std::vector<std::vector<double>> read_numbers(const std::string& file) {
  std::vector<std::vector<double>> numbers;
  for (const CsvRow& row : read_rows(file, 1)) {
    std::vector<double>& values = numbers.emplace_back();
    for (std::size_t v = 0; v < row.fields.size(); ++v) values.push_back(number_at(file, row, v, ""));
  }
  return numbers;
}

std::vector<std::string> read_sequences(const std::string& file) {
  const std::vector<CsvRow> rows = read_rows(file, 2);
  if (rows.front().fields.size() != 2) {
    fail(file, rows.front().line,
         "has " + counted(std::ssize(rows.front().fields), "field") + ", allowed are 2: name, sequence");
  }
  std::vector<std::string> sequences;
  for (std::size_t i = 1; i < rows.size(); ++i) sequences.push_back(rows[i].fields[1]);
  return sequences;
}

NamedScores read_dag_scores(const std::string& file, std::string_view score) {
  const bool is_bge = score == "bge";
  check_argument(is_bge || score == "bdeu", "score", fmt::format("is '{}', allowed are bge and bdeu", score));
  const std::vector<CsvRow> rows = read_rows(file, 2);
  NamedScores named{rows.front().fields, {}};
  if (std::set(named.names.begin(), named.names.end()).size() != named.names.size()) {
    fail(file, rows.front().line, "two columns have one name");
  }
  if (!is_bge) {
    named.scores = bdeu_scores(labels_of(rows));
    return named;
  }
  std::vector<std::vector<double>> numbers(rows.size() - 1);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    for (std::size_t v = 0; v < named.names.size(); ++v) {
      numbers[i - 1].push_back(number_at(file, rows[i], v, "; the score bdeu is for labels"));
    }
  }
  named.scores = bge_scores(numbers);
  return named;
}

}  // namespace treesample
