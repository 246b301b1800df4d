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
      term.first_stride = static_cast<int>(strides_.size());
      if (factor.is_table()) {
        term.table = factor.log_values().data();
        std::int64_t stride = 1;
        for (auto v = factor.scope().rbegin(); v != factor.scope().rend(); ++v) {
          strides_.emplace_back(*v, stride);
          stride *= graph.num_states(*v);
        }
      }
      term.end_stride = static_cast<int>(strides_.size());
      terms_.push_back(term);
    }
  }
  first_.push_back(static_cast<int>(terms_.size()));
}

double Reward::evaluate(int level, std::span<const int> x, Budget& budget) {
  double sum = 0.0;
  int num_evaluated = 0;
  for (int t = first_[level]; t < first_[level + 1] && sum != kNegInf; ++t) {
    sum += terms_[t].table != nullptr ? table_value(terms_[t], x) : function_value(terms_[t], x);
    ++num_evaluated;
  }
  budget.spend(num_evaluated);
  return sum;
}

double Reward::function_value(const Term& term, std::span<const int> x) {
  const Factor& factor = graph_->factor(term.factor);
  states_.clear();
  for (const int v : factor.scope()) states_.push_back(x[v]);
  return checked_function_value(factor, term.factor, states_);
}

}  // namespace treesample
