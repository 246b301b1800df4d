#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "oracle/journal.hpp"
#include "oracle/oracle_model.hpp"
#include "treesample/error.hpp"
#include "treesample/io/csv.hpp"
#include "treesample/io/file.hpp"
#include "treesample/model/log_value.hpp"
#include "treesample/model/names.hpp"
#include "treesample/oracle/journal_calls.hpp"
#include "treesample/parse_number.hpp"
#include "treesample/text.hpp"

namespace treesample {

std::string call_column(const std::string& column, const std::vector<std::string>& variables) {
  const bool is_taken = std::find(variables.begin(), variables.end(), column) != variables.end();
  return is_taken ? "call_" + column : column;
}

namespace {

class Import {
 public:
  Import(const JsonModel& model, const std::filesystem::path& csv)
      : model_(model), file_(csv.string()), rows_(parse_csv(read_file(csv), file_)), names_(graph_of(model)) {
    for (const FactorDescription& factor : model.factors) {
      if (!factor.is_table()) programs_.push_back(&factor);
    }
    check_argument(!programs_.empty(), "import", fmt::format("{} has no factor with a program", model.source_name));
    if (rows_.empty()) throw Error(ErrorCode::kParse, fmt::format("{}: the file is empty", file_));
    for (std::size_t i = 0; i < rows_[0].fields.size(); ++i) {
      if (!columns_.emplace(rows_[0].fields[i], i).second) {
        fail(rows_[0], fmt::format("two columns are called '{}'", rows_[0].fields[i]));
      }
    }
    std::vector<std::string> variables;
    for (const Variable& variable : model.variables) variables.push_back(variable.name);
    for (const char* const column : kCallColumns) named_[column] = call_column(column, variables);
    for (const auto& [name, place] : columns_) {
      const bool is_known =
          names_.find_variable(name) >= 0 ||
          std::any_of(named_.begin(), named_.end(), [&](const auto& known) { return known.second == name; });
      if (!is_known) fail(rows_[0], fmt::format("the model has no variable '{}'", shortened(name, 60)));
    }
    if (!columns_.contains(named_.at("log_value"))) {
      fail(rows_[0], fmt::format("there is no column '{}'", named_.at("log_value")));
    }
  }

  // Values with the lines that they come from; failures are counted and left out.
  struct Row {
    JournalEntry entry;
    std::size_t line;
  };
  std::vector<Row> read(JournalImport& result) const {
    std::vector<Row> read;
    for (std::size_t i = 1; i < rows_.size(); ++i) {
      const CsvRow& row = rows_[i];
      if (row.fields.size() != rows_[0].fields.size()) {
        fail(row, fmt::format("{} fields, the header has {}", row.fields.size(), rows_[0].fields.size()));
      }
      if (!text(row, "failure").empty()) {
        ++result.num_failed;
        continue;
      }
      const FactorDescription& factor = factor_of(row);
      read.push_back(
          {{factor.name, states_key(states_of(row, factor)), value_of(row, factor), seconds_of(row)}, row.line});
    }
    return read;
  }

  [[noreturn]] void fail(std::size_t line, const std::string& message) const {
    throw Error(ErrorCode::kParse, fmt::format("{}:{}: {}", file_, line, message));
  }

 private:
  static FactorGraph graph_of(const JsonModel& model) {
    FactorGraph graph;
    for (const Variable& variable : model.variables) graph.add_variable(variable);
    return graph;
  }
  [[noreturn]] void fail(const CsvRow& row, const std::string& message) const { fail(row.line, message); }

  [[nodiscard]] std::string text(const CsvRow& row, const char* column) const {
    const auto found = columns_.find(named_.at(column));
    return found == columns_.end() ? "" : row.fields[found->second];
  }

  [[nodiscard]] const FactorDescription& factor_of(const CsvRow& row) const {
    const std::string name = text(row, "factor");
    if (name.empty() && programs_.size() == 1) return *programs_[0];
    for (const FactorDescription* const factor : programs_) {
      if (factor->name == name) return *factor;
    }
    fail(row, name.empty()
                  ? fmt::format("the model has {} factors with programs, and the column '{}' does not say which",
                                programs_.size(), named_.at("factor"))
                  : fmt::format("the model has no factor with a program called '{}'", shortened(name, 60)));
  }

