// An answer in its forms, by the table of results.
#include "treesample/page/answer_json.hpp"

#include <fmt/format.h>

#include "page/answer_object.hpp"
#include "page/result_table.hpp"
#include "treesample/error.hpp"
#include "treesample/io/json_writer.hpp"

namespace treesample {
namespace {

const ResultRow& result_row(std::string_view name) {
  for (const ResultRow& row : result_rows()) {
    if (name == row.name) return row;
  }
  throw_argument("answer", "there is no result '" + std::string(name) + "'");
}

}  // namespace

void write_answer(JsonWriter& out, const Answer& answer, const Model& model, const AnswerSource& source,
                  Detail detail) {
  const Shown shown{answer, model, source, detail};
  out.begin_object();
  for (const ResultRow& row : result_rows()) {
    out.name(row.name);
    row.write(out, shown);
  }
  out.end_object();
}

std::string answer_json(const Answer& answer, const Model& model, const AnswerSource& source) {
  constexpr std::size_t kBytesPerVariable = 120;  // estimate, for names, two states and marginals
  JsonWriter out(1);
  out.reserve(kBytesPerVariable * static_cast<std::size_t>(model.graph.num_variables()));
  write_answer(out, answer, model, source, Detail::kAll);
  std::string text = out.take();
  text += '\n';
  return text;
}

std::string result_json(const Answer& answer, const Model& model, const AnswerSource& source, std::string_view name) {
  JsonWriter out;
  result_row(name).write(out, {answer, model, source});
  return out.take();
}

std::string answer_text(const Answer& answer, const Model& model, const AnswerSource& source) {
  constexpr int kTitleWidth = 12;
  std::string text;
  const Shown shown{answer, model, source};
  for (const ResultRow& row : result_rows()) {
    if (row.text != nullptr) row.text(text, shown);
    const std::string number = number_text(row, answer);
    if (!number.empty()) text += fmt::format("{:<{}}{}\n", row.name, kTitleWidth, number);
  }
  return text;
}

std::vector<AnswerCell> answer_cells(const Answer& answer, const Model& model, bool has_columns) {
  Cells cells(has_columns);
  const AnswerSource source;
  const Shown shown{answer, model, source};
  for (const ResultRow& row : result_rows()) {
    if (row.cells != nullptr) row.cells(cells, shown);
    if (row.number == nullptr) continue;
    if (option_text(answer.plan.request, row.name) == infer_option(row.name).initial) continue;  // not asked for
    const std::optional<double> number = row.number(answer);
    cells.add(row.name, number ? fmt::format("{}", *number) : "");
  }
  return cells.take();
}

const std::vector<ResultInfo>& answer_results() {
  static const std::vector<ResultInfo> results = [] {
    std::vector<ResultInfo> list;
    for (const ResultRow& row : result_rows()) list.push_back({row.name, row.type.python, row.type.schema, row.help});
    return list;
  }();
  return results;
}

}  // namespace treesample
