#include "io/umbridge_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <set>

#include "treesample/error.hpp"
#include "treesample/io/json_text.hpp"

namespace treesample {
namespace {

using nlohmann::json;
using Transform = UmBridgeDescription::Transform;

constexpr double kLargest = 1e300;
constexpr std::pair<const char*, Transform> kTransforms[] = {
    {"none", Transform::kNone}, {"log", Transform::kLog}, {"minus", Transform::kMinus}};

// The numbers of states that have no declaration: their names if all of these are numbers, or 0, 1, ... if they have no
// names. None otherwise.
std::vector<double> own_numbers(const Variable& variable) {
  std::vector<double> numbers;
  for (int i = 0; i < variable.num_states && variable.state_names.empty(); ++i) numbers.push_back(i);
  for (const std::string& name : variable.state_names) {
    double number = 0.0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc() || end != name.data() + name.size() || !(std::abs(number) <= kLargest)) return {};
    numbers.push_back(number);
  }
  return numbers;
}

int variable_index(const std::vector<Variable>& variables, const std::string& name) {
  for (std::size_t v = 0; v < variables.size(); ++v) {
    if (variables[v].name == name) return static_cast<int>(v);
  }
  return -1;
}

std::vector<double> parse_numbers(const JsonField& list, const Variable& variable) {
  if (list.array_size() != variable.num_states) {
    list.fail(fmt::format("{} numbers, the variable '{}' has {} states", list.array_size(), variable.name,
                          variable.num_states));
  }
  std::vector<double> numbers;
  for (int i = 0; i < variable.num_states; ++i) numbers.push_back(list.at(i).number(-kLargest, kLargest));
  return numbers;
}

UmBridgeDescription::Input parse_input(const JsonField& entry, const JsonField& program,
                                       const std::vector<Variable>& variables) {
  if (entry.json().is_number()) return {-1, {entry.number(-kLargest, kLargest)}};
  const std::string name = entry.text();
  const int v = variable_index(variables, name);
  if (v < 0) entry.fail(fmt::format("unknown variable '{}'", name));
  if (program.has("numbers") && program.at("numbers").has(name.c_str())) {
    return {v, parse_numbers(program.at("numbers").at(name), variables[v])};
  }
  UmBridgeDescription::Input input{v, own_numbers(variables[v])};
  if (input.numbers.empty()) {
    entry.fail(
        fmt::format("the states of '{}' are no numbers; declare some: \"numbers\": {{\"{}\": [...]}}", name, name));
  }
  return input;
}

std::string parse_url(const JsonField& field) {
  std::string url = field.text();
  while (url.ends_with('/')) url.pop_back();
  const std::string_view scheme = "http://";
  const bool is_plain = std::none_of(url.begin(), url.end(), [](unsigned char c) { return c <= ' ' || c >= 127; });
  if (!url.starts_with(scheme) || url.size() == scheme.size() || !is_plain || url.find_first_of("?#@") != url.npos) {
    field.fail(fmt::format("allowed is http://HOST[:PORT][/PATH], found '{}'", url));
  }
  return url;
}

json to_json(const UmBridgeDescription& server, const std::vector<Variable>& variables) {
  json inputs = json::array(), numbers = json::object();
  for (const std::vector<UmBridgeDescription::Input>& vector : server.inputs) {
    json& entries = inputs.emplace_back(json::array());
    for (const auto& [variable, values] : vector) {
      if (variable < 0) {
        entries.push_back(values[0]);
      } else {
        entries.push_back(variables[variable].name);
        numbers[variables[variable].name] = values;
      }
    }
  }
  json object = {{"model", server.model},
                 {"output", {server.output_vector, server.output_entry}},
                 {"scale", server.scale},
                 {"config", parse_json(server.config)}};
  if (!inputs.empty()) object["inputs"] = inputs;
  if (!numbers.empty()) object["numbers"] = numbers;
  for (const auto& [word, transform] : kTransforms) {
    if (server.transform == transform) object["transform"] = word;
  }
  return object;
}

}  // namespace

