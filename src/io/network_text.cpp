#include "network_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <unordered_set>

#include "decimal_log.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/names.hpp"
#include "treesample/model/network.hpp"
#include "treesample/text.hpp"

namespace treesample {

void check_network_form(const FactorGraph& graph, std::string_view format) {
  if (graph.num_variables() > 0 && check_network(graph).has_form) return;
  throw Error(
      ErrorCode::kArgument,
      fmt::format("only Bayesian networks can be written as {}: one table for each variable, with that variable "
                  "last in its scope; this model has {} and {}",
                  format, counted(graph.num_variables(), "variable"), counted(graph.num_factors(), "factor")));
}

std::string writable_name(const std::string& name) {
  const bool has_ends =
      name.empty() || name.front() == ' ' || name.front() == '\t' || name.back() == ' ' || name.back() == '\t';
  if (!has_ends && name.find_first_of("\r\n") == std::string::npos) return name;
  throw Error(ErrorCode::kArgument, fmt::format("the name '{}' cannot be written in this format", shortened(name, 60)));
}

std::string double_quoted(const std::string& name) {
  std::string quoted = "\"";
  for (const char c : writable_name(name)) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

void append_network_entry(std::string& text, double log_value) {
  if (log_value != kNegInf && std::abs(log_value) > kMaxDecimalLog) {
    throw Error(ErrorCode::kArgument,
                fmt::format("an entry is {:g} in the log domain, allowed are {:g} to {:g} and -inf", log_value,
                            -kMaxDecimalLog, kMaxDecimalLog));
  }
  append_exp_decimal(text, log_value);
}

std::vector<std::string> identifiers(const std::vector<std::string>& names) {
  std::vector<std::string> all;
  std::unordered_set<std::string> taken;
  for (std::string name : names) {
    for (char& c : name) {
      const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
      if (!is_letter) c = '_';
    }
    if (name.empty() || (name.front() >= '0' && name.front() <= '9')) name.insert(0, "s");
    std::string distinct = name;
    for (int i = 2; !taken.insert(distinct).second; ++i) distinct = fmt::format("{}_{}", name, i);
    all.push_back(std::move(distinct));
  }
  return all;
}

std::vector<std::string> variable_names(const FactorGraph& graph) {
  std::vector<std::string> names;
  for (int v = 0; v < graph.num_variables(); ++v) names.push_back(variable_name(graph, v));
  return names;
}

std::vector<std::string> state_names(const FactorGraph& graph, int variable) {
  std::vector<std::string> names;
  for (int s = 0; s < graph.num_states(variable); ++s) names.push_back(state_name(graph, variable, s));
  return names;
}

std::string parents_text(const std::vector<int>& scope, const std::vector<std::string>& names,
                         std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i + 1 < scope.size(); ++i) {
    if (i > 0) text += separator;
    text += names[scope[i]];
  }
  return text;
}

std::vector<int> tables_of_variables(const FactorGraph& graph) {
  std::vector<int> tables(static_cast<std::size_t>(graph.num_variables()), -1);
  for (int m = 0; m < graph.num_factors(); ++m) tables[graph.factor(m).scope().back()] = m;
  return tables;
}

std::vector<int> parents_first(const FactorGraph& graph) {
  const auto num_variables = static_cast<std::size_t>(graph.num_variables());
  std::vector<std::size_t> open_parents(num_variables, 0);
  std::vector<std::vector<int>> children(num_variables);
  for (const Factor& factor : graph.factors()) {
    const std::vector<int>& scope = factor.scope();
    open_parents[scope.back()] = scope.size() - 1;
    for (std::size_t i = 0; i + 1 < scope.size(); ++i) children[scope[i]].push_back(scope.back());
  }
  std::vector<int> order;
  std::vector<char> is_listed(num_variables, 0);
  const auto list = [&](int v) {
    is_listed[v] = 1;
    order.push_back(v);
  };
  for (int v = 0; v < graph.num_variables(); ++v) {
    if (open_parents[v] == 0) list(v);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const int child : children[order[i]]) {
      if (--open_parents[child] == 0) list(child);
    }
  }
  for (int v = 0; v < graph.num_variables(); ++v) {
    if (is_listed[v] == 0) list(v);
  }
  return order;
}

}  // namespace treesample
