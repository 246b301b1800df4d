// An answer as text for people, as JSON, and as cells of a table. All are made from one table of results, which
// docs/answer_file.md lists.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "treesample/infer/answer.hpp"
#include "treesample/infer/infer.hpp"

namespace treesample {

// How the answer was obtained, in addition to what the answer itself contains.
struct AnswerSource {
  std::string model_file;
  std::vector<std::pair<std::string, std::string>> settings = {};  // shown among the options
};

// One JSON object, indented, with a line break at its end. Infinite numbers are the strings "inf" and "-inf".
std::string answer_json(const Answer& answer, const Model& model, const AnswerSource& source);

// The text that the program prints: a short readable summary, line by line. Names from the model may be hostile, so
// they are made printable.
std::string answer_text(const Answer& answer, const Model& model, const AnswerSource& source);
// The line for one sample in that text.
std::string sample_text(const FactorGraph& graph, const Assignment& sample);

// One cell in the row that an answer has in a table of many answers. The value is text, and empty if it is not known.
// Answers to the same question about the same model have the same columns, whose names may be left out.
struct AnswerCell {
  std::string column, value;
};
std::vector<AnswerCell> answer_cells(const Answer& answer, const Model& model, bool has_columns = true);
// The probabilities that were asked for or, without a query, the marginals of all variables.
std::vector<QueryAnswer> asked_probabilities(const Answer& answer, const FactorGraph& graph);

// One field of the JSON.
struct ResultInfo {
  std::string name;
  std::string python_type, json_schema;
  std::string help;  // Markdown
};
const std::vector<ResultInfo>& answer_results();
// The value of a field, as JSON in one line. Throws Error (kArgument) for an unknown name.
std::string result_json(const Answer& answer, const Model& model, const AnswerSource& source, std::string_view name);

}  // namespace treesample
