// Clauses as factors: at least one of some literals holds (Factor::clause).
//
// They are counted, propagated, observed, read and written as literals. Whatever else reads tables gets the table of a
// clause where it is small (Factor::has_table), and an Error that says so where it is not.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "treesample/model/factor_graph.hpp"

namespace treesample {

// 0 or -inf at a full assignment.
double clause_value(const Factor& clause, std::span<const int> x);

// True if a clause of the graph is too long for a table, so that only counting and propagation can work with it.
bool has_long_clause(const FactorGraph& graph);

// Makes clauses. Those with the same literals over different variables share them, and their table: a formula of 1e5
// clauses of three literals has at most eight of each.
class ClauseMaker {
 public:
  // As Factor::clause.
  Factor make(std::vector<int> scope, const std::vector<ClauseLiteral>& literals,
              const std::vector<int>& num_states = {});

 private:
  std::map<std::vector<int>, Factor> known_;  // by literals and numbers of states
  std::vector<int> key_;
};

}  // namespace treesample
