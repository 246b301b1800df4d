#include "cfn.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "cost_tokens.hpp"
#include "treesample/error.hpp"
#include "treesample/io/bif.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr double kMostRead = 1e30, kMostWritten = 1e15;

bool is_open(std::string_view token) { return token == "{" || token == "["; }
bool is_close(std::string_view token) { return token == "}" || token == "]"; }
bool is_number(std::string_view token) {
  return !token.empty() && std::string_view("0123456789-.+").find(token.front()) != std::string_view::npos;
}

class CfnParser {
 public:
  explicit CfnParser(SourceText source)
      : tokens_(source), entries_left_(kBifFreeEntries + static_cast<std::int64_t>(source.text.size())) {
    take();
  }

  FactorGraph parse() {
    open("the beginning of a problem, {");
    skip_word("problem");
    read_problem();
    skip_word("variables");
    open("the list of variables");
    while (!is_close(token_)) read_variable();
    take();
    skip_word("functions");
    open("the list of functions");
    while (!is_close(token_)) read_function();
    take();
    close("the end of the problem, }");
    if (!token_.empty()) tokens_.fail(token_, "nothing after the problem");
    share_costs();
    return graph_of_costs();
  }

 private:
  struct Function {
    std::string name;
    std::vector<int> scope;
    std::vector<double> costs;
    std::string_view shared = {};  // the name of the function that has them, as it stands in the text
  };

  void take() { token_ = tokens_.next_item(); }
  std::string_view taken() { return std::exchange(token_, tokens_.next_item()); }
  void open(std::string_view what) {
    if (!is_open(token_)) tokens_.fail(token_, what);
    take();
  }
  void close(std::string_view what) {
    if (!is_close(token_)) tokens_.fail(token_, what);
    take();
  }
  bool skip_word(std::string_view word) {
    if (token_ != word) return false;
    take();
    return true;
  }
  // A word that is no bracket and not the end.
  std::string_view word(std::string_view what) {
    if (token_.empty() || is_open(token_) || is_close(token_)) tokens_.fail(token_, what);
    return taken();
  }

  [[nodiscard]] double cost(std::string_view token, std::string_view what) const {
    const double value = tokens_.number(token, what);
    if (std::abs(value) > kMostRead) tokens_.fail(token, fmt::format("{} of at most {:g}", what, kMostRead));
    return is_maximised_ ? 0.0 - value : value;
  }

  void read_problem() {
    open("name and bound of the problem, {");
    skip_word("name");
    word("the name of the problem");
    skip_word("mustbe");
    const std::string_view bound = word("a bound that begins with < or >");
    if (bound.front() != '<' && bound.front() != '>') tokens_.fail(bound, "a bound that begins with < or >");
    is_maximised_ = bound.front() == '>';
    const double number = tokens_.number(bound.substr(1), "a number after < or >");
    top_ = is_maximised_ ? 0.0 - number : number;
    close("the end of name and bound, }");
  }

  void read_variable() {
    Variable variable;
    const bool is_named = !is_open(token_) && !is_number(token_);
    variable.name = is_named ? std::string(word("the name of a variable")) : fmt::format("x{}", graph_.num_variables());
    if (!variables_.emplace(variable.name, graph_.num_variables()).second)
      tokens_.fail(token_,
                   fmt::format("variables of different names (two are called '{}') before this", variable.name));
    if (is_open(token_)) {
      take();
      while (!is_close(token_)) variable.state_names.emplace_back(word("the name of a state"));
      variable.num_states = static_cast<int>(variable.state_names.size());
      if (variable.num_states == 0) tokens_.fail(token_, "the name of a state");
      take();
    } else {
      const std::string_view count = word("the number of states, or a list of their names,");
      const std::int64_t states = tokens_.integer(count, "a number of states", -FactorGraph::kMaxStates,  //
                                                  FactorGraph::kMaxStates);
      if (states == 0) tokens_.fail(count, "a number of states other than 0");
      variable.num_states = static_cast<int>(std::abs(states));  // negative: an interval
    }
    check_names(variable);
    graph_.add_variable(std::move(variable));
  }

  void check_names(const Variable& variable) {
    states_.emplace_back();
    for (std::size_t s = 0; s < variable.state_names.size(); ++s) {
      if (states_.back().emplace(variable.state_names[s], static_cast<int>(s)).second) continue;
      tokens_.fail(token_, fmt::format("states of different names (two of '{}' are called '{}') before this",
                                       variable.name, variable.state_names[s]));
    }
  }

  int read_place() {
    const std::string_view name = word("a variable");
    if (const auto found = variables_.find(std::string(name)); found != variables_.end()) return found->second;
    if (!is_number(name)) tokens_.fail(name, "the name of a variable");
    return static_cast<int>(tokens_.integer(name, "a variable", 0, graph_.num_variables() - 1));
  }

