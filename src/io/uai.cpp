#include "treesample/io/uai.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "decimal_log.hpp"
#include "source_text.hpp"
#include "treesample/error.hpp"
#include "treesample/io/file.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr int kMaxCount = std::numeric_limits<int>::max();

// The whole token as an integer.
std::optional<std::int64_t> to_integer(std::string_view token) {
  std::int64_t value = 0;
  const char* const end = token.data() + token.size();
  const auto result = std::from_chars(token.data(), end, value);
  if (result.ec != std::errc{} || result.ptr != end) return {};
  return value;
}

class UaiTokens {
 public:
  explicit UaiTokens(SourceText source) : source_(source) {}

  // The next token; empty at the end.
  std::string_view next() {
    const std::string_view text = source_.text;
    while (position_ < text.size() && is_space(text[position_])) ++position_;
    const std::size_t begin = position_;
    while (position_ < text.size() && !is_space(text[position_])) ++position_;
    return text.substr(begin, position_ - begin);
  }

  int next_integer(std::string_view what, int low, int high) { return integer(next(), what, low, high); }

  // The token as an integer in low..high.
  [[nodiscard]] int integer(std::string_view token, std::string_view what, int low, int high) const {
    const std::optional<std::int64_t> value = to_integer(token);
    if (!value || *value < low || *value > high) fail(token, fmt::format("{} from {} to {}", what, low, high));
    return static_cast<int>(*value);
  }

  void end() {
    if (const std::string_view token = next(); !token.empty()) fail(token, "nothing after the last table");
  }

  // An upper bound for the number of further tokens. It limits what may be allocated in advance.
  [[nodiscard]] std::size_t max_left() const { return (source_.text.size() - position_ + 1) / 2; }

  [[noreturn]] void fail(std::string_view token, std::string_view expected) const {
    fail_with(token, fmt::format("expected {}, found {}", expected, quoted(source_, token)));
  }
  [[noreturn]] void fail_with(std::string_view token, std::string_view message) const {
    throw_parse_error(source_, static_cast<std::size_t>(token.data() - source_.text.data()), message);
  }

 private:
  static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

  SourceText source_;
  std::size_t position_ = 0;
};

// True for BAYES.
bool read_network_type(UaiTokens& tokens) {
  const std::string_view token = tokens.next();
  std::string upper(token.substr(0, 7));
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  if (upper != "MARKOV" && upper != "BAYES") tokens.fail(token, "MARKOV or BAYES");
  return upper == "BAYES";
}

struct Scope {
  std::vector<int> variables;
  std::int64_t num_entries = 1;
};

std::vector<Scope> read_scopes(UaiTokens& tokens, const FactorGraph& graph) {
  const int num_factors = tokens.next_integer("a number of factors", 0, kMaxCount);
  std::vector<Scope> scopes;
  std::vector<int> last_factor(static_cast<std::size_t>(graph.num_variables()), -1);  // by variable: the last one
  for (int m = 0; m < num_factors; ++m) {
    const int arity = tokens.next_integer("the number of variables of a factor", 0, graph.num_variables());
    Scope& scope = scopes.emplace_back();
    scope.variables.reserve(std::min(static_cast<std::size_t>(arity), tokens.max_left()));
    for (int i = 0; i < arity; ++i) {
      const std::string_view token = tokens.next();
      const int v = tokens.integer(token, "a variable", 0, graph.num_variables() - 1);
      if (std::exchange(last_factor[v], m) == m) {
        tokens.fail_with(token, fmt::format("variable {} is twice in the scope of factor {}", v, m));
      }
      scope.variables.push_back(v);
      scope.num_entries *= graph.num_states(v);
      if (scope.num_entries > FactorGraph::kMaxTableEntries) {
        tokens.fail_with(token, fmt::format("the table of factor {} has more than the allowed {} entries", m,
                                            FactorGraph::kMaxTableEntries));
      }
    }
  }
  return scopes;
}

std::vector<double> read_table(UaiTokens& tokens, std::int64_t num_entries, int factor) {
  const std::string_view size = tokens.next();
  if (to_integer(size) != num_entries) {
    tokens.fail(size, fmt::format("{}, the number of table entries of factor {}", num_entries, factor));
  }
  std::vector<double> log_values;
  log_values.reserve(std::min(static_cast<std::size_t>(num_entries), tokens.max_left()));
  for (std::int64_t i = 0; i < num_entries; ++i) {
    const std::string_view token = tokens.next();
    const std::optional<double> log_value = log_of_decimal(token);
    if (!log_value) {
      tokens.fail(token, fmt::format("entry {} of factor {}, a finite number of at least 0", i, factor));
    }
    log_values.push_back(*log_value);
  }
  return log_values;
}

// The position where the pairs of an evidence text begin: 1, or 2 if the text begins with a number of samples.
std::size_t first_pair(const UaiTokens& tokens, const std::vector<std::string_view>& all) {
  const auto number = [&](std::size_t i) {
    return static_cast<std::size_t>(tokens.integer(all[i], "a number of observations", 0, kMaxCount));
  };
  const std::size_t first = number(0);
  if (all.size() == 1 + 2 * first) return 1;
  if (first == 1 && all.size() >= 2 && all.size() == 2 + 2 * number(1)) return 2;
  if (first >= 2) {  // several samples, provided that this explains every token
    std::size_t samples = 0;
    std::size_t at = 1;
    for (; samples < first && at < all.size(); ++samples) at += 1 + 2 * number(at);
    if (samples == first && at == all.size()) {
      tokens.fail_with(all[0], fmt::format("the file holds {} samples of evidence, allowed is one", first));
    }
  }
  tokens.fail_with(all[0], fmt::format("{} observations are announced, but {} numbers follow", first, all.size() - 1));
}

}  // namespace