  [[nodiscard]] std::vector<int> states_of(const CsvRow& row, const FactorDescription& factor) const {
    std::vector<int> states;
    for (const int v : factor.scope) {
      const std::string& name = model_.variables[v].name;
      const auto column = columns_.find(name);
      if (column == columns_.end()) {
        fail(rows_[0], fmt::format("there is no column '{}', a variable of factor '{}'", name, factor.name));
      }
      try {
        states.push_back(names_.state(v, row.fields[column->second]));
      } catch (const Error& error) {
        fail(row, error.what());
      }
    }
    return states;
  }

  [[nodiscard]] double value_of(const CsvRow& row, const FactorDescription& factor) const {
    const std::string written = text(row, "log_value");
    const std::optional<double> value = parse_real(written);
    if (!value) fail(row, fmt::format("log_value is '{}', allowed are numbers and -inf", shortened(written, 60)));
    const std::string problem = log_value_problem(*value, factor.log_max);
    if (!problem.empty()) fail(row, fmt::format("log_value is {}", problem));
    return *value + 0.0;  // + 0.0 turns -0 into 0: a journal does not store the sign of 0
  }

  [[nodiscard]] double seconds_of(const CsvRow& row) const {
    const std::string written = text(row, "seconds");
    if (written.empty()) return 0.0;
    const std::optional<double> seconds = parse_real(written);
    if (seconds && *seconds >= 0.0 && *seconds <= kMaxProgramSeconds) return *seconds;
    fail(row,
         fmt::format("seconds is '{}', allowed are numbers from 0 to {}", shortened(written, 60), kMaxProgramSeconds));
  }

  struct NamedGraph {
    FactorGraph graph;
    Names names;
    explicit NamedGraph(FactorGraph made) : graph(std::move(made)), names(graph) {}
    [[nodiscard]] int find_variable(const std::string& name) const { return names.find_variable(name); }
    [[nodiscard]] int state(int v, const std::string& name) const { return names.state(v, name); }
  };

  const JsonModel& model_;
  std::string file_;
  std::vector<CsvRow> rows_;
  NamedGraph names_;
  std::vector<const FactorDescription*> programs_;
  std::map<std::string, std::size_t> columns_;
  std::map<std::string, std::string> named_;  // our columns, by the names that they have among these variables
};

JournalHeader header_of(const JsonModel& model) {
  JournalHeader header{.model = model.source_name, .parts = fingerprint_parts(model)};
  const OracleModel named{.name = model.source_name, .variables = model.variables, .parts = {}};
  for (const FactorDescription& factor : model.factors) {
    if (!factor.is_table()) header.factors.emplace_back(factor.name, describe_scope(named, factor.scope));
  }
  return header;
}

}  // namespace

JournalImport import_calls(const std::filesystem::path& journal, const JsonModel& model,
                           const std::filesystem::path& csv) {
  JournalImport result;
  const Import import(model, csv);
  const std::vector<Import::Row> rows = import.read(result);
  Journal file(journal, header_of(model));
  const double now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  std::map<std::pair<std::string, std::string>, const Import::Row*> seen;
  std::vector<JournalEntry> entries;
  for (const Import::Row& row : rows) {
    const auto [place, is_first] = seen.emplace(std::pair(row.entry.factor, row.entry.states), &row);
    if (!is_first && place->second->entry.log_value != row.entry.log_value) {
      import.fail(row.line, fmt::format("log_value is {}, and {} at the same states in line {}", row.entry.log_value,
                                        place->second->entry.log_value, place->second->line));
    }
    const std::optional<Journal::Value> known = file.find(row.entry.factor, row.entry.states);
    const bool has_value = known && known->failure.empty();
    if (has_value && known->log_value != row.entry.log_value) {
      import.fail(row.line, fmt::format("log_value is {}, and {} at the same states in the journal",
                                        row.entry.log_value, known->log_value));
    }
    if (has_value || !is_first) {
      ++result.num_known;
      continue;
    }
    ++result.num_new;
    entries.push_back(row.entry);
    entries.back().worker = "import";
    entries.back().finished = now;
  }
  if (!entries.empty()) file.append(entries);
  return result;
}

}  // namespace treesample