  int read_state(int v) {
    const std::string_view name = word("a state");
    if (const auto found = states_[v].find(std::string(name)); found != states_[v].end()) return found->second;
    if (!is_number(name)) tokens_.fail(name, fmt::format("a state of '{}'", graph_.variable(v).name));
    return static_cast<int>(tokens_.integer(name, "a state", 0, graph_.num_states(v) - 1));
  }

  void read_function() {
    Function function;
    const std::string_view name = token_;
    if (!is_open(token_)) function.name = word("the name of a function");
    open("the beginning of a function, {");
    skip_word("scope");
    const std::int64_t num_entries = read_scope(function.scope);
    entries_left_ -= num_entries;
    if (token_ == "type")
      tokens_.fail(token_, "defaultcost or costs (constraints that are given by a name are not read)");
    const auto entries = static_cast<std::size_t>(num_entries);
    if (skip_word("defaultcost") || is_number(token_)) {
      function.costs.assign(entries, cost(word("a cost"), "a cost"));
      skip_word("costs");
      read_tuples(function);
    } else if (skip_word("costs"); is_open(token_)) {
      take();
      while (!is_close(token_)) {
        if (function.costs.size() == entries) tokens_.fail(token_, fmt::format("{} costs", entries));
        function.costs.push_back(cost(word("a cost"), "a cost"));
      }
      if (function.costs.size() != entries) tokens_.fail(token_, fmt::format("{} costs", entries));
      take();
    } else {
      function.shared = word("a list of costs, or the name of a function");
    }
    close("the end of the function, }");
    if (!function.name.empty() && !functions_of_.emplace(function.name, costs_.size()).second)
      tokens_.fail(name, "a name that no other function has");
    costs_.push_back(std::move(function));
  }

  // The number of entries.
  std::int64_t read_scope(std::vector<int>& scope) {
    open("a list of variables");
    std::int64_t entries = 1;
    while (!is_close(token_)) {
      const std::string_view name = token_;
      const int v = read_place();
      if (std::find(scope.begin(), scope.end(), v) != scope.end())
        tokens_.fail(name, "a variable that is not in this function already");
      scope.push_back(v);
      entries *= graph_.num_states(v);
      const std::int64_t allowed = std::min(entries_left_, FactorGraph::kMaxTableEntries);
      if (entries > allowed) {
        tokens_.fail(name,
                     fmt::format("a table of at most the {} entries that are left in a file of this size", allowed));
      }
    }
    take();
    return entries;
  }

  void read_tuples(Function& function) {
    open("a list of tuples with their costs");
    while (!is_close(token_)) {
      std::size_t at = 0;
      for (const int v : function.scope)
        at = at * static_cast<std::size_t>(graph_.num_states(v)) + static_cast<std::size_t>(read_state(v));
      function.costs[at] = cost(word("a cost"), "a cost");
    }
    take();
  }

  // A function that is named may stand before or after the one that names it, and must have costs of its own.
  void share_costs() {
    for (Function& function : costs_) {
      if (function.shared.empty()) continue;
      const auto found = functions_of_.find(std::string(function.shared));
      if (found == functions_of_.end() || !costs_[found->second].shared.empty())
        tokens_.fail(function.shared, "the name of a function that has costs of its own");
      const Function& other = costs_[found->second];
      const bool is_alike =
          std::equal(function.scope.begin(), function.scope.end(), other.scope.begin(), other.scope.end(),
                     [&](int v, int u) { return graph_.num_states(v) == graph_.num_states(u); });
      if (!is_alike) tokens_.fail(function.shared, "a function whose variables have as many states");
      function.costs = other.costs;
    }
  }

  FactorGraph graph_of_costs() {
    double sum = 0.0;  // of what functions can make up for at most
    for (const Function& function : costs_) sum += least(function);
    for (Function& function : costs_) {
      const double others = sum - least(function);
      for (double& value : function.costs) value = value + others >= top_ ? kNegInf : 0.0 - value;
      graph_.add_table(std::move(function.scope), std::move(function.costs));
    }
    return std::move(graph_);
  }

  static double least(const Function& function) {
    return std::min(0.0, *std::min_element(function.costs.begin(), function.costs.end()));
  }

  CostTokens tokens_;
  std::string_view token_;  // the next one
  std::int64_t entries_left_;
  bool is_maximised_ = false;
  double top_ = 0.0;
  FactorGraph graph_;
  std::map<std::string, int> variables_;
  std::vector<std::map<std::string, int>> states_;
  std::vector<Function> costs_;
  std::map<std::string, std::size_t> functions_of_;
};

// What stands for itself without quotes, in every program that reads the format.
bool is_plain(const std::string& name) {
  constexpr std::string_view kNotFirst = "0123456789-.+<>", kNowhere = "/#[]{},:\"'\\";
  return !name.empty() && kNotFirst.find(name.front()) == std::string_view::npos &&
         std::all_of(name.begin(), name.end(), [&](unsigned char c) {
           return c > ' ' && c != 127 && kNowhere.find(static_cast<char>(c)) == std::string_view::npos;
         });
}

bool are_plain(const std::vector<std::string>& names) {
  const std::set<std::string> different(names.begin(), names.end());
  return different.size() == names.size() && std::all_of(names.begin(), names.end(), is_plain);
}

