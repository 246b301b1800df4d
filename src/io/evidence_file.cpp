#include "treesample/io/evidence_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "json_fields.hpp"
#include "small_values.hpp"
#include "source_text.hpp"
#include "treesample/error.hpp"
#include "treesample/io/csv.hpp"
#include "treesample/io/file.hpp"
#include "treesample/io/uai.hpp"
#include "treesample/parse_number.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

constexpr std::string_view kBlanks = " \t\r\f\v";
constexpr const char* kCaseColumn = "case";

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorCode::kArgument, message); }

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// A piece of text in the form in which messages show it.
std::string cited(std::string_view text) { return fmt::format("'{}'", shortened(text, 60)); }

void observe_soft(Observations& known, const Names& names, int variable, std::vector<double> weights) {
  const std::string problem = weights_problem(weights, names.graph().num_states(variable));
  if (!problem.empty()) {
    refuse(fmt::format("variable {}: {}", cited(variable_name(names.graph(), variable)), problem));
  }
  known.soft.push_back({variable, std::move(weights)});
}

double weight_of(std::string_view text) {
  const std::optional<double> weight = parse_real(trimmed(text));
  if (!weight) refuse(fmt::format("{} is no weight, allowed are {}", cited(text), kAllowedWeights));
  return *weight;
}

// ---- NAME=STATE and NAME~WEIGHTS -----------------------------------------------------------------------------------

// A name at the beginning of a text, and where it ends.
struct Taken {
  std::string name;
  std::size_t end = 0;
};

Taken take_quoted(std::string_view text, std::size_t at) {
  Taken taken;
  for (++at; at < text.size(); ++at) {
    if (text[at] != '"') {
      taken.name += text[at];
    } else if (at + 1 < text.size() && text[at + 1] == '"') {
      taken.name += text[at++];
    } else {
      taken.end = std::min(text.find_first_not_of(kBlanks, at + 1), text.size());
      return taken;
    }
  }
  refuse(fmt::format("a quote is not closed in {}", cited(text)));
}

// The variable on the left of = or ~. A name may itself contain such a mark. So the first mark after a known variable
// counts or, if there is none, the first mark.
Taken take_variable(std::string_view text, std::size_t begin, const Names& names) {
  if (begin < text.size() && text[begin] == '"') return take_quoted(text, begin);
  const std::size_t stop = std::min(text.find(',', begin), text.size());
  std::optional<Taken> first;
  for (std::size_t at = text.find_first_of("=~", begin); at < stop; at = text.find_first_of("=~", at + 1)) {
    Taken taken{std::string(trimmed(text.substr(begin, at - begin))), at};
    if (names.find_variable(taken.name) >= 0) return taken;
    if (!first) first = std::move(taken);
  }
  if (!first)
    refuse(fmt::format("{} is no observation, allowed are NAME=STATE and NAME~WEIGHT,WEIGHT,...", cited(text)));
  return *first;
}

Taken take_state(std::string_view text, std::size_t begin) {
  begin = std::min(text.find_first_not_of(kBlanks, begin), text.size());
  if (begin < text.size() && text[begin] == '"') return take_quoted(text, begin);
  const std::size_t end = std::min(text.find(',', begin), text.size());
  return {std::string(trimmed(text.substr(begin, end - begin))), end};
}

// Reads weights as long as a comma is followed by a number.
std::size_t take_weights(std::string_view text, std::size_t at, std::vector<double>& weights) {
  while (true) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string_view piece = text.substr(at, end - at);
    if (!weights.empty() && !parse_real(trimmed(piece))) return at - 1;
    weights.push_back(weight_of(piece));
    if (end == text.size()) return end;
    at = end + 1;
  }
}

// ---- Files ---------------------------------------------------------------------------------------------------------

// Runs `work` and adds the line to its errors.
template <class Work>
auto at_line(std::string_view source_name, std::size_t line, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kArgument) throw;
    throw Error(ErrorCode::kParse, fmt::format("{}:{}: {}", source_name, line, error.what()));
  }
}

bool is_uai_form(std::string_view text) {
  return text.find_first_not_of("0123456789 \t\r\n\f\v") == std::string_view::npos;
}

// The state named by the whole text, which may be quoted.
std::string whole_name(std::string_view text) {
  if (!text.starts_with('"')) return std::string(text);
  const Taken state = take_quoted(text, 0);
  if (state.end < text.size()) refuse(fmt::format("{} follows the state", cited(text.substr(state.end))));
  return state.name;
}

