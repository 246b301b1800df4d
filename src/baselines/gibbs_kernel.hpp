// The conditional distributions from which a Gibbs sweep draws.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "treesample/math/random.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/space/budget.hpp"

namespace treesample {

class GibbsKernel {
 public:
  // Keeps a reference to the graph, which must outlive it.
  explicit GibbsKernel(const FactorGraph& graph);

  // P(x_v = a | the other states of x) for each a; uniform if it is 0 for all of them. The state of v in x is not used.
  // Valid until the next call.
  std::span<const double> conditional(int variable, std::span<const int> x);

  // Draws every variable of x in turn from its conditional. Returns log gamma_hat of the new x.
  double sweep(std::span<int> x, Random& random);

  [[nodiscard]] int num_factors(int variable) const { return first_[variable + 1] - first_[variable]; }
  // What all factor values so far have cost.
  [[nodiscard]] const Spending& spent() const { return spent_; }
  [[nodiscard]] int num_functions(int variable) const;

 private:
  // A factor as seen from one of its variables.
  struct Term {
    const double* table = nullptr;  // null for a function
    int factor = 0;
    bool is_last = false;     // true if no variable of the scope is updated later in a sweep
    int position = 0;         // of the variable in the scope
    std::int64_t stride = 0;  // of the variable in the table
    std::vector<std::pair<int, std::int64_t>> others;
  };
  void add_term(const Term& term, std::span<const int> x);

  const FactorGraph* graph_;
  std::vector<Term> terms_;  // grouped by variable; those with is_last first
  std::vector<int> first_;   // first term of each variable
  double log_constant_ = 0.0;
  Budget calls_{EvaluationQueue::kUnlimited, BudgetUnit::kCall};  // knows which are new
  Spending spent_;
  std::vector<double> log_weights_;
  std::vector<double> log_rewards_;  // used only for terms with is_last
  std::vector<double> probabilities_;
  std::vector<int> states_;  // arguments of a function factor
};

}  // namespace treesample
