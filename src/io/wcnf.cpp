#include "wcnf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "cost_tokens.hpp"
#include "treesample/io/bif.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr std::int64_t kMostLiterals = 20, kMostVariables = std::int64_t{1} << 24;

struct Clause {
  std::map<int, bool> literals;  // by variable: whether it is satisfied by true
  bool is_always_true = false;
  double log_value = 0.0;  // where it is not satisfied
};

class WcnfParser {
 public:
  explicit WcnfParser(SourceText source)
      : tokens_(source), entries_left_(kBifFreeEntries + static_cast<std::int64_t>(source.text.size())) {}

  FactorGraph parse() {
    for (std::string_view token = tokens_.next(); !token.empty(); token = tokens_.next()) {
      if (token.starts_with('c')) {
        tokens_.skip_line();
      } else if (token == "p") {
        read_counts(token);
      } else {
        read_clause(token);
      }
    }
    FactorGraph graph;
    const std::int64_t count = std::max(num_variables_, num_named_);
    for (std::int64_t v = 0; v < count; ++v)
      graph.add_variable({.num_states = 2, .name = fmt::format("x{}", v + 1), .state_names = {"false", "true"}});
    for (const Clause& clause : clauses_) add(graph, clause);
    return graph;
  }

 private:
  void read_counts(std::string_view token) {
    if (has_counts_ || !clauses_.empty()) tokens_.fail(token, "one line that begins with p, before all clauses");
    has_counts_ = true;
    if (const std::string_view kind = tokens_.next(); kind != "wcnf") tokens_.fail(kind, "wcnf");
    num_variables_ = tokens_.next_integer("the number of variables", 0, kMostVariables);
    tokens_.next_integer("the number of clauses", 0, static_cast<std::int64_t>(tokens_.num_bytes()));
    if (const std::string_view top = tokens_.next_in_line(); !top.empty())
      top_ = positive(top, "the weight of hard clauses");
  }

  [[nodiscard]] double positive(std::string_view token, std::string_view what) const {
    const double weight = tokens_.number(token, what);
    if (!(weight >= 0.0)) tokens_.fail(token, fmt::format("{}, at least 0", what));
    return weight;
  }

  void read_clause(std::string_view first) {
    Clause clause;
    const bool is_hard = first == "h";
    const double weight = is_hard ? HUGE_VAL : positive(first, "the weight of a clause, or h, c or p");
    clause.log_value = is_hard || weight >= top_ ? kNegInf : weight == 0.0 ? 0.0 : -weight;
    const std::int64_t most = has_counts_ ? num_variables_ : kMostVariables;
    for (;;) {
      const std::string_view token = tokens_.next();
      const std::int64_t literal = tokens_.integer(token, "a literal, or 0 at the end of a clause,", -most, most);
      if (literal == 0) break;
      num_named_ = std::max(num_named_, std::abs(literal));
      const auto [known, is_new] = clause.literals.emplace(static_cast<int>(std::abs(literal) - 1), literal > 0);
      clause.is_always_true = clause.is_always_true || known->second != (literal > 0);
      if (std::ssize(clause.literals) > kMostLiterals)
        tokens_.fail(token, fmt::format("clauses of at most {} variables", kMostLiterals));
      if (is_new && std::ssize(clause.literals) > 1) entries_left_ -= std::int64_t{1} << (clause.literals.size() - 1);
      if (entries_left_ < 0) tokens_.fail(token, "clauses that have fewer table entries in a file of this size");
    }
    if (!clause.is_always_true) clauses_.push_back(std::move(clause));
  }

  static void add(FactorGraph& graph, const Clause& clause) {
    std::vector<int> scope;
    std::size_t broken = 0;
    for (const auto& [v, is_true] : clause.literals) {
      scope.push_back(v);
      broken = 2 * broken + (is_true ? 0 : 1);
    }
    std::vector<double> values(std::size_t{1} << scope.size(), 0.0);
    values[broken] = clause.log_value;
    graph.add_table(std::move(scope), std::move(values));
  }

  CostTokens tokens_;
  std::int64_t entries_left_;
  bool has_counts_ = false;
  double top_ = HUGE_VAL;
  std::int64_t num_variables_ = 0, num_named_ = 0;
  std::vector<Clause> clauses_;
};

}  // namespace

FactorGraph parse_wcnf(std::string_view text, std::string_view source_name) {
  return WcnfParser(source_text(text, source_name)).parse();
}

}  // namespace treesample
