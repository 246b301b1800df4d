#include "treesample/io/dimacs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "decimal_log.hpp"
#include "model/clause.hpp"
#include "source_text.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/names.hpp"

namespace treesample {
namespace {

constexpr std::string_view kSpaces = " \t\r\f\v";
// A short file can name any number of variables; so many are believed.
constexpr std::int64_t kFreeVariables = std::int64_t{1} << 20;

bool is_weight(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return log_of_fraction(text).has_value();
}

class DimacsParser {
 public:
  explicit DimacsParser(SourceText source) : source_(source) {}

  Formula parse() {
    for (std::string_view token = next(); !token.empty(); token = next()) {
      if (is_line_start_ && token.front() == 'c') {
        comment(token);
      } else if (is_line_start_ && token.front() == '%') {
        break;
      } else if (token == "p") {
        header(token);
      } else {
        literal(token);
      }
    }
    finish();
    return std::move(formula_);
  }

 private:
  // The next token of the text; at_ is behind it then.
  std::string_view next() {
    const std::string_view text = source_.text;
    is_line_start_ = at_ == 0;
    for (; at_ < text.size() && (text[at_] == '\n' || kSpaces.find(text[at_]) != std::string_view::npos); ++at_) {
      is_line_start_ = is_line_start_ || text[at_] == '\n';
    }
    return word();
  }
  // The next token of this line, or an empty one at its end.
  std::string_view next_of_line() {
    const std::string_view text = source_.text;
    while (at_ < text.size() && kSpaces.find(text[at_]) != std::string_view::npos) ++at_;
    return word();
  }
  std::string_view word() {
    const std::string_view text = source_.text;
    const std::size_t begin = at_;
    while (at_ < text.size() && text[at_] != '\n' && kSpaces.find(text[at_]) == std::string_view::npos) ++at_;
    return text.substr(begin, at_ - begin);
  }
  void skip_line() { at_ = std::min(source_.text.find('\n', at_), source_.text.size()); }

  [[noreturn]] void fail(std::string_view token, std::string_view message) const {
    throw_parse_error(source_, static_cast<std::size_t>(token.data() - source_.text.data()), message);
  }
  [[noreturn]] void fail_expected(std::string_view token, std::string_view expected) const {
    const bool is_end = token.empty() && token.data() != source_.text.data() + source_.text.size();
    fail(token,
         fmt::format("expected {}, found {}", expected, is_end ? "the end of the line" : quoted(source_, token)));
  }
  std::int64_t integer(std::string_view token, std::string_view what, std::int64_t low, std::int64_t high) const {
    std::int64_t value = 0;
    const auto result = std::from_chars(token.data(), token.data() + token.size(), value);
    if (result.ec == std::errc{} && result.ptr == token.data() + token.size() && value >= low && value <= high) {
      return value;
    }
    fail_expected(token, fmt::format("{} from {} to {}", what, low, high));
  }

  void header(std::string_view token) {
    if (has_header_) fail(token, "a second line 'p cnf'");
    if (const std::string_view word = next_of_line(); word != "cnf") fail_expected(word, "'cnf' after 'p'");
    const auto size = static_cast<std::int64_t>(source_.text.size());
    formula_.num_variables =
        static_cast<int>(integer(next_of_line(), "a number of variables", 0, std::max(kFreeVariables, size)));
    num_clauses_ = integer(next_of_line(), "a number of clauses", 0, INT32_MAX);
    if (const std::string_view word = next_of_line(); !word.empty()) fail_expected(word, "the end of the line");
    has_header_ = true;
    last_clause_of_.assign(2 * static_cast<std::size_t>(formula_.num_variables), -1);
  }

