#include "treesample/model/names.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "treesample/error.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

constexpr std::size_t kShownName = 60;
constexpr int kMostStatesShown = 12;
constexpr std::string_view kBlanks = " \t\r\n";

// The number, if the whole text is one. None for +1, 01 and the like, because each name has one spelling.
std::optional<int> index_of(std::string_view text) {
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end || text.starts_with('-')) return {};
  if (text.size() > 1 && text.starts_with('0')) return {};
  return number;
}

std::string shown(std::string_view name) { return fmt::format("'{}'", shortened(name, kShownName)); }

void require(bool condition, const std::string& message) {
  if (!condition) throw Error(ErrorCode::kArgument, message);
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace

std::string variable_name(const FactorGraph& graph, int variable) {
  const std::string& name = graph.variable(variable).name;
  return name.empty() ? fmt::format(FMT_COMPILE("x{}"), variable) : name;
}

std::string state_name(const FactorGraph& graph, int variable, int state) {
  const std::vector<std::string>& names = graph.variable(variable).state_names;
  return names.empty() ? fmt::format(FMT_COMPILE("{}"), state) : names[state];
}

Names::Names(const FactorGraph& graph) : graph_(&graph) {
  for (int v = 0; v < graph.num_variables(); ++v) {
    const std::string& name = graph.variable(v).name;
    if (name.empty()) continue;
    const auto [known, is_new] = variables_.emplace(name, v);
    if (!is_new) known->second = -1;
  }
}

int Names::find_variable(std::string_view name) const {
  if (const auto known = variables_.find(std::string(name)); known != variables_.end()) {
    require(known->second >= 0, fmt::format("several variables are called {}", shown(name)));
    return known->second;
  }
  if (!name.starts_with('x')) return -1;
  const std::optional<int> index = index_of(name.substr(1));
  const bool is_unnamed = index && *index < graph_->num_variables() && graph_->variable(*index).name.empty();
  return is_unnamed ? *index : -1;
}

int Names::find_state(int variable, std::string_view name) const {
  const Variable& known = graph_->variable(variable);
  const auto found = std::find(known.state_names.begin(), known.state_names.end(), name);
  if (found != known.state_names.end()) return static_cast<int>(found - known.state_names.begin());
  if (!known.state_names.empty()) return -1;
  const std::optional<int> state = index_of(name);
  return state && *state < known.num_states ? *state : -1;
}

int Names::variable(std::string_view name) const {
  const int found = find_variable(name);
  if (found >= 0) return found;
  std::vector<std::string> all;
  for (int v = 0; v < graph_->num_variables(); ++v) all.push_back(variable_name(*graph_, v));
  std::string allowed;
  if (variables_.empty() && !all.empty()) {
    allowed = fmt::format(": the model has no names, and its variables are called {} to {}", all.front(), all.back());
  }
  throw Error(ErrorCode::kArgument,
              fmt::format("there is no variable {}{}{}", shown(name), allowed, did_you_mean(name, all)));
}

int Names::state(int variable, std::string_view name) const {
  const int found = find_state(variable, name);
  if (found >= 0) return found;
  const Variable& known = graph_->variable(variable);
  std::string allowed;
  for (int s = 0; s < std::min(known.num_states, kMostStatesShown); ++s) {
    allowed += fmt::format("{}{}", s == 0 ? "" : ", ", shortened(state_name(*graph_, variable, s), kShownName));
  }
  if (known.num_states > kMostStatesShown) allowed += ", ...";
  throw Error(ErrorCode::kArgument,
              fmt::format("variable {} has no state {}, allowed are {}{}", shown(variable_name(*graph_, variable)),
                          shown(name), allowed, did_you_mean(name, known.state_names)));
}

std::vector<std::string> split_names(std::string_view text) {
  std::vector<std::string> names;
  std::size_t at = 0;
  do {
    at = std::min(text.find_first_not_of(kBlanks, at), text.size());
    std::string name;
    const bool is_quoted = at < text.size() && text[at] == '"';
    if (is_quoted) {
      for (++at;; ++at) {
        require(at < text.size(), fmt::format("a quote is not closed in {}", shown(text)));
        if (text[at] != '"') {
          name += text[at];
        } else if (at + 1 < text.size() && text[at + 1] == '"') {
          name += text[at++];
        } else {
          break;
        }
      }
      at = std::min(text.find_first_not_of(kBlanks, at + 1), text.size());
      require(at == text.size() || text[at] == ',',
              fmt::format("a comma is missing after a quoted name in {}", shown(text)));
    } else {
      const std::size_t end = std::min(text.find(',', at), text.size());
      name = trimmed(text.substr(at, end - at));
      at = end;
    }
    require(!name.empty(), fmt::format("a name is empty in {}", shown(text)));
    names.push_back(std::move(name));
  } while (at++ < text.size());
  return names;
}

std::string quoted_name(std::string_view name) {
  const bool is_plain =
      !name.empty() && name.find_first_of(",\"\r\n") == std::string_view::npos && trimmed(name) == name;
  if (is_plain) return std::string(name);
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + '"';
}

std::string joined_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + quoted_name(name);
  return text;
}

}  // namespace treesample
