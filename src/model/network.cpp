#include "treesample/model/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "treesample/model/names.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

constexpr double kRowTolerance = 1e-6;
constexpr int kMostWarnings = 5;

// The table of each variable; empty if the graph does not have the form of a network.
std::vector<int> tables_of(const FactorGraph& graph) {
  if (graph.num_factors() != graph.num_variables()) return {};
  std::vector<int> table_of(static_cast<std::size_t>(graph.num_variables()), -1);
  for (int m = 0; m < graph.num_factors(); ++m) {
    const Factor& factor = graph.factor(m);
    if (!factor.is_table() || factor.is_clause() || factor.scope().empty()) return {};
    if (std::exchange(table_of[factor.scope().back()], m) >= 0) return {};
  }
  return table_of;
}

// Reports rows that do not add up to 1: how many there are, and a description of the first.
void check_rows(const FactorGraph& graph, int v, const Factor& factor, NetworkCheck& check) {
  const auto num_states = static_cast<std::size_t>(graph.num_states(v));
  const std::vector<double>& values = factor.log_values();
  std::size_t num_wrong = 0, first = 0;
  double first_sum = 0.0;
  for (std::size_t row = 0; row < values.size() / num_states; ++row) {
    double sum = 0.0;
    for (std::size_t s = 0; s < num_states; ++s) sum += std::exp(values[row * num_states + s]);
    if (std::abs(sum - 1.0) <= kRowTolerance) continue;
    if (num_wrong++ == 0) first = row;
    if (num_wrong == 1) first_sum = sum;
  }
  if (num_wrong == 0) return;
  const std::vector<int> parents(factor.scope().begin(), factor.scope().end() - 1);
  std::vector<int> states(parents.size());
  for (std::size_t i = states.size(); i-- > 0;) {
    states[i] = static_cast<int>(first % static_cast<std::size_t>(graph.num_states(parents[i])));
    first /= static_cast<std::size_t>(graph.num_states(parents[i]));
  }
  const std::string row = parents.empty() ? "" : fmt::format(" given {}", describe_states(graph, parents, states));
  check.warnings.push_back(fmt::format("the probabilities of {}{} add up to {:.6g}, not to 1{}",
                                       variable_name(graph, v), shortened(row, 120), first_sum,
                                       num_wrong > 1 ? fmt::format(", and {} of its rows are so", num_wrong) : ""));
}

// Reports one cycle, if there is any: it follows parents until it meets a variable twice.
void check_cycles(const FactorGraph& graph, const std::vector<int>& table_of, NetworkCheck& check) {
  std::vector<int> num_children(table_of.size(), 0);
  const auto parents_of = [&](int v) {
    const std::vector<int>& scope = graph.factor(table_of[v]).scope();
    return std::span<const int>(scope.data(), scope.size() - 1);
  };
  for (int v = 0; v < graph.num_variables(); ++v) {
    for (const int parent : parents_of(v)) ++num_children[parent];
  }
  std::vector<int> open;  // variables whose children were all removed
  for (int v = 0; v < graph.num_variables(); ++v) {
    if (num_children[v] == 0) open.push_back(v);
  }
  std::size_t num_removed = 0;
  while (!open.empty()) {
    const int v = open.back();
    open.pop_back();
    ++num_removed;
    for (const int parent : parents_of(v)) {
      if (--num_children[parent] == 0) open.push_back(parent);
    }
  }
  if (num_removed == table_of.size()) return;
  // Every remaining variable has a remaining child.
  std::vector<int> child_of(table_of.size(), -1);
  for (int v = 0; v < graph.num_variables(); ++v) {
    if (num_children[v] == 0) continue;
    for (const int parent : parents_of(v)) child_of[parent] = v;
  }
  int v = 0;
  while (num_children[v] == 0) ++v;
  std::vector<char> is_seen(table_of.size(), 0);
  for (; is_seen[v] == 0; v = child_of[v]) is_seen[v] = 1;
  std::string path = variable_name(graph, v);
  for (int next = child_of[v]; next != v; next = child_of[next]) path += " -> " + variable_name(graph, next);
  check.warnings.push_back(fmt::format("the arrows form a cycle: {} -> {}; it is no Bayesian network",
                                       shortened(path, 200), variable_name(graph, v)));
}

}  // namespace

NetworkCheck check_network(const FactorGraph& graph) {
  NetworkCheck check;
  const std::vector<int> table_of = tables_of(graph);
  check.has_form = !table_of.empty() || (graph.num_variables() == 0 && graph.num_factors() == 0);
  if (!check.has_form) return check;
  check_cycles(graph, table_of, check);
  for (int v = 0; v < graph.num_variables(); ++v) check_rows(graph, v, graph.factor(table_of[v]), check);
  if (std::ssize(check.warnings) > kMostWarnings) {
    const auto num_more = std::ssize(check.warnings) - kMostWarnings;
    check.warnings.resize(kMostWarnings);
    check.warnings.push_back(fmt::format("and {} more tables are so", num_more));
  }
  return check;
}

// Variables are summed out, children first. Each sum is at most the largest row of the child's table, and what remains
// is a network again. An entry exp(v) and its logarithm are each known to one unit in the last place.
double network_log_upper(const FactorGraph& graph) {
  if (!check_network(graph).is_network()) return HUGE_VAL;
  constexpr double kUnit = 0x1.0p-52;
  double sum = 0.0, magnitude = 0.0;
  for (const Factor& factor : graph.factors()) {
    const auto num_states = static_cast<std::size_t>(graph.num_states(factor.scope().back()));
    const std::vector<double>& values = factor.log_values();
    double most = 0.0;
    for (std::size_t row = 0; row < values.size(); row += num_states) {
      double total = 0.0;
      for (std::size_t s = 0; s < num_states; ++s) {
        const double value = values[row + s];
        if (value != -HUGE_VAL) total += std::exp(value) * (1.0 + kUnit * (std::abs(value) + 4.0));
      }
      most = std::max(most, total * (1.0 + kUnit * static_cast<double>(num_states)));
    }
    const double log_most = std::log(most);
    sum += log_most;
    magnitude += std::abs(log_most) + 2.0;
  }
  return sum + kUnit * (magnitude + static_cast<double>(graph.num_factors()) * std::abs(sum));
}

}  // namespace treesample