// `NAME STATE`, `NAME = STATE` or `NAME ~ WEIGHTS`.
void observe_line(Observations& known, const Names& names, std::string_view line) {
  const bool is_quoted = line.front() == '"';
  std::size_t mark = line.find_first_of("=~");
  if (is_quoted) {
    const std::size_t end = take_quoted(line, 0).end;
    mark = end < line.size() && (line[end] == '=' || line[end] == '~') ? end : std::string_view::npos;
  }
  if (mark != std::string_view::npos) {
    const Taken left = take_variable(line, 0, names);
    if (left.end < line.size() && line[left.end] == '=') {
      const std::string_view right = trimmed(line.substr(left.end + 1));
      const int variable = names.variable(left.name);
      observe(known, names, variable, names.state(variable, whole_name(right)));
      return;
    }
    std::vector<double> weights;
    std::string_view rest = trimmed(line.substr(left.end + 1));
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find_first_of(", \t"), rest.size());
      if (end > 0) weights.push_back(weight_of(rest.substr(0, end)));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    observe_soft(known, names, names.variable(left.name), std::move(weights));
    return;
  }
  // The name ends at the first blank for which the text before it is a variable; so names with blanks need no quotes
  // here.
  Taken left;
  if (is_quoted) {
    left = take_quoted(line, 0);
  } else {
    for (std::size_t at = line.find_first_of(kBlanks); at != std::string_view::npos && left.name.empty();
         at = line.find_first_of(kBlanks, at + 1)) {
      if (names.find_variable(trimmed(line.substr(0, at))) >= 0) left = {std::string(trimmed(line.substr(0, at))), at};
    }
    if (left.name.empty())
      left = {std::string(line.substr(0, line.find_first_of(kBlanks))), line.find_first_of(kBlanks)};
  }
  const int variable = names.variable(left.name);
  const std::string_view right = left.end < line.size() ? trimmed(line.substr(left.end)) : std::string_view();
  if (right.empty()) refuse(fmt::format("the state of variable {} is missing", cited(left.name)));
  observe(known, names, variable, names.state(variable, whole_name(right)));
}

Observations parse_lines(const SourceText& source, const Names& names) {
  Observations known;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin <= source.text.size();) {
    const std::size_t end = std::min(source.text.find('\n', begin), source.text.size());
    const std::string_view line = trimmed(source.text.substr(begin, end - begin));
    begin = end + 1;
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    at_line(source.name, number, [&] { observe_line(known, names, line); });
  }
  return known;
}

void observe_field(Observations& known, const Names& names, int variable, std::string_view text) {
  const bool is_state = names.find_state(variable, text) >= 0;
  if (!is_state && (text.empty() || text == "?" || text == "NA")) return;
  if (is_state || !text.starts_with('~')) {
    observe(known, names, variable, names.state(variable, text));
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

std::vector<Case> parse_csv_cases(std::string_view text, std::string_view source_name, const Names& names) {
  const std::vector<CsvRow> rows = parse_csv(text, source_name);
  if (rows.empty()) throw Error(ErrorCode::kParse, fmt::format("{}: there is no line with names", source_name));
  constexpr int kLabel = -2;
  std::vector<int> columns;
  for (const std::string& field : rows.front().fields) {
    const std::string name(trimmed(field));
    at_line(source_name, rows.front().line, [&] {
      const bool is_label = name == kCaseColumn && names.find_variable(name) < 0;
      try {
        columns.push_back(is_label ? kLabel : names.variable(name));
      } catch (const Error& error) {
        const std::string message = error.what();
        if (message.ends_with('?')) throw;  // the message already suggests a variable
        throw Error(error.code(), fmt::format("{} (a column of labels is called '{}')", message, kCaseColumn));
      }
    });
    if (std::find(columns.begin(), columns.end() - 1, columns.back()) == columns.end() - 1) continue;
    throw Error(ErrorCode::kParse,
                fmt::format("{}:{}: two columns are called {}", source_name, rows.front().line, cited(name)));
  }
  std::vector<Case> cases;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const CsvRow& row = rows[i];
    if (row.fields.size() != columns.size()) {
      throw Error(ErrorCode::kParse, fmt::format("{}:{}: {}, the first line has {}", source_name, row.line,
                                                 counted(std::ssize(row.fields), "field"), columns.size()));
    }
    Case& now = cases.emplace_back(Case{fmt::format("{}", i), {}});
    at_line(source_name, row.line, [&] {
      for (std::size_t c = 0; c < columns.size(); ++c) {
        if (columns[c] == kLabel) now.label = row.fields[c];
        if (columns[c] != kLabel) observe_field(now.observed, names, columns[c], trimmed(row.fields[c]));
      }
    });
  }
  return cases;
}

// Reads a state by name or number, or a list of weights.
void observe_json(Observations& known, const Names& names, int variable, const JsonField& field) {
  const nlohmann::json& value = field.json();
  const FactorGraph& graph = names.graph();
  if (value.is_null()) return;
  if (value.is_string()) {
    observe(known, names, variable, names.state(variable, value.get<std::string>()));
  } else if (value.is_number_integer()) {
    observe(known, names, variable, names.state(variable, value.dump()));
  } else if (value.is_array()) {
    std::vector<double> weights;
    for (int i = 0; i < field.array_size(); ++i) weights.push_back(field.at(i).number(0.0, 1e300));
    observe_soft(known, names, variable, std::move(weights));
  } else if (value.is_object()) {
    std::vector<double> weights(static_cast<std::size_t>(graph.num_states(variable)), 0.0);
    for (const auto& [name, weight] : value.items()) {
      weights[names.state(variable, name)] = field.at(name).number(0.0, 1e300);
    }
    observe_soft(known, names, variable, std::move(weights));
  } else {
    field.fail(
        fmt::format("allowed is a state, a list of weights or an object of them, found {}", cited(value.dump())));
  }
}

Case parse_json_case(const JsonField& field, std::size_t number, const Names& names) {
  Case now{fmt::format("{}", number), {}};
  if (!field.json().is_object()) field.fail("allowed is an object with a field for each observed variable");
  for (const auto& [name, value] : field.json().items()) {
    const JsonField entry = field.at(name);
    if (name == kCaseColumn && names.find_variable(name) < 0) {
      now.label = value.is_string() ? value.get<std::string>() : value.dump();
      continue;
    }
    try {
      observe_json(now.observed, names, names.variable(name), entry);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kArgument) throw;
      entry.fail(error.what());
    }
  }
  return now;
}