// What the bounds of a model are in its file.
struct Bounds {
  double top = 1.0, forbidden = 1.0;
  int decimals = 0;  // that toulbar2 has in 64 bits; it reads none of a number that has more

  [[nodiscard]] std::string text(double value) const {
    std::string digits = fmt::format("{:.{}f}", value, decimals);
    if (decimals > 0) digits.erase(std::max(digits.find_last_not_of('0') + 1, digits.find('.') + 2));
    return digits == "-0.0" ? "0.0" : digits;
  }
};

Bounds bounds_of(const FactorGraph& graph) {
  Bounds bounds;
  double least = 0.0;
  bool is_whole = true;
  for (const Factor& factor : graph.factors()) {
    double low = 0.0, high = 0.0;
    for (const double value : factor.log_values()) {
      if (value == kNegInf) continue;
      if (std::abs(value) > kMostWritten) {
        throw Error(ErrorCode::kArgument,
                    fmt::format("costs of a .cfn file are at most {:g}, and a log-value is {}", kMostWritten, value));
      }
      low = std::min(low, -value);
      high = std::max(high, -value);
      is_whole = is_whole && value == std::floor(value);
    }
    bounds.top += high;
    least += low;
  }
  bounds.top = std::ceil(bounds.top * (1.0 + 1e-12));
  bounds.forbidden = std::ceil((bounds.top - least) * (1.0 + 1e-12));
  constexpr double kMostUnits = 1e17, kMostDecimals = 17.0;
  const double decimals = std::floor(std::log10(kMostUnits / bounds.forbidden));
  if (!is_whole) bounds.decimals = static_cast<int>(std::clamp(decimals, 0.0, kMostDecimals));
  return bounds;
}

// toulbar2 1.1.1 adds the least cost twice where all costs of four variables and more are listed, so that these are
// tuples.
std::string costs_text(const FactorGraph& graph, const Factor& factor, const Bounds& bounds) {
  constexpr std::size_t kFewestOfTuples = 4;
  const bool has_tuples = factor.scope().size() >= kFewestOfTuples;
  std::vector<std::string> words;
  for (std::size_t i = 0; i < factor.log_values().size(); ++i) {
    const double value = factor.log_values()[i];
    std::string cost = bounds.text(value == kNegInf ? bounds.forbidden : 0.0 - value);
    if (has_tuples && value == 0.0) continue;
    std::size_t left = has_tuples ? i : 0;
    for (std::size_t j = has_tuples ? factor.scope().size() : 0; j-- > 0;) {
      const auto count = static_cast<std::size_t>(graph.num_states(factor.scope()[j]));
      cost.insert(0, fmt::format("{}, ", left % count));
      left /= count;
    }
    words.push_back(std::move(cost));
  }
  return fmt::format("{}\"costs\": [{}]", has_tuples ? "\"defaultcost\": 0, " : "", fmt::join(words, ", "));
}

std::string variables_text(const FactorGraph& graph, const std::vector<std::string>& names) {
  std::string text;
  for (int v = 0; v < graph.num_variables(); ++v) {
    const std::vector<std::string>& states = graph.variable(v).state_names;
    text += v == 0 ? "\n" : ",\n";
    text += are_plain(states) && !states.empty()
                ? fmt::format(R"(  "{}": ["{}"])", names[v], fmt::join(states, R"(", ")"))
                : fmt::format(R"(  "{}": {})", names[v], graph.num_states(v));
  }
  return text;
}

}  // namespace

std::string format_cfn(const FactorGraph& graph) {
  if (!graph.has_only_tables())
    throw Error(ErrorCode::kArgument, "only models of tables can be written as .cfn: this one has functions");
  std::vector<std::string> names;
  for (int v = 0; v < graph.num_variables(); ++v) names.push_back(graph.variable(v).name);
  if (!are_plain(names)) {
    for (std::size_t v = 0; v < names.size(); ++v) names[v] = fmt::format("x{}", v);
  }
  const Bounds bounds = bounds_of(graph);
  std::string functions;
  for (int m = 0; m < graph.num_factors(); ++m) {
    const Factor& factor = graph.factor(m);
    std::vector<std::string> scope;
    for (const int v : factor.scope()) scope.push_back(fmt::format("\"{}\"", names[v]));
    functions += fmt::format(R"({}  "f{}": {{"scope": [{}], {}}})", m == 0 ? "\n" : ",\n", m, fmt::join(scope, ", "),
                             costs_text(graph, factor, bounds));
  }
  return fmt::format(
      "{{\"problem\": {{\"name\": \"model\", \"mustbe\": \"<{:.{}f}\"}},\n"
      "\"variables\": {{{}}},\n\"functions\": {{{}}}}}\n",
      bounds.top, bounds.decimals, variables_text(graph, names), functions);
}

FactorGraph parse_cfn(std::string_view text, std::string_view source_name) {
  return CfnParser(source_text(text, source_name)).parse();
}

}  // namespace treesample
