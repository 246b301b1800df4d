#include "treesample/io/json_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "clause_fields.hpp"
#include "json_fields.hpp"
#include "small_values.hpp"
#include "treesample/error.hpp"
#include "treesample/io/file.hpp"
#include "treesample/io/json_text.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/log_value.hpp"
#include "umbridge_fields.hpp"
#include "variable_fields.hpp"

namespace treesample {
namespace {

using nlohmann::json;

constexpr std::pair<const char*, FailureRule::Kind> kFailureWords[] = {{"stop", FailureRule::Kind::kStop},
                                                                       {"impossible", FailureRule::Kind::kImpossible},
                                                                       {"skip", FailureRule::Kind::kSkip}};

// The names that have been read so far, to which later parts refer.
struct SeenNames {
  std::map<std::string, int> variables;
  std::map<std::string, int> programs;
  std::set<std::string> factors;
};

Variable parse_unique_variable(const JsonField& field, SeenNames& names) {
  Variable variable = parse_variable(field);
  if (!names.variables.emplace(variable.name, static_cast<int>(names.variables.size())).second) {
    field.at("name").fail(fmt::format("two variables have the name '{}'", variable.name));
  }
  return variable;
}

std::vector<std::string> parse_texts(const JsonField& field) {
  std::vector<std::string> texts(static_cast<std::size_t>(field.array_size()));
  for (std::size_t i = 0; i < texts.size(); ++i) texts[i] = field.at(static_cast<int>(i)).text();
  return texts;
}

// A log-value that a factor may have, or "-inf".
double parse_log_value(const JsonField& field) {
  const double value = field.log_value();
  if (const std::string problem = log_value_problem(value); !problem.empty()) field.fail("the log-value is " + problem);
  return value;
}

// The same for an entry of a table.
double parse_table_value(const JsonField& field) {
  const double value = field.log_value();
  if (const std::string problem = table_value_problem(value); !problem.empty()) {
    field.fail("the log-value is " + problem);
  }
  return value;
}

FailureRule parse_failure_rule(const JsonField& field) {
  if (field.json().is_number()) return {FailureRule::Kind::kValue, parse_log_value(field)};
  const std::string word = field.json().is_string() ? field.json().get<std::string>() : "";
  for (const auto& [name, kind] : kFailureWords) {
    if (word == name) return {kind};
  }
  field.fail(R"(allowed are "stop", "impossible", "skip" and a number, the log-value of what fails)");
}

ProgramDescription parse_program(const JsonField& field, const std::string& name, const JsonModel& model) {
  constexpr double kShortest = 0.001;
  field.require_object({"command", "python", "interpreter", "files", "timeout_seconds", "start_timeout_seconds",
                        "max_retries", "max_batch", "on_failure", "max_failure_share", "umbridge", "model", "inputs",
                        "numbers", "output", "transform", "scale", "config"});
  if (int(field.has("command")) + int(field.has("python")) + int(field.has("umbridge")) != 1)
    field.fail("a program has exactly one of the fields command, python, umbridge");
  if (!field.has("umbridge")) refuse_umbridge_fields(field);
  if (!field.has("python") && field.has("interpreter")) {
    field.at("interpreter").fail("only a program with the field python has this one");
  }
  ProgramDescription program{.name = name, .command = {}};
  if (field.has("python")) {
    program.python = field.at("python").text();
    if (field.has("interpreter")) program.interpreter = field.at("interpreter").text();
    program.command = {program.interpreter.empty() ? "python3" : program.interpreter, program.python};
  } else if (field.has("umbridge")) {
    program.umbridge = parse_umbridge(field, model.variables);
    program.command = {"umbridge"};
  } else {
    program.command = parse_texts(field.at("command"));
    if (program.command.empty()) field.at("command").fail("the list is empty, its first entry is the program");
  }
  if (field.has("files")) program.files = parse_texts(field.at("files"));
  const auto seconds = [&](const char* key, double& value) {
    if (field.has(key)) value = field.at(key).number(kShortest, kMaxProgramSeconds);
  };
  seconds("timeout_seconds", program.timeout_seconds);
  seconds("start_timeout_seconds", program.start_timeout_seconds);
  if (field.has("max_retries")) program.max_retries = field.at("max_retries").integer(0, 1000);
  if (field.has("max_batch")) program.max_batch = field.at("max_batch").integer(1, 1'000'000);
  if (field.has("on_failure")) program.on_failure = parse_failure_rule(field.at("on_failure"));
  if (field.has("max_failure_share")) program.max_failure_share = field.at("max_failure_share").number(0.0, 1.0);
  return program;
}

// The entries of "values" (linear) or "log_values", whichever is present.
std::vector<double> parse_table(const JsonField& field, const JsonModel& model, const std::vector<int>& scope) {
  const bool is_linear = field.has("values");
  const JsonField entries = field.at(is_linear ? "values" : "log_values");
  std::int64_t needed = 1;
  for (const int v : scope) {
    needed *= model.variables[v].num_states;
    if (needed > FactorGraph::kMaxTableEntries) {
      entries.fail(fmt::format("the scope needs more than {} entries", FactorGraph::kMaxTableEntries));
    }
  }
  const int count = entries.array_size();
  if (count != needed) entries.fail(fmt::format("{} entries, the scope needs {}", count, needed));
  std::vector<double> log_values;
  log_values.reserve(static_cast<std::size_t>(count));
  for (const json& entry : entries.json()) {
    if (!is_linear && entry.is_number() &&
        std::abs(entry.get<double>()) <= kLargestMagnitude) {  // building the path costs more
      log_values.push_back(entry.get<double>());
    } else if (!is_linear) {
      log_values.push_back(parse_table_value(entries.at(static_cast<int>(log_values.size()))));
    } else if (entry.is_number() && entry.get<double>() >= 0.0) {
      log_values.push_back(std::log(entry.get<double>()));
    } else {
      entries.at(static_cast<int>(log_values.size()))
          .fail(fmt::format("allowed is a number from 0 up, found {}", shown(entry)));
    }
  }
  return log_values;
}

constexpr const char* kIncreasing = "increasing";
constexpr const char* kDecreasing = "decreasing";

// Reads true, or a direction for each variable of the scope.
std::vector<Direction> parse_directions(const JsonField& field, const JsonModel& model, const std::vector<int>& scope) {
  if (field.json().is_boolean()) {
    if (!field.json().get<bool>()) return {};
    return std::vector<Direction>(scope.size(), Direction::kIncreasing);
  }
  if (!field.json().is_object()) {
    field.fail("allowed are true, false and an object with \"increasing\" or \"decreasing\" for each variable");
  }
  std::vector<Direction> directions;
  for (const int v : scope) {
    const std::string& name = model.variables[v].name;
    if (!field.has(name.c_str())) field.fail(fmt::format("the direction of the variable '{}' is missing", name));
    const std::string word = field.at(name).text();
    if (word != kIncreasing && word != kDecreasing) {
      field.at(name).fail(fmt::format("allowed are \"{}\" and \"{}\", found '{}'", kIncreasing, kDecreasing, word));
    }
    directions.push_back(word == kIncreasing ? Direction::kIncreasing : Direction::kDecreasing);
  }
  if (field.json().size() > scope.size()) field.fail("a variable is named that is not in the scope");
  return directions;
}

FactorDescription parse_factor(const JsonField& field, const JsonModel& model, SeenNames& names) {
  field.require_object({"name", "scope", "values", "log_values", "clause", "program", "log_max", "cost", "monotone"});
  const int kinds =
      int(field.has("values")) + int(field.has("log_values")) + int(field.has("clause")) + int(field.has("program"));
  if (kinds != 1) field.fail("a factor has exactly one of the fields values, log_values, clause, program");
  FactorDescription factor;
  if (field.has("name")) {
    factor.name = field.at("name").text();
    if (!names.factors.insert(factor.name).second) {
      field.at("name").fail(fmt::format("two factors have the name '{}'", factor.name));
    }
  }
  const JsonField scope = field.at("scope");
  std::set<int> in_scope;
  for (int i = 0; i < scope.array_size(); ++i) {
    const std::string name = scope.at(i).text();
    const auto found = names.variables.find(name);
    if (found == names.variables.end()) scope.at(i).fail(fmt::format("unknown variable '{}'", name));
    if (!in_scope.insert(found->second).second) {
      scope.at(i).fail(fmt::format("the variable '{}' is twice in the scope", name));
    }
    factor.scope.push_back(found->second);
  }
  if (!field.has("program")) {
    for (const char* key : {"log_max", "cost", "monotone"}) {
      if (field.has(key)) field.at(key).fail("only a factor with a program has this field");
    }
    if (field.has("clause")) {
      factor.clause = parse_clause(field.at("clause"), model.variables, factor.scope);
      if (factor.clause.empty()) factor.log_values = {kNegInf};  // no literal holds
    } else {
      factor.log_values = parse_table(field, model, factor.scope);
    }
    return factor;
  }
  if (factor.name.empty()) field.fail("a factor with a program needs a name");
  if (factor.scope.empty()) scope.fail("the scope of a factor with a program cannot be empty");
  const std::string program = field.at("program").text();
  const auto found = names.programs.find(program);
  if (found == names.programs.end()) field.at("program").fail(fmt::format("unknown program '{}'", program));
  factor.program = found->second;
  if (field.has("log_max")) factor.log_max = parse_log_value(field.at("log_max"));
  const FailureRule& rule = model.programs[factor.program].on_failure;
  if (rule.kind == FailureRule::Kind::kValue && factor.log_max && rule.log_value > *factor.log_max) {
    field.at("log_max").fail(
        fmt::format("{} is below {}, the on_failure of the program '{}'", *factor.log_max, rule.log_value, program));
  }
  if (field.has("cost")) factor.cost = field.at("cost").number(0.0, kMaxProgramSeconds);
  if (field.has("monotone")) factor.directions = parse_directions(field.at("monotone"), model, factor.scope);
  if (!factor.directions.empty() && rule.kind != FailureRule::Kind::kStop) {
    field.at("monotone")
        .fail(fmt::format(
            "needs the on_failure \"stop\" of the program '{}': what a failure counts as would bound other states",
            program));
  }
  return factor;
}

json log_value_to_json(double value) { return value == kNegInf ? json("-inf") : json(value); }

json program_to_json(const ProgramDescription& program, const JsonModel& model) {
  json object = {{"timeout_seconds", program.timeout_seconds},
                 {"start_timeout_seconds", program.start_timeout_seconds},
                 {"max_retries", program.max_retries},
                 {"max_batch", program.max_batch},
                 {"max_failure_share", program.max_failure_share}};
  object["on_failure"] = program.on_failure.log_value;
  for (const auto& [word, kind] : kFailureWords) {
    if (program.on_failure.kind == kind) object["on_failure"] = word;
  }
  if (program.umbridge) {
    add_umbridge_fields(object, *program.umbridge, model.variables);
  } else if (program.python.empty()) {
    object["command"] = program.command;
  } else {
    object["python"] = program.python;
    if (!program.interpreter.empty()) object["interpreter"] = program.interpreter;
  }
  if (!program.files.empty()) object["files"] = program.files;
  return object;
}

json factor_to_json(const FactorDescription& factor, const JsonModel& model) {
  json object = json::object();
  if (!factor.name.empty()) object["name"] = factor.name;
  object["scope"] = json::array();
  for (const int v : factor.scope) object["scope"].push_back(model.variables[v].name);
  if (!factor.clause.empty()) {
    object["clause"] = clause_to_json(factor.clause, model.variables, factor.scope);
  } else if (factor.is_table()) {
    json& values = object["log_values"] = json::array();
    for (const double value : factor.log_values) values.push_back(log_value_to_json(value));
  } else {
    object["program"] = model.programs[factor.program].name;
    if (factor.log_max) object["log_max"] = log_value_to_json(*factor.log_max);
    if (factor.cost) object["cost"] = *factor.cost;
    for (std::size_t i = 0; i < factor.directions.size(); ++i) {
      object["monotone"][model.variables[factor.scope[i]].name] =
          factor.directions[i] == Direction::kIncreasing ? kIncreasing : kDecreasing;
    }
  }
  return object;
}

}  // namespace

JsonModel read_json_model(const std::filesystem::path& path) {
  JsonModel model = parse_json_model(read_file(path, kMaxJsonModelBytes), path.string());
  model.folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  return model;
}

JsonModel parse_json_model(std::string_view text, std::string_view source_name) {
  const json parsed = parse_json_text(text, source_name);
  const JsonField root(parsed, source_name);
  root.require_object({"description", "variables", "programs", "factors"});
  JsonModel model;
  model.source_name = source_name;
  SeenNames names;
  const JsonField variables = root.at("variables");
  for (int i = 0; i < variables.array_size(); ++i) {
    model.variables.push_back(parse_unique_variable(variables.at(i), names));
  }
  if (root.has("programs")) {
    const JsonField programs = root.at("programs");
    if (!programs.json().is_object()) programs.fail("allowed is an object with one field per program");
    for (const auto& [name, description] : programs.json().items()) {
      if (name.empty()) programs.fail("the name of a program cannot be empty");
      names.programs.emplace(name, static_cast<int>(model.programs.size()));
      model.programs.push_back(parse_program(programs.at(name), name, model));
    }
  }
  const JsonField factors = root.at("factors");
  for (int i = 0; i < factors.array_size(); ++i) model.factors.push_back(parse_factor(factors.at(i), model, names));
  for (int i = 0; i < variables.array_size(); ++i) {
    for (FactorDescription& table : parse_conditions(variables.at(i), i, model.variables, names.variables)) {
      model.factors.push_back(std::move(table));
    }
  }
  complete_umbridge(model);
  check_small_values(factors.json(), text, source_name);
  return model;
}

std::string format_json_model(const JsonModel& model) {
  json root = {{"variables", json::array()}, {"factors", json::array()}};
  for (const Variable& variable : model.variables) root["variables"].push_back(variable_to_json(variable));
  for (const ProgramDescription& program : model.programs)
    root["programs"][program.name] = program_to_json(program, model);
  for (const FactorDescription& factor : model.factors) root["factors"].push_back(factor_to_json(factor, model));
  return json_text(root, 1) + "\n";
}

JsonModel describe_tables(const FactorGraph& graph, std::string_view source_name) {
  JsonModel model;
  model.source_name = source_name;
  std::set<std::string> names;
  for (int v = 0; v < graph.num_variables(); ++v) {
    model.variables.push_back(graph.variable(v));
    std::string& name = model.variables.back().name;
    if (name.empty()) name = fmt::format("x{}", v);
    if (!names.insert(name).second) {
      throw_argument("describe_tables", fmt::format("two variables have the name '{}'", name));
    }
  }
  for (int m = 0; m < graph.num_factors(); ++m) {
    const Factor& factor = graph.factor(m);
    if (!factor.is_table()) throw_argument("describe_tables", fmt::format("factor {} is a function", m));
    if (factor.is_clause()) {
      model.factors.push_back({.scope = factor.scope(), .clause = factor.literals()});
    } else {
      model.factors.push_back({.scope = factor.scope(), .log_values = factor.log_values()});
    }
  }
  return model;
}

Factor FactorDescription::table(const std::vector<Variable>& variables) const {
  if (clause.empty()) return Factor::table(scope, log_values);
  std::vector<int> num_states;
  for (const int v : scope) num_states.push_back(variables[v].num_states);
  return Factor::clause(scope, clause, std::move(num_states));
}

FactorGraph table_model(const JsonModel& model) {
  FactorGraph graph;
  for (const Variable& variable : model.variables) graph.add_variable(variable);
  for (std::size_t m = 0; m < model.factors.size(); ++m) {
    const FactorDescription& factor = model.factors[m];
    if (!factor.is_table()) {
      throw Error(ErrorCode::kArgument,
                  fmt::format("{}: the factor '{}' is computed by the program '{}', allowed here are only tables",
                              model.source_name, factor.name, model.programs[factor.program].name));
    }
    try {
      graph.add_factor(factor.table(model.variables));
    } catch (const Error& error) {
      throw Error(ErrorCode::kParse, fmt::format("{}: factors[{}]: {}", model.source_name, m, error.what()));
    }
  }
  return graph;
}

FactorGraph parse_json_tables(std::string_view text, std::string_view source_name) {
  return table_model(parse_json_model(text, source_name));
}

}  // namespace treesample
