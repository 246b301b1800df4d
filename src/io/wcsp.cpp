#include "wcsp.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "cost_tokens.hpp"
#include "treesample/error.hpp"
#include "treesample/io/bif.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr std::int64_t kMostCost = std::int64_t{1} << 62;

class WcspParser {
 public:
  explicit WcspParser(SourceText source)
      : tokens_(source), entries_left_(kBifFreeEntries + static_cast<std::int64_t>(source.text.size())) {}

  FactorGraph parse() {
    if (const std::string_view name = tokens_.next(); name.empty()) tokens_.fail(name, "the name of a problem");
    const auto num_bytes = static_cast<std::int64_t>(tokens_.num_bytes());
    const std::int64_t num_variables = tokens_.next_integer("the number of variables", 0, num_bytes);
    const std::int64_t most_states = tokens_.next_integer("the most states", 0, FactorGraph::kMaxStates);
    const std::int64_t num_functions = tokens_.next_integer("the number of functions", 0, num_bytes);
    top_ = tokens_.next_integer("the cost from which all is forbidden", 0, kMostCost);
    for (std::int64_t v = 0; v < num_variables; ++v) {
      const std::int64_t states = tokens_.next_integer("a number of states", 1, std::max<std::int64_t>(1, most_states));
      graph_.add_variable({.num_states = static_cast<int>(states), .name = fmt::format("x{}", v)});
    }
    for (std::int64_t m = 0; m < num_functions; ++m) read_function();
    if (const std::string_view token = tokens_.next(); !token.empty())
      tokens_.fail(token, "nothing after the last function");
    return std::move(graph_);
  }

 private:
  [[nodiscard]] double log_value(std::int64_t cost) const {
    return cost >= top_ ? kNegInf : cost == 0 ? 0.0 : -static_cast<double>(cost);
  }

  void read_function() {
    const std::string_view count = tokens_.next();
    if (count.starts_with('-')) tokens_.fail(count, "a number of variables (functions that are shared are not read)");
    const std::int64_t num_places = tokens_.integer(count, "a number of variables", 0, graph_.num_variables());
    std::vector<int> scope;
    std::set<int> in_scope;
    std::int64_t num_entries = 1;
    for (std::int64_t i = 0; i < num_places; ++i) {
      const std::string_view token = tokens_.next();
      const auto v = static_cast<int>(tokens_.integer(token, "a variable", 0, graph_.num_variables() - 1));
      if (!in_scope.insert(v).second) tokens_.fail(token, "a variable that is not in this function already");
      scope.push_back(v);
      const std::int64_t allowed = std::min(entries_left_, FactorGraph::kMaxTableEntries);
      if (num_entries * graph_.num_states(v) > allowed)
        tokens_.fail(token,
                     fmt::format("a table of at most the {} entries that are left in a file of this size", allowed));
      num_entries *= graph_.num_states(v);
    }
    entries_left_ -= num_entries;
    const std::string_view usual = tokens_.next();
    if (usual == "-1") tokens_.fail(usual, "a cost from 0 (constraints that are given by a name are not read)");
    std::vector<double> values(static_cast<std::size_t>(num_entries),
                               log_value(tokens_.integer(usual, "a cost", 0, kMostCost)));
    const std::int64_t num_tuples = tokens_.next_integer("a number of tuples", 0, num_entries);
    for (std::int64_t i = 0; i < num_tuples; ++i) {
      std::size_t at = 0;
      for (const int v : scope) {
        const std::int64_t state = tokens_.next_integer("a state", 0, graph_.num_states(v) - 1);
        at = at * static_cast<std::size_t>(graph_.num_states(v)) + static_cast<std::size_t>(state);
      }
      values[at] = log_value(tokens_.next_integer("a cost", 0, kMostCost));
    }
    graph_.add_table(std::move(scope), std::move(values));
  }

  CostTokens tokens_;
  std::int64_t entries_left_;
  std::int64_t top_ = 0;
  FactorGraph graph_;
};

// What is impossible costs -1 for now.
std::int64_t whole_cost(double log_value) {
  if (log_value == kNegInf) return -1;
  if (log_value != std::floor(log_value) || log_value > 0.0 || log_value < -1e15) {
    throw Error(ErrorCode::kArgument,
                fmt::format("costs of a .wcsp file are whole numbers from 0 to 1e15, and a log-value is {}: .uai has "
                            "others",
                            log_value));
  }
  return static_cast<std::int64_t>(-log_value);
}

std::string tuples(const FactorGraph& graph, const std::vector<int>& scope, const std::vector<std::int64_t>& costs,
                   std::int64_t top) {
  std::string text;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if (costs[i] == 0) continue;
    std::vector<std::size_t> tuple(scope.size());
    std::size_t left = i;
    for (std::size_t j = scope.size(); j-- > 0;) {
      tuple[j] = left % static_cast<std::size_t>(graph.num_states(scope[j]));
      left /= static_cast<std::size_t>(graph.num_states(scope[j]));
    }
    text += fmt::format("{}{}{}\n", fmt::join(tuple, " "), scope.empty() ? "" : " ", costs[i] < 0 ? top : costs[i]);
  }
  return text;
}

}  // namespace

FactorGraph parse_wcsp(std::string_view text, std::string_view source_name) {
  return WcspParser(source_text(text, source_name)).parse();
}

std::string format_wcsp(const FactorGraph& graph) {
  if (!graph.has_only_tables()) {
    throw Error(ErrorCode::kArgument, "only models of tables can be written as .wcsp: this one has functions");
  }
  int most_states = 1;
  std::vector<int> states;
  for (int v = 0; v < graph.num_variables(); ++v) {
    states.push_back(graph.num_states(v));
    most_states = std::max(most_states, states.back());
  }
  // The largest costs together are allowed.
  std::int64_t top = 1;
  std::vector<std::vector<std::int64_t>> costs;
  for (const Factor& factor : graph.factors()) {
    std::vector<std::int64_t>& table = costs.emplace_back();
    for (const double value : factor.log_values()) table.push_back(whole_cost(value));
    top += std::max<std::int64_t>(0, *std::max_element(table.begin(), table.end()));
  }
  std::string functions;
  for (int m = 0; m < graph.num_factors(); ++m) {
    const std::vector<int>& scope = graph.factor(m).scope();
    const auto num_zeros = std::count(costs[m].begin(), costs[m].end(), 0);
    functions += fmt::format("{}{}{} 0 {}\n", scope.size(), scope.empty() ? "" : " ", fmt::join(scope, " "),
                             std::ssize(costs[m]) - num_zeros);
    functions += tuples(graph, scope, costs[m], top);
  }
  return fmt::format("model {} {} {} {}\n{}\n", graph.num_variables(), most_states, graph.num_factors(), top,
                     fmt::join(states, " ")) +
         functions;
}

}  // namespace treesample
