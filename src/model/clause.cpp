#include "model/clause.hpp"

#include <algorithm>
#include <utility>

#include "treesample/math/log_domain.hpp"

namespace treesample {

double clause_value(const Factor& clause, std::span<const int> x) {
  const std::vector<ClauseLiteral>& literals = clause.literals();
  for (std::size_t i = 0; i < literals.size(); ++i) {
    if (literals[i].holds(x[clause.scope()[i]])) return 0.0;
  }
  return kNegInf;
}

bool has_long_clause(const FactorGraph& graph) {
  return std::any_of(graph.factors().begin(), graph.factors().end(),
                     [](const Factor& factor) { return factor.is_clause() && !factor.has_table(); });
}

Factor ClauseMaker::make(std::vector<int> scope, const std::vector<ClauseLiteral>& literals,
                         const std::vector<int>& num_states) {
  constexpr std::size_t kShort = 10;  // longer ones rarely have equal literals
  if (literals.empty() || literals.size() > kShort) return Factor::clause(std::move(scope), literals, num_states);
  key_.clear();
  for (const ClauseLiteral& literal : literals) key_.push_back(literal.is_state ? literal.state : ~literal.state);
  key_.insert(key_.end(), num_states.begin(), num_states.end());
  const auto known = known_.find(key_);
  if (known != known_.end()) return known->second.with_scope(std::move(scope));
  return known_.emplace(key_, Factor::clause(std::move(scope), literals, num_states)).first->second;
}

}  // namespace treesample
