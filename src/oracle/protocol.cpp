#include "oracle/protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "io/json_fields.hpp"
#include "treesample/error.hpp"
#include "treesample/io/json_text.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

using nlohmann::json;

std::string quoted_line(std::string_view line) {
  constexpr std::size_t kShownBytes = 80;
  return fmt::format("'{}'", shortened(line, kShownBytes));
}

[[noreturn]] void fail(std::string_view line, std::string_view message) {
  throw Error(ErrorCode::kParse, fmt::format("{} in its line {}", message, quoted_line(line)));
}

json parse_object(std::string_view line) {
  try {
    json object = parse_json(quote_python_words(line));
    if (!object.is_object()) fail(line, "no JSON object");
    return object;
  } catch (const JsonProblem& problem) {
    fail(line, problem.is_syntax ? "no JSON" : problem.message);
  }
}

std::string complaint_text(const json& error) { return error.is_string() ? error.get<std::string>() : shown(error); }

// Translates names of variables to positions in the scope.
std::optional<std::vector<int>> parse_witness(const json& names, std::string_view line,
                                              std::span<const std::string> variables) {
  if (names.is_null()) return {};
  if (!names.is_array()) fail(line, fmt::format("{} instead of a list of variables as witness", shown(names)));
  std::vector<int> places;
  for (const json& name : names) {
    const auto found = std::find(variables.begin(), variables.end(), name.is_string() ? name.get<std::string>() : "");
    if (found == variables.end()) {
      fail(line, fmt::format("{} in a witness, which is no variable of the factor's scope,", shown(name)));
    }
    places.push_back(static_cast<int>(found - variables.begin()));
  }
  return places;
}

Evaluation parse_value(const json& value, std::string_view line, std::span<const std::string> variables) {
  // + 0.0 turns -0 into 0: a journal does not store the sign of 0.
  if (value.is_number()) return {value.get<double>() + 0.0};
  const std::string text = value.is_string() ? value.get<std::string>() : "";
  if (text == "-inf" || text == "-Infinity") return {kNegInf};
  if (text == "NaN") return {std::nan("")};
  if (text == "Infinity") return {HUGE_VAL};
  if (value.is_object() && value.contains("error")) return {0.0, complaint_text(value["error"])};
  if (value.is_object() && value.contains("log_value")) {
    Evaluation evaluation = parse_value(value["log_value"], line, {});
    if (value.contains("witness")) evaluation.witness = parse_witness(value["witness"], line, variables);
    return evaluation;
  }
  fail(line, fmt::format("{} instead of a number or \"-inf\"", shown(value)));
}

}  // namespace

std::string quote_python_words(std::string_view line) {
  std::string quoted;
  bool is_inside = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    std::string_view word;
    for (const std::string_view candidate : {"-Infinity", "Infinity", "NaN"}) {
      if (!is_inside && word.empty() && line.substr(i, candidate.size()) == candidate) word = candidate;
    }
    if (!word.empty()) {
      quoted += fmt::format("\"{}\"", word);
      i += word.size() - 1;
      continue;
    }
    if (is_inside && line[i] == '\\' && i + 1 < line.size())
      quoted += line[i++];
    else if (line[i] == '"')
      is_inside = !is_inside;
    quoted += line[i];
  }
  return quoted;
}

json described_states(const Variable& variable) {
  return variable.state_names.empty() ? json(variable.num_states) : json(variable.state_names);
}

std::string format_hello(const JsonModel& model, int program) {
  json factors = json::array();
  for (const FactorDescription& factor : model.factors) {
    if (factor.program != program) continue;
    json variables = json::array();
    for (const int v : factor.scope) {
      variables.push_back({{"name", model.variables[v].name}, {"states", described_states(model.variables[v])}});
    }
    factors.push_back({{"name", factor.name}, {"variables", variables}});
  }
  return json_text(json{{"treesample", kProtocolVersion}, {"factors", factors}});
}

std::string format_request(std::int64_t id, const std::string& factor, std::span<const std::vector<int>> assignments) {
  // Lists of numbers are formatted by hand for speed: a batch has thousands of them.
  std::string lists;
  for (const std::vector<int>& states : assignments) {
    lists += lists.empty() ? "[" : ",[";
    std::array<char, 12> digits;
    for (std::size_t i = 0; i < states.size(); ++i) {
      if (i > 0) lists += ',';
      lists.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), states[i]).ptr);
    }
    lists += ']';
  }
  return fmt::format(R"({{"assignments":[{}],"factor":{},"id":{}}})", lists, json_text(json(factor)), id);
}

void check_ready(std::string_view line) {
  const json object = parse_object(line);
  if (object.contains("error")) throw ProgramComplaint{complaint_text(object["error"])};
  if (object.value("ready", json()) != json(true)) fail(line, "no \"ready\": true");
}

std::vector<Evaluation> parse_answer(std::string_view line, std::int64_t id, std::size_t num_values,
                                     std::span<const std::string> variables) {
  const json object = parse_object(line);
  if (object.value("id", json()) != json(id)) fail(line, fmt::format("no \"id\": {}, which was asked,", id));
  if (object.contains("error")) throw ProgramComplaint{complaint_text(object["error"])};
  if (!object.contains("log_values") || !object["log_values"].is_array()) fail(line, "no list \"log_values\"");
  const json& values = object["log_values"];
  if (values.size() != num_values) {
    fail(line, fmt::format("{} log-values instead of {}", values.size(), num_values));
  }
  std::vector<Evaluation> log_values;
  for (const json& value : values) log_values.push_back(parse_value(value, line, variables));
  return log_values;
}

}  // namespace treesample
