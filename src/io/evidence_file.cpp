#include "treesample/io/evidence_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "csv_cases.hpp"
#include "json_fields.hpp"
#include "observed_words.hpp"
#include "small_values.hpp"
#include "source_text.hpp"
#include "treesample/error.hpp"
#include "treesample/io/file.hpp"
#include "treesample/io/uai.hpp"
#include "treesample/parse_number.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

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
  refuse_observation(fmt::format("a quote is not closed in {}", cited(text)));
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
    refuse_observation(
        fmt::format("{} is no observation, allowed are NAME=STATE and NAME~WEIGHT,WEIGHT,...", cited(text)));
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

bool is_uai_form(std::string_view text) {
  return text.find_first_not_of("0123456789 \t\r\n\f\v") == std::string_view::npos;
}

// The state named by the whole text, which may be quoted.
std::string whole_name(std::string_view text) {
  if (!text.starts_with('"')) return std::string(text);
  const Taken state = take_quoted(text, 0);
  if (state.end < text.size()) refuse_observation(fmt::format("{} follows the state", cited(text.substr(state.end))));
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
      known.states.push_back({variable, names.state(variable, whole_name(right))});
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
  if (right.empty()) refuse_observation(fmt::format("the state of variable {} is missing", cited(left.name)));
  known.states.push_back({variable, names.state(variable, whole_name(right))});
}

Observations parse_lines(const SourceText& source, const Names& names) {
  Observations known;
  std::vector<std::size_t> lines;  // of the states
  std::size_t number = 0;
  for (std::size_t begin = 0; begin <= source.text.size();) {
    const std::size_t end = std::min(source.text.find('\n', begin), source.text.size());
    const std::string_view line = trimmed(source.text.substr(begin, end - begin));
    begin = end + 1;
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    at_line(source.name, number, [&] { observe_line(known, names, line); });
    lines.resize(known.states.size(), number);
  }
  keep_one_each(known, names, source.name, lines);
  return known;
}

// Reads a state by name or number, or a list of weights.
void observe_json(Observations& known, const Names& names, int variable, const JsonField& field) {
  const nlohmann::json& value = field.json();
  const FactorGraph& graph = names.graph();
  if (value.is_null()) return;
  if (value.is_string()) {
    known.states.push_back({variable, names.state(variable, value.get<std::string>())});
  } else if (value.is_number_integer()) {
    known.states.push_back({variable, names.state(variable, value.dump())});
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
  try {
    keep_one_each(now.observed, names);
  } catch (const Error& error) {
    field.fail(error.what());
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
  known.states.push_back({variable, state});
  keep_one_each(known, names);
}

void observe(Observations& known, const Names& names, const Observations& more) {
  known.states.insert(known.states.end(), more.states.begin(), more.states.end());
  keep_one_each(known, names);
  known.soft.insert(known.soft.end(), more.soft.begin(), more.soft.end());
}

void observe(Observations& known, const Names& names, std::string_view text) {
  std::size_t at = std::min(text.find_first_not_of(kBlanks), text.size());
  while (true) {
    const Taken left = take_variable(text, at, names);
    if (left.end >= text.size() || (text[left.end] != '=' && text[left.end] != '~')) {
      refuse_observation(fmt::format("'=' or '~' is missing after the name in {}", cited(text)));
    }
    const int variable = names.variable(left.name);
    if (text[left.end] == '=') {
      const Taken right = take_state(text, left.end + 1);
      known.states.push_back({variable, names.state(variable, right.name)});
      at = right.end;
    } else {
      std::vector<double> weights;
      at = take_weights(text, left.end + 1, weights);
      observe_soft(known, names, variable, std::move(weights));
    }
    if (at == text.size()) break;
    if (text[at] != ',') refuse_observation(fmt::format("',' is missing before {}", cited(text.substr(at))));
    at = std::min(text.find_first_not_of(kBlanks, at + 1), text.size());
  }
  keep_one_each(known, names);
}

bool is_observation_text(std::string_view text) { return text.find_first_of("=~") != std::string_view::npos; }

std::vector<Case> parse_cases(std::string_view text, std::string_view source_name, std::string_view extension,
                              const Names& names) {
  if (extension == ".csv") {
    CsvCases reader(text, source_name, names);
    std::vector<Case> cases;
    for (Case now; reader.next(now);) cases.push_back(std::move(now));
    return cases;
  }
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

std::string case_extension(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  for (char& c : extension) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return extension;
}

std::vector<Case> read_cases(const std::filesystem::path& path, const Names& names) {
  return parse_cases(read_file(path), path.string(), case_extension(path), names);
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
