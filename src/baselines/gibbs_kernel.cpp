#include "baselines/gibbs_kernel.hpp"

#include <algorithm>
#include <iterator>

#include "model/table_index.hpp"
#include "space/caller.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// A value that the declared maximum does not allow is no mistake of the caller of Gibbs sampling.
AskedValue asked(const FactorGraph& graph, int factor, std::span<const int> states, Budget& calls) {
  try {
    return ask_now(graph, factor, states, calls);
  } catch (const Error& error) {
    throw Error(error.code() == ErrorCode::kArgument ? ErrorCode::kNumeric : error.code(), error.what());
  }
}

}  // namespace

GibbsKernel::GibbsKernel(const FactorGraph& graph) : graph_(&graph) {
  std::vector<std::vector<Term>> terms_of(graph.num_variables());
  for (int m = 0; m < graph.num_factors(); ++m) {
    const Factor& factor = graph.factor(m);
    const std::vector<int>& scope = factor.scope();
    if (scope.empty()) {
      log_constant_ += factor.log_values()[0];
      continue;
    }
    const int last = *std::max_element(scope.begin(), scope.end());
    const std::vector<std::size_t> strides = table_strides(states_of_scope(graph, scope));
    for (std::size_t i = 0; i < scope.size(); ++i) {
      Term term{.table = factor.is_table() ? factor.log_values().data() : nullptr,
                .factor = m,
                .is_last = scope[i] == last,
                .position = static_cast<int>(i),
                .stride = static_cast<std::int64_t>(strides[i]),
                .others = {}};
      for (std::size_t j = 0; j < scope.size(); ++j) {
        if (j != i) term.others.emplace_back(scope[j], strides[j]);
      }
      terms_of[scope[i]].push_back(std::move(term));
    }
  }
  for (std::vector<Term>& terms : terms_of) {
    std::stable_partition(terms.begin(), terms.end(), [](const Term& term) { return term.is_last; });
    first_.push_back(static_cast<int>(terms_.size()));
    std::move(terms.begin(), terms.end(), std::back_inserter(terms_));
  }
  first_.push_back(static_cast<int>(terms_.size()));
}

std::span<const double> GibbsKernel::conditional(int variable, std::span<const int> x) {
  const int num_states = graph_->num_states(variable);
  log_weights_.assign(num_states, 0.0);
  int t = first_[variable];
  for (; t < first_[variable + 1] && terms_[t].is_last; ++t) add_term(terms_[t], x);
  log_rewards_ = log_weights_;
  for (; t < first_[variable + 1]; ++t) add_term(terms_[t], x);
  probabilities_.resize(num_states);
  if (softmax(log_weights_, probabilities_) == kNegInf) {
    std::fill(probabilities_.begin(), probabilities_.end(), 1.0 / num_states);
  }
  return probabilities_;
}

// Adds the factor's value at each state that is still possible.
void GibbsKernel::add_term(const Term& term, std::span<const int> x) {
  const double* entry = term.table;
  if (entry != nullptr) {
    for (const auto& [other, stride] : term.others) entry += x[other] * stride;
  } else {
    states_.clear();
    for (const int v : graph_->factor(term.factor).scope()) states_.push_back(x[v]);
  }
  for (std::size_t a = 0; a < log_weights_.size(); ++a) {
    if (log_weights_[a] == kNegInf) continue;
    if (entry != nullptr) {
      ++spent_.factor_evaluations;
      log_weights_[a] += entry[static_cast<std::int64_t>(a) * term.stride];
    } else {
      states_[term.position] = static_cast<int>(a);
      const AskedValue paid = asked(*graph_, term.factor, states_, calls_);
      spent_ += paid.spent;
      log_weights_[a] += paid.log_value;
    }
  }
}

int GibbsKernel::num_functions(int variable) const {
  return static_cast<int>(std::count_if(terms_.begin() + first_[variable], terms_.begin() + first_[variable + 1],
                                        [](const Term& term) { return term.table == nullptr; }));
}

double GibbsKernel::sweep(std::span<int> x, Random& random) {
  // A factor's value is final when the last of its variables has been drawn. So the density is the sum of the values at
  // these moments.
  double log_density = log_constant_;
  for (std::size_t v = 0; v < x.size(); ++v) {
    x[v] = random.categorical(conditional(static_cast<int>(v), x));
    log_density += log_rewards_[x[v]];
  }
  return log_density;
}

}  // namespace treesample
