// One table of results: whatever it has is in every form of an answer, and nothing else is.
#include "page/result_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "treesample/infer/cases.hpp"
#include "treesample/io/model_file.hpp"
#include "treesample/page/answer_page.hpp"

namespace treesample {
namespace {

using Json = nlohmann::ordered_json;

Model asia() { return Model(read_model(TREESAMPLE_SOURCE_DIR "/examples/models/asia.bif")); }

// Answers in which each result is at least once.
std::vector<std::pair<Model, Answer>> answers() {
  std::vector<std::pair<Model, Answer>> list;
  const auto add = [&](Model model, const Question& question, const Limits& limits = {},
                       const InferOptions& options = {}) {
    Answer answer = infer(model, question, limits, options);
    list.emplace_back(std::move(model), std::move(answer));
  };
  Model seen = asia();
  seen.observe("xray", "yes").observe_soft("smoke", {0.8, 0.2});
  add(seen, {.query = {{"lung"}, {"lung", "tub"}},
             .k_best = 2,
             .map = {"smoke"},
             .sensitivity = "lung=yes",
             .value_for = "lung",
             .entropy = true,
             .samples = 3});
  Model impossible = asia();
  impossible.observe("either", "no").observe("lung", "yes");
  add(impossible, {.query = {{"tub"}}, .sensitivity = "tub=yes", .entropy = true});
  add(asia(), {.samples = 2}, {.budget = 20}, {.select = SelectRule::kGap});
  add(asia(), {}, {.budget = 20}, {.select = SelectRule::kQUct});
  add(asia(), {.samples = 2}, {.budget = 1000}, {.method = Method::kGibbs});
  FactorGraph function;
  for (int v = 0; v < 5; ++v) function.add_variable(3);
  function.add_factor(Factor::function({0, 1, 2, 3, 4}, [](std::span<const int> x) { return -1.0 * x[0] - x[3]; }));
  add(function, {}, {.budget = 30});
  return list;
}

TEST(ResultTable, TheJsonHasItsRowsAndNothingElse) {
  for (const auto& [model, answer] : answers()) {
    const Json json = Json::parse(answer_json(answer, model, {"asia.bif"}));
    ASSERT_EQ(json.size(), result_rows().size());
    for (const ResultRow& row : result_rows()) {
      ASSERT_TRUE(json.contains(row.name)) << row.name;
      EXPECT_EQ(json[row.name], Json::parse(result_json(answer, model, {"asia.bif"}, row.name))) << row.name;
    }
  }
}

bool has_type(const Json& value, const Json& schema) {
  const auto is = [&](const std::string& type) {
    return (type == "string" && value.is_string()) || (type == "number" && value.is_number()) ||
           (type == "integer" && value.is_number_integer()) || (type == "null" && value.is_null()) ||
           (type == "object" && value.is_object()) || (type == "array" && value.is_array());
  };
  if (schema["type"].is_string()) return is(schema["type"]);
  return std::any_of(schema["type"].begin(), schema["type"].end(), [&](const Json& type) { return is(type); });
}

TEST(ResultTable, ValuesHaveTheirTypeAndEveryResultIsSeen) {
  std::set<std::string> seen;
  for (const auto& [model, answer] : answers()) {
    const Json json = Json::parse(answer_json(answer, model, {"asia.bif"}));
    for (const ResultRow& row : result_rows()) {
      EXPECT_TRUE(has_type(json[row.name], Json::parse(row.type.schema))) << row.name << json[row.name];
      if (!json[row.name].is_null()) seen.insert(row.name);
    }
  }
  for (const ResultRow& row : result_rows()) {
    const std::set<std::string> elsewhere = {"error", "programs", "evaluated", "marginal_errors_unknown"};
    EXPECT_TRUE(seen.contains(row.name) || elsewhere.contains(row.name)) << row.name;
  }
}

TEST(ResultTable, TheDocumentListsEveryRow) {
  std::ifstream file(TREESAMPLE_SOURCE_DIR "/docs/answer_file.md");
  std::stringstream text;
  text << file.rdbuf();
  for (const ResultInfo& result : answer_results()) {
    EXPECT_NE(text.str().find("| `" + result.name + "` | " + result.help + " |"), std::string::npos)
        << result.name << ": `treesample docs answer` prints the table of docs/answer_file.md";
  }
}

// A number with a unit is in the text, on the page and in the table of cases, by its row alone.
TEST(ResultTable, NumbersAreShownEverywhere) {
  const auto list = answers();
  const auto& [model, answer] = list.front();
  int num_numbers = 0;
  for (const ResultRow& row : result_rows()) {
    if (row.unit == nullptr) continue;
    ++num_numbers;
    const std::string shown = number_text(row, answer);
    EXPECT_NE(answer_text(answer, model, {}).find(shown), std::string::npos) << row.name;
    EXPECT_NE(answer_page(answer, model, {}).find("[\"" + std::string(row.name) + "\",\"" + shown), std::string::npos);
    const std::vector<AnswerCell> cells = answer_cells(answer, model);
    EXPECT_TRUE(std::any_of(cells.begin(), cells.end(), [&](const AnswerCell& cell) {
      return cell.column == row.name && std::stod(cell.value) == *row.number(answer);
    })) << row.name;
  }
  EXPECT_GE(num_numbers, 1);
}

TEST(ResultTable, AllCasesHaveTheSameColumns) {
  const std::vector<Case> cases = {
      {"impossible", {{{5, 1}, {3, 0}}, {}}}, {"possible", {{{6, 0}}, {}}}, {"impossible too", {{{5, 1}, {1, 0}}, {}}}};
  for (const Question& question : {Question{}, Question{.query = {{"tub", "bronc"}}, .map = {"smoke"}, .entropy = true},
                                   Question{.aim = Aim::kBest}}) {
    std::vector<std::string> first;
    const Model model = asia();
    infer_cases(model, cases, question, {}, {}, {}, [&](const Case& now, const Answer& answer) {
      std::vector<std::string> columns;
      for (const AnswerCell& cell : answer_cells(answer, model)) columns.push_back(cell.column);
      if (first.empty()) first = columns;
      EXPECT_EQ(columns, first) << now.label;
    });
    EXPECT_GE(first.size(), 5U);
  }
}

}  // namespace
}  // namespace treesample