FactorGraph parse_uai(std::string_view text, std::string_view source_name) {
  UaiTokens tokens(source_text(text, source_name));
  read_network_type(tokens);
  FactorGraph graph;
  const int num_variables = tokens.next_integer("a number of variables", 0, kMaxCount);
  for (int v = 0; v < num_variables; ++v) {
    graph.add_variable(tokens.next_integer("a number of states", 1, FactorGraph::kMaxStates));
  }
  for (Scope& scope : read_scopes(tokens, graph)) {
    UaiTokens table = tokens;
    std::vector<double> log_values = read_table(tokens, scope.num_entries, graph.num_factors());
    try {
      graph.add_table(std::move(scope.variables), std::move(log_values));
    } catch (const Error& error) {
      table.fail_with(table.next(), fmt::format("factor {}: {}", graph.num_factors(), error.what()));
    }
  }
  tokens.end();
  return graph;
}

bool is_uai_network(std::string_view text) {
  UaiTokens tokens(source_text(text, "text"));
  return read_network_type(tokens);
}

FactorGraph read_uai(const std::filesystem::path& path) { return parse_uai(read_file(path), path.string()); }

Evidence parse_uai_evidence(std::string_view text, std::string_view source_name, const FactorGraph& graph) {
  UaiTokens tokens(source_text(text, source_name));
  std::vector<std::string_view> all;
  for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next()) all.push_back(token);
  if (all.empty()) return {};
  Evidence evidence;
  Assignment observed(static_cast<std::size_t>(graph.num_variables()), -1);
  for (std::size_t i = first_pair(tokens, all); i < all.size(); i += 2) {
    const int v = tokens.integer(all[i], "a variable", 0, graph.num_variables() - 1);
    const int x = tokens.integer(all[i + 1], fmt::format("a state of variable {}", v), 0, graph.num_states(v) - 1);
    if (observed[v] >= 0 && observed[v] != x) {
      tokens.fail_with(all[i], fmt::format("variable {} is observed in state {} and in state {}", v, observed[v], x));
    }
    if (observed[v] < 0) evidence.push_back({.variable = v, .state = x});
    observed[v] = x;
  }
  return evidence;
}

std::vector<int> parse_uai_query(std::string_view text, std::string_view source_name, const FactorGraph& graph) {
  UaiTokens tokens(source_text(text, source_name));
  std::vector<int> variables;
  std::vector<char> is_there(static_cast<std::size_t>(graph.num_variables()), 0);
  for (int left = tokens.next_integer("a number of variables", 0, graph.num_variables()); left > 0; --left) {
    const std::string_view token = tokens.next();
    const int v = tokens.integer(token, "a variable", 0, graph.num_variables() - 1);
    if (std::exchange(is_there[v], 1) != 0) tokens.fail_with(token, fmt::format("variable {} is asked for twice", v));
    variables.push_back(v);
  }
  if (const std::string_view token = tokens.next(); !token.empty()) tokens.fail(token, "nothing after the variables");
  return variables;
}

std::vector<int> read_uai_query(const std::filesystem::path& path, const FactorGraph& graph) {
  return parse_uai_query(read_file(path), path.string(), graph);
}

Evidence read_uai_evidence(const std::filesystem::path& path, const FactorGraph& graph) {
  return parse_uai_evidence(read_file(path), path.string(), graph);
}

std::string format_uai(const FactorGraph& graph, UaiKind kind) {
  std::string text = fmt::format("{}\n{}\n", kind == UaiKind::kBayes ? "BAYES" : "MARKOV", graph.num_variables());
  for (int v = 0; v < graph.num_variables(); ++v) text += fmt::format("{}{}", v == 0 ? "" : " ", graph.num_states(v));
  text += fmt::format("\n{}\n", graph.num_factors());
  for (const Factor& factor : graph.factors()) {
    text += fmt::format("{}", factor.scope().size());
    for (const int v : factor.scope()) text += fmt::format(" {}", v);
    text += '\n';
  }
  for (int m = 0; m < graph.num_factors(); ++m) {
    check_argument(graph.factor(m).is_table(), "format_uai",
                   fmt::format("factor {} is a function, only tables can be written", m));
    const std::vector<double>& log_values = graph.factor(m).log_values();
    text += fmt::format("\n{}\n", log_values.size());
    for (std::size_t i = 0; i < log_values.size(); ++i) {
      if (log_values[i] != kNegInf && std::abs(log_values[i]) > kMaxDecimalLog) {
        throw Error(
            ErrorCode::kArgument,
            fmt::format(
                "format_uai: entry {} of factor {} is {:g} in the log domain, allowed are {:g} to {:g} and -inf", i, m,
                log_values[i], -kMaxDecimalLog, kMaxDecimalLog));
      }
      if (i > 0) text += ' ';
      append_exp_decimal(text, log_values[i]);
    }
    text += '\n';
  }
  return text;
}

void write_uai(const FactorGraph& graph, const std::filesystem::path& path) {
  write_file_atomically(path, format_uai(graph));
}

std::string format_uai_evidence(const Evidence& evidence) {
  std::string text = fmt::format("{}", evidence.size());
  for (const auto& [variable, state] : evidence) text += fmt::format(" {} {}", variable, state);
  return text + '\n';
}

void write_uai_evidence(const Evidence& evidence, const std::filesystem::path& path) {
  write_file_atomically(path, format_uai_evidence(evidence));
}

}  // namespace treesample