std::vector<Case> parse_json_cases(std::string_view text, std::string_view source_name, const Names& names) {
  const SourceText source = source_text(text, source_name);
  const nlohmann::json parsed = parse_json_text(source.text, source_name);
  check_small_weights(parsed, source.text, source_name);
  const JsonField root(parsed, source_name);
  if (!parsed.is_array()) return {parse_json_case(root, 1, names)};
  std::vector<Case> cases;
  for (int i = 0; i < root.array_size(); ++i) {
    cases.push_back(parse_json_case(root.at(i), static_cast<std::size_t>(i) + 1, names));
  }
  return cases;
}

}  // namespace

void observe(Observations& known, const Names& names, int variable, int state) {
  for (const auto& [other, other_state] : known.states) {
    if (other != variable) continue;
    if (other_state == state) return;
    const FactorGraph& graph = names.graph();
    refuse(fmt::format("variable {} is observed in state {} and in state {}", cited(variable_name(graph, variable)),
                       cited(state_name(graph, variable, other_state)), cited(state_name(graph, variable, state))));
  }
  known.states.push_back({variable, state});
}

void observe(Observations& known, const Names& names, const Observations& more) {
  for (const auto& [variable, state] : more.states) observe(known, names, variable, state);
  known.soft.insert(known.soft.end(), more.soft.begin(), more.soft.end());
}

void observe(Observations& known, const Names& names, std::string_view text) {
  std::size_t at = std::min(text.find_first_not_of(kBlanks), text.size());
  while (true) {
    const Taken left = take_variable(text, at, names);
    if (left.end >= text.size() || (text[left.end] != '=' && text[left.end] != '~')) {
      refuse(fmt::format("'=' or '~' is missing after the name in {}", cited(text)));
    }
    const int variable = names.variable(left.name);
    if (text[left.end] == '=') {
      const Taken right = take_state(text, left.end + 1);
      observe(known, names, variable, names.state(variable, right.name));
      at = right.end;
    } else {
      std::vector<double> weights;
      at = take_weights(text, left.end + 1, weights);
      observe_soft(known, names, variable, std::move(weights));
    }
    if (at == text.size()) return;
    if (text[at] != ',') refuse(fmt::format("',' is missing before {}", cited(text.substr(at))));
    at = std::min(text.find_first_not_of(kBlanks, at + 1), text.size());
  }
}

bool is_observation_text(std::string_view text) { return text.find_first_of("=~") != std::string_view::npos; }

std::vector<Case> parse_cases(std::string_view text, std::string_view source_name, std::string_view extension,
                              const Names& names) {
  if (extension == ".csv") return parse_csv_cases(text, source_name, names);
  if (extension == ".json") return parse_json_cases(text, source_name, names);
  std::string storage;
  const SourceText source = source_text(utf8_text(text, storage), source_name);
  Case one{"1", {}};
  if (is_uai_form(source.text)) {
    one.observed.states = parse_uai_evidence(text, source_name, names.graph());
  } else {
    one.observed = parse_lines(source, names);
  }
  return {std::move(one)};
}

std::vector<Case> read_cases(const std::filesystem::path& path, const Names& names) {
  std::string extension = path.extension().string();
  for (char& c : extension) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return parse_cases(read_file(path), path.string(), extension, names);
}

Observations read_evidence(const std::filesystem::path& path, const Names& names) {
  std::vector<Case> cases = read_cases(path, names);
  if (cases.size() > 1) {
    throw Error(ErrorCode::kParse, fmt::format("{}: {} cases, allowed here is one", path.string(), cases.size()));
  }
  return cases.empty() ? Observations() : std::move(cases.front().observed);
}

std::string observations_text(const FactorGraph& graph, const Observations& observed) {
  const auto quoted_part = [](const std::string& name) {
    const bool is_marked = name.find_first_of("=~") != std::string::npos;
    const std::string quoted = quoted_name(name);
    return is_marked && quoted == name ? '"' + name + '"' : quoted;
  };
  std::string text;
  for (const auto& [variable, state] : observed.states) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", quoted_part(variable_name(graph, variable)),
                        quoted_part(state_name(graph, variable, state)));
  }
  for (const SoftObservation& seen : observed.soft) {
    text += fmt::format("{}{}~{}", text.empty() ? "" : ", ", quoted_part(variable_name(graph, seen.variable)),
                        fmt::join(seen.weights, ","));
  }
  return text;
}

}  // namespace treesample
