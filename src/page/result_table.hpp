// The table of results: one row for each field of an answer's JSON, from which all other forms of an answer are made.
//
//   JSON               the name, and the value that `write` writes
//   JSON schema        name, type and help; docs/answer_file.md has them too
//   text, for people   the lines that `text` adds, in the order of the rows
//   page of --html     the JSON; a number with a unit becomes a card there
//   table of --cases   the columns of `cells`
//   Python             an attribute of Answer with this name and type, and help as its docstring
//
// A result that is a number needs a row and nothing else: see `entropy` in result_table.cpp.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "page/answer_object.hpp"
#include "treesample/page/answer_json.hpp"

namespace treesample {

// The answer to be shown, its model and its source.
struct Shown {
  const Answer& answer;
  const Model& model;
  const AnswerSource& source;
  Detail detail = Detail::kAll;
  [[nodiscard]] const FactorGraph& graph() const { return model.graph; }
  [[nodiscard]] const Question& question() const { return answer.plan.request.question; }
};

// The names of a type in JSON and in Python.
struct ResultType {
  const char* python;
  const char* schema;
};

// A row of the table of --cases. The names of its columns take longer than the numbers: only the first row has them.
class Cells {
 public:
  explicit Cells(bool has_columns) : has_columns_(has_columns) {}
  // `column` makes the name.
  template <class Column>
  void add(const Column& column, std::string value) {
    cells_.push_back({has_columns_ ? std::string(column()) : std::string(), std::move(value)});
  }
  void add(const char* column, std::string value) {
    add([column] { return column; }, std::move(value));
  }
  [[nodiscard]] std::vector<AnswerCell> take() { return std::move(cells_); }

 private:
  bool has_columns_;
  std::vector<AnswerCell> cells_;
};

struct ResultRow {
  const char* name;
  ResultType type;
  const char* help;
  void (*write)(JsonWriter& out, const Shown& shown);
  void (*text)(std::string& out, const Shown& shown) = nullptr;
  void (*cells)(Cells& cells, const Shown& shown) = nullptr;
  // For a number: its unit in the text and on the page. It then has its own line and its own card.
  const char* unit = nullptr;
  std::optional<double> (*number)(const Answer& answer) = nullptr;
};
std::span<const ResultRow> result_rows();

// Why the table of a query is empty; null where it is not, and where nothing is possible.
inline const char* why_no_table(const QueryAnswer& query, const Answer& answer) {
  const bool is_empty = query.probabilities.empty() && !answer.marginals.empty();
  return is_empty ? "no joint distribution by this method" : nullptr;
}

// The number of a row with a unit as people read it; empty where there is none.
std::string number_text(const ResultRow& row, const Answer& answer);

// The functions of which the rows consist. JSON: src/page/result_json.cpp.
void write_model(JsonWriter& out, const Shown& shown);
void write_variables(JsonWriter& out, const Shown& shown);
void write_evidence(JsonWriter& out, const Shown& shown);
void write_soft_evidence(JsonWriter& out, const Shown& shown);
void write_conflict(JsonWriter& out, const Shown& shown);
void write_best(JsonWriter& out, const Shown& shown);
void write_k_best(JsonWriter& out, const Shown& shown);
void write_map(JsonWriter& out, const Shown& shown);
void write_sensitivity(JsonWriter& out, const Shown& shown);
void write_observation_values(JsonWriter& out, const Shown& shown);
void write_queries(JsonWriter& out, const Shown& shown);
void write_marginal_errors(JsonWriter& out, const Shown& shown);
void write_marginals(JsonWriter& out, const Shown& shown);
void write_samples(JsonWriter& out, const Shown& shown);
void write_calls(JsonWriter& out, const Shown& shown);
// Text: src/page/result_text.cpp.
void add_model(std::string& out, const Shown& shown);
void add_evidence(std::string& out, const Shown& shown);
void add_conflict(std::string& out, const Shown& shown);
void add_simplified(std::string& out, const Shown& shown);
void add_method(std::string& out, const Shown& shown);
void add_log_z(std::string& out, const Shown& shown);
void add_evidence_probability(std::string& out, const Shown& shown);
void add_sampler_divergence(std::string& out, const Shown& shown);
void add_unexplored_mass(std::string& out, const Shown& shown);
void add_evaluated(std::string& out, const Shown& shown);
void add_best(std::string& out, const Shown& shown);
void add_k_best(std::string& out, const Shown& shown);
void add_map(std::string& out, const Shown& shown);
void add_sensitivity(std::string& out, const Shown& shown);
void add_observation_values(std::string& out, const Shown& shown);
void add_queries(std::string& out, const Shown& shown);
void add_marginals(std::string& out, const Shown& shown);
void add_samples(std::string& out, const Shown& shown);
void add_spent(std::string& out, const Shown& shown);
void add_programs(std::string& out, const Shown& shown);
void add_error(std::string& out, const Shown& shown);
// Tables: src/page/result_cells.cpp.
void log_z_cells(Cells& cells, const Shown& shown);
void conflict_cells(Cells& cells, const Shown& shown);
void best_cells(Cells& cells, const Shown& shown);
void map_cells(Cells& cells, const Shown& shown);
void marginals_error_cells(Cells& cells, const Shown& shown);
void marginals_cells(Cells& cells, const Shown& shown);

}  // namespace treesample
