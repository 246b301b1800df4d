#include "treesample/model/reward.hpp"

#include "treesample/math/log_domain.hpp"

namespace treesample {

Reward::Reward(const FactorGraph& graph, const SearchSpace& space) : graph_(&graph) {
  for (const Level& level : space.levels) {
    first_.push_back(static_cast<int>(terms_.size()));
    for (const int m : level.factors) {
      const Factor& factor = graph.factor(m);
      Term term;
      term.factor = m;
      if (factor.is_table()) {
        term.table = factor.log_values().data();
        std::int64_t stride = 1;
        for (auto v = factor.scope().rbegin(); v != factor.scope().rend(); ++v) {
          term.strides.emplace_back(*v, stride);
          stride *= graph.num_states(*v);
        }
      }
      terms_.push_back(std::move(term));
    }
  }
  first_.push_back(static_cast<int>(terms_.size()));
}

double Reward::evaluate(int level, std::span<const int> x, Budget& budget) {
  double sum = 0.0;
  int num_evaluated = 0;
  for (int t = first_[level]; t < first_[level + 1] && sum != kNegInf; ++t) {
    sum += term_value(terms_[t], x);
    ++num_evaluated;
  }
  budget.spend(num_evaluated);
  return sum;
}

double Reward::term_value(const Term& term, std::span<const int> x) {
  if (term.table != nullptr) {
    std::int64_t index = 0;
    for (const auto& [variable, stride] : term.strides) index += x[variable] * stride;
    return term.table[index];
  }
  const Factor& factor = graph_->factor(term.factor);
  states_.clear();
  for (const int v : factor.scope()) states_.push_back(x[v]);
  return checked_function_value(factor, term.factor, states_);
}

}  // namespace treesample