  void literal(std::string_view token) {
    if (!has_header_) fail_expected(token, "the line 'p cnf VARIABLES CLAUSES'");
    const auto most = static_cast<std::int64_t>(formula_.num_variables);
    const int value = static_cast<int>(integer(token, "a literal", -most, most));
    if (value == 0) return end_clause(token);
    if (num_read_ == num_clauses_) fail(token, fmt::format("a clause after the {} of the line 'p cnf'", num_clauses_));
    begin_of_clause_ = is_open_ ? begin_of_clause_ : token;
    is_open_ = true;
    const std::size_t index = Formula::literal_index(value);
    if (last_clause_of_[index] == num_read_) return;  // twice
    last_clause_of_[index] = num_read_;
    is_true_ = is_true_ || last_clause_of_[index ^ 1U] == num_read_;
    formula_.literals.push_back(value);
  }
  void end_clause(std::string_view token) {
    if (num_read_ == num_clauses_) fail(token, fmt::format("a clause after the {} of the line 'p cnf'", num_clauses_));
    if (is_true_) {
      formula_.literals.resize(formula_.first_literal.back());
    } else {
      formula_.first_literal.push_back(formula_.literals.size());
    }
    ++num_read_;
    is_open_ = is_true_ = false;
  }

  void comment(std::string_view token) {
    if (is_open_) fail(token, "a comment within a clause, which ends with 0");
    if (token != "c") return skip_line();  // such as "cx"
    const std::string_view kind = next_of_line();
    if (kind == "t") {
      const std::string_view task = next_of_line();
      if (task != "mc" && task != "wmc" && task != "pmc" && task != "pwmc") {
        fail_expected(task, "mc, wmc, pmc or pwmc after 'c t'");
      }
      formula_.kind = task;
    } else if (kind == "ind") {
      show();
    } else if (kind == "p") {
      const std::string_view what = next_of_line();
      if (what == "show") {
        show();
      } else if (what == "weight") {
        weight();
      }
    }
    skip_line();
  }

  // The line may stand before the one with the number of variables, so variables are checked at the end.
  void show() {
    if (!formula_.shown) formula_.shown.emplace();
    for (std::string_view token = next_of_line();; token = next_of_line()) {
      if (token == "0") return;
      if (token.empty()) fail(token, "a list of variables that does not end with 0");
      formula_.shown->push_back(static_cast<int>(integer(token, "a variable", 1, INT32_MAX)));
      places_.push_back({token, formula_.shown->back()});
    }
  }
  void weight() {
    const std::string_view of = next_of_line();
    const auto literal = static_cast<int>(integer(of, "a literal", -INT32_MAX, INT32_MAX));
    if (literal == 0) fail_expected(of, "a literal that is not 0");
    const std::string_view text = next_of_line();
    if (!is_weight(text)) fail_expected(text, "a decimal number or a fraction");
    const std::string_view end = next_of_line();
    if (!end.empty() && end != "0") fail_expected(end, "0, the end of the weight");
    places_.push_back({of, std::abs(literal)});
    weights_.push_back({of, literal, std::string(text)});
  }

  void finish() {
    if (!has_header_) fail(source_.text.substr(source_.text.size()), "there is no line 'p cnf VARIABLES CLAUSES'");
    if (is_open_) fail(begin_of_clause_, "a clause that does not end with 0");
    if (num_read_ != num_clauses_) {
      fail(source_.text.substr(source_.text.size()),
           fmt::format("the file ends after {} of the {} clauses of the line 'p cnf'", num_read_, num_clauses_));
    }
    for (const auto& [token, variable] : places_) {
      if (variable > formula_.num_variables) {
        fail(token, fmt::format("there is no variable {}: the line 'p cnf' has {}", variable, formula_.num_variables));
      }
    }
    if (formula_.shown) {
      std::sort(formula_.shown->begin(), formula_.shown->end());
      formula_.shown->erase(std::unique(formula_.shown->begin(), formula_.shown->end()), formula_.shown->end());
    }
    if (weights_.empty()) return;
    formula_.weights.resize(2 * static_cast<std::size_t>(formula_.num_variables));
    for (Weight& given : weights_) {
      std::string& text = formula_.weights[Formula::literal_index(given.literal)];
      if (!text.empty() && text != given.text) {
        fail(given.token, fmt::format("the literal {} has two weights, {} and {}", given.literal, text, given.text));
      }
      text = std::move(given.text);
    }
    for (const Weight& given : weights_) check_pair(given.token, given.literal);
  }
  // What is not given follows from the other weight, if that is a probability.
  void check_pair(std::string_view token, int literal) {
    const std::size_t index = Formula::literal_index(literal);
    if (!formula_.weights[index ^ 1U].empty()) return;
    const std::string& text = formula_.weights[index];
    if (log_of_rest(text)) return;
    fail(token, fmt::format("the literal {} has the weight {}, which is no probability, so {} needs a weight, too",
                            literal, text, -literal));
  }

