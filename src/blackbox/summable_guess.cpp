#include "blackbox/summable_guess.hpp"

#include <algorithm>
#include <utility>

#include "blackbox/learned_target.hpp"
#include "treesample/exact/elimination.hpp"

namespace treesample {
namespace {

constexpr double kMostTableStates = 4096;  // of a function that is a table of its own

bool is_cheap(const FactorGraph& graph, double most_entries) {
  return plan_elimination(graph, {.restarts = 1, .most_entries = most_entries}).num_entries <= most_entries;
}

void add(FactorGraph& graph, const TableTerm& term) {
  graph.add_factor(Factor::table_of_sums(term.variables, term.log_values));
}

}  // namespace

void add_affordable(FactorGraph& graph, std::vector<TableTerm> terms, double most_entries) {
  FactorGraph all = graph;
  for (const TableTerm& term : terms) add(all, term);
  if (is_cheap(all, most_entries)) {
    graph = std::move(all);
    return;
  }
  std::stable_sort(terms.begin(), terms.end(), [](const TableTerm& a, const TableTerm& b) {
    const bool a_is_main = a.variables.size() < 2, b_is_main = b.variables.size() < 2;
    return a_is_main != b_is_main ? a_is_main : a.strength > b.strength;
  });
  for (const TableTerm& term : terms) {
    FactorGraph larger = graph;
    add(larger, term);
    if (is_cheap(larger, most_entries)) graph = std::move(larger);
  }
}

std::vector<double> LearnedTarget::believed_table(const Part& part) const {
  std::vector<double> table(static_cast<std::size_t>(part.surrogate->domain().num_configurations()));
  std::vector<unsigned char> is_known(table.size(), 0);
  part.surrogate->predict_all(table);
  add_possible(part, table, is_known);
  return table;
}

FactorGraph LearnedTarget::summable(double most_entries) const {
  FactorGraph graph = tables_;
  std::vector<TableTerm> terms;
  for (const Part& part : parts_) {
    if (part.surrogate->domain().num_configurations() <= kMostTableStates) {
      FactorGraph larger = graph;
      larger.add_factor(Factor::table_of_sums(part.scope, believed_table(part)));
      if (is_cheap(larger, most_entries)) {
        graph = std::move(larger);
        continue;
      }
    }
    const LearnedTerms* const learned = part.surrogate->terms();
    if (learned == nullptr) continue;
    terms.push_back({{}, {learned->constant}});
    for (const LearnedTerm& term : learned->terms) {
      std::vector<int> variables;
      for (const int place : term.scope) variables.push_back(part.scope[static_cast<std::size_t>(place)]);
      terms.push_back({std::move(variables), term.log_values, term.strength});
    }
  }
  add_affordable(graph, std::move(terms), most_entries);
  return graph;
}

}  // namespace treesample