UmBridgeDescription parse_umbridge(const JsonField& program, const std::vector<Variable>& variables) {
  UmBridgeDescription server{.url = parse_url(program.at("umbridge")), .model = program.at("model").text()};
  if (program.has("max_batch")) program.at("max_batch").fail("a UM-Bridge server evaluates one assignment at a time");
  if (program.has("numbers")) {
    const JsonField numbers = program.at("numbers");
    if (!numbers.json().is_object()) numbers.fail("allowed is an object: a list of numbers for each variable");
    for (const auto& [name, list] : numbers.json().items()) {
      const int v = variable_index(variables, name);
      if (v < 0) numbers.at(name).fail(fmt::format("unknown variable '{}'", name));
      parse_numbers(numbers.at(name), variables[v]);
    }
  }
  if (program.has("inputs")) {
    const JsonField inputs = program.at("inputs");
    for (int i = 0; i < inputs.array_size(); ++i) {
      std::vector<UmBridgeDescription::Input>& vector = server.inputs.emplace_back();
      for (int j = 0; j < inputs.at(i).array_size(); ++j) {
        vector.push_back(parse_input(inputs.at(i).at(j), program, variables));
      }
    }
    if (server.inputs.empty()) inputs.fail("there is no input vector");
  } else if (program.has("numbers")) {
    program.at("numbers").fail("numbers need \"inputs\", which say where they go");
  }
  if (program.has("output")) {
    const JsonField output = program.at("output");
    if (output.array_size() != 2) output.fail("allowed are two numbers: which output vector, and which of its entries");
    server.output_vector = output.at(0).integer(0, INT_MAX);
    server.output_entry = output.at(1).integer(0, INT_MAX);
  }
  if (program.has("transform")) {
    const JsonField field = program.at("transform");
    const std::string word = field.text();
    const auto* const found = std::find_if(std::begin(kTransforms), std::end(kTransforms),
                                           [&](const auto& row) { return word == row.first; });
    if (found == std::end(kTransforms)) field.fail(R"(allowed are "none", "log" and "minus")");
    server.transform = found->second;
  }
  if (program.has("scale")) server.scale = program.at("scale").number(-kLargest, kLargest);
  if (program.has("config")) {
    if (!program.at("config").json().is_object()) program.at("config").fail("allowed is an object");
    server.config = json_text(program.at("config").json());
  }
  return server;
}

void refuse_umbridge_fields(const JsonField& program) {
  for (const char* const key : {"model", "inputs", "numbers", "output", "transform", "scale", "config"}) {
    if (program.has(key)) program.at(key).fail("only a program with the field umbridge has this field");
  }
}

void add_umbridge_fields(json& program, const UmBridgeDescription& server, const std::vector<Variable>& variables) {
  program["umbridge"] = server.url;
  program.update(to_json(server, variables));
  program.erase("max_batch");
}

std::string umbridge_text(const UmBridgeDescription& server, const std::vector<Variable>& variables) {
  return json_text(to_json(server, variables));
}

void complete_umbridge(JsonModel& model) {
  for (std::size_t m = 0; m < model.factors.size(); ++m) {
    const FactorDescription& factor = model.factors[m];
    if (factor.is_table() || !model.programs[factor.program].umbridge) continue;
    ProgramDescription& program = model.programs[factor.program];
    const auto fail = [&](const std::string& what) {
      throw Error(ErrorCode::kParse, fmt::format("{}: factors[{}].scope: {}", model.source_name, m, what));
    };
    if (program.umbridge->inputs.empty()) {
      std::vector<UmBridgeDescription::Input>& vector = program.umbridge->inputs.emplace_back();
      for (const int v : factor.scope) {
        vector.push_back({v, own_numbers(model.variables[v])});
        if (vector.back().numbers.empty()) {
          fail(fmt::format("the states of '{}' are no numbers; declare \"inputs\" and \"numbers\" of the program '{}'",
                           model.variables[v].name, program.name));
        }
      }
    }
    std::set<int> used;
    for (const auto& vector : program.umbridge->inputs) {
      for (const auto& input : vector) {
        if (input.variable >= 0) used.insert(input.variable);
      }
    }
    if (used != std::set<int>(factor.scope.begin(), factor.scope.end())) {
      fail(fmt::format("its variables are not those of the inputs of the program '{}'", program.name));
    }
    program.command = {"umbridge", umbridge_text(*program.umbridge, model.variables)};
  }
}

}  // namespace treesample