  struct Place {
    std::string_view token;
    int variable = 0;
  };
  struct Weight {
    std::string_view token;
    int literal = 0;
    std::string text;
  };
  SourceText source_;
  std::size_t at_ = 0;
  Formula formula_;
  std::int64_t num_clauses_ = 0, num_read_ = 0;
  bool is_line_start_ = true, has_header_ = false, is_open_ = false, is_true_ = false;
  std::string_view begin_of_clause_;
  std::vector<std::int64_t> last_clause_of_;  // by literal: the last clause that has it
  std::vector<Place> places_;                 // variables to be checked
  std::vector<Weight> weights_;
};

// The logarithms of the weights of a variable's states 0 and 1.
std::vector<double> log_weights(const Formula& formula, int variable) {
  const std::string& is_true = formula.weights[Formula::literal_index(variable)];
  const std::string& is_false = formula.weights[Formula::literal_index(-variable)];
  const auto log_of = [&](const std::string& text) {
    if (const std::optional<double> value = log_of_fraction(text)) return *value;
    throw Error(
        ErrorCode::kArgument,
        fmt::format("variable {} has the negative weight {}, which has no logarithm: only exact counts carry it "
                    "(--format competition)",
                    variable, text));
  };
  if (is_true.empty() && is_false.empty()) return {};
  const auto log_of_other = [&](const std::string& text) {
    if (const std::optional<double> value = log_of_rest(text)) return *value;
    throw Error(
        ErrorCode::kArgument,
        fmt::format("variable {} has the weight {}, which is no probability, and no other one", variable, text));
  };
  if (is_true.empty()) return {log_of(is_false), log_of_other(is_false)};
  if (is_false.empty()) return {log_of_other(is_true), log_of(is_true)};
  return {log_of(is_false), log_of(is_true)};
}

// The clause that forbids one entry of a table.
std::vector<int> clause_against(const FactorGraph& graph, const Factor& factor, std::size_t entry) {
  std::vector<int> clause;
  for (std::size_t i = factor.scope().size(); i-- > 0;) {
    const auto count = static_cast<std::size_t>(graph.num_states(factor.scope()[i]));
    const int v = factor.scope()[i] + 1;
    if (count == 2) clause.push_back(entry % count == 1 ? -v : v);
    entry /= count;
  }
  std::reverse(clause.begin(), clause.end());
  return clause;
}

std::string weight_text(double log_value) {
  std::string text;
  append_exp_decimal(text, log_value);
  return text;
}

void add_table(Formula& formula, const FactorGraph& graph, int index, std::vector<double>& log_sums) {
  const Factor& factor = graph.factor(index);
  const auto refuse = [&](std::string_view why) {
    throw_argument("format_dimacs", fmt::format("factor {} {}", index, why));
  };
  if (!factor.is_table()) refuse("is a function: .cnf has clauses and weights");
  if (factor.is_clause()) {
    std::vector<int> clause;
    for (std::size_t i = 0; i < factor.scope().size(); ++i) {
      if (factor.clause_states(i) != 2) refuse("has a variable of other than two states: .cnf has variables of two");
      clause.push_back(factor.literals()[i].holds(1) ? factor.scope()[i] + 1 : -(factor.scope()[i] + 1));
    }
    return formula.add_clause(clause);
  }
  const std::vector<double>& values = factor.log_values();
  const bool has_weights =
      std::any_of(values.begin(), values.end(), [](double value) { return value != 0.0 && value != kNegInf; });
  if (factor.scope().size() == 1 && has_weights) {
    for (std::size_t s = 0; s < 2; ++s) log_sums[2 * static_cast<std::size_t>(factor.scope()[0]) + s] += values[s];
    return;
  }
  for (std::size_t entry = 0; entry < values.size(); ++entry) {
    if (values[entry] == kNegInf) {
      formula.add_clause(clause_against(graph, factor, entry));
    } else if (values[entry] != 0.0) {
      refuse(
          fmt::format("has the entry {:.6g}: over several variables, .cnf has only 0 and 1", std::exp(values[entry])));
    }
  }
}

}  // namespace

Formula parse_formula(std::string_view text, std::string_view source_name) {
  return DimacsParser(source_text(text, source_name)).parse();
}

std::string format_formula(const Formula& formula) {
  std::string text;
  if (!formula.kind.empty()) text += fmt::format("c t {}\n", formula.kind);
  text += fmt::format("p cnf {} {}\n", formula.num_variables, formula.num_clauses());
  if (formula.shown) {
    text += "c p show";
    for (const int v : *formula.shown) text += fmt::format(" {}", v);
    text += " 0\n";
  }
  for (std::size_t i = 0; i < formula.weights.size(); ++i) {
    const auto v = static_cast<int>(i / 2) + 1;
    if (!formula.weights[i].empty()) {
      text += fmt::format("c p weight {} {} 0\n", i % 2 == 0 ? v : -v, formula.weights[i]);
    }
  }
  for (int c = 0; c < formula.num_clauses(); ++c) {
    for (const int literal : formula.clause(c)) text += fmt::format("{} ", literal);
    text += "0\n";
  }
  return text;
}

FactorGraph formula_graph(const Formula& formula) {
  FactorGraph graph;
  for (int v = 1; v <= formula.num_variables; ++v) {
    graph.add_variable({.num_states = 2, .name = fmt::format("x{}", v)});
  }
  ClauseMaker clauses;
  std::vector<ClauseLiteral> literals;
  for (int c = 0; c < formula.num_clauses(); ++c) {
    std::vector<int> scope;
    literals.clear();
    for (const int literal : formula.clause(c)) {
      scope.push_back(std::abs(literal) - 1);
      literals.push_back({.state = literal > 0 ? 1 : 0});
    }
    graph.add_factor(clauses.make(std::move(scope), literals));
  }
  for (int v = 1; v <= formula.num_variables && !formula.weights.empty(); ++v) {
    if (std::vector<double> weights = log_weights(formula, v); !weights.empty()) {
      graph.add_table({v - 1}, std::move(weights));
    }
  }
  return graph;
}

Formula formula_of(const FactorGraph& graph) {
  Formula formula{.num_variables = graph.num_variables()};
  for (int v = 0; v < graph.num_variables(); ++v) {
    if (graph.num_states(v) == 2) continue;
    throw_argument("format_dimacs", fmt::format("the variable {} has {} states: .cnf has variables of two",
                                                variable_name(graph, v), graph.num_states(v)));
  }
  std::vector<double> log_sums(2 * static_cast<std::size_t>(graph.num_variables()), 0.0);
  for (int m = 0; m < graph.num_factors(); ++m) add_table(formula, graph, m, log_sums);
  const bool has_weights = std::any_of(log_sums.begin(), log_sums.end(), [](double sum) { return sum != 0.0; });
  formula.kind = has_weights ? "wmc" : "mc";
  if (!has_weights) return formula;
  formula.weights.resize(log_sums.size());
  for (std::size_t v = 0; v < log_sums.size(); v += 2) {
    if (log_sums[v] == 0.0 && log_sums[v + 1] == 0.0) continue;
    formula.weights[v] = weight_text(log_sums[v + 1]);  // the literal that the variable is true
    formula.weights[v + 1] = weight_text(log_sums[v]);
  }
  return formula;
}

bool has_shown(std::string_view text) {
  for (const std::string_view line : {"c p show", "c ind"}) {
    for (std::size_t at = text.find(line); at != std::string_view::npos; at = text.find(line, at + 1)) {
      if (at == 0 || text[at - 1] == '\n') return true;
    }
  }
  return false;
}

FactorGraph parse_dimacs(std::string_view text, std::string_view source_name) {
  return formula_graph(parse_formula(text, source_name));
}

std::string format_dimacs(const FactorGraph& graph) { return format_formula(formula_of(graph)); }

}  // namespace treesample
