// The reward of definition 1: R_n(x_<=n) = sum of the factors that x_n completes. This is where a search spends its
// budget; for rewards that are evaluated at the same time see reward_queue.hpp.
//
// Factors are evaluated in a fixed order: tables, then functions with a declared cost, cheapest first, then the other
// functions. Nothing is evaluated after the first -inf. So an expensive function is not called if a cheaper factor
// already shows that x is impossible.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "treesample/error.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/space/budget.hpp"
#include "treesample/space/search_space.hpp"

namespace treesample {

struct AskedValue;

class Reward {
 public:
  // Keeps references to the graph, which must outlive it.
  Reward(const FactorGraph& graph, const SearchSpace& space);

  [[nodiscard]] int num_factors(int level) const { return first_[level + 1] - first_[level]; }
  // The most that a reward can cost, as far as costs are declared. A function without a declared cost counts as next to
  // nothing; a budget of seconds allows it as long as anything is left.
  [[nodiscard]] Spending price(int level) const {
    return {1, num_factors(level), declared_seconds_[level], static_cast<std::int64_t>(functions(level).size())};
  }

  // R_n at x, which holds a state for every variable on the path down to this level. Factors after the first -inf are
  // neither evaluated nor charged. A function is evaluated through the graph's queue if the queue has it, and called
  // otherwise. Throws kNumeric for NaN and +inf, and whatever the queue throws.
  double evaluate(int level, std::span<const int> x, Budget& budget);
  // The same, but returns none if the queue gives no answer; failure() is then its error, and a search ends with the
  // answer so far. Exceptions of called functions belong to the caller and pass through, except an Error with code
  // kInterrupted: a function that throws one asks the search to end.
  std::optional<double> try_evaluate(int level, std::span<const int> x, Budget& budget) {
    failure_.reset();
    const double sum = sum_up(level, x, budget);
    return failure_ ? std::nullopt : std::optional<double>(sum);
  }
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }
  // The sum of the magnitudes of the last evaluated reward's parts: of the sum of the tables and of each function. The
  // more it exceeds the magnitude of the reward, the more has cancelled. 0 without functions and for -inf.
  [[nodiscard]] double magnitude() const { return magnitude_; }

  // The sum of the tables, the first part of a reward. It stops at -inf and counts the factors that it evaluated.
  double table_sum(int level, std::span<const int> x, int& num_evaluated) const;
  [[nodiscard]] std::span<const int> functions(int level) const {
    return std::span(functions_).subspan(first_function_[level], first_function_[level + 1] - first_function_[level]);
  }
  // True if the queue evaluates this factor. It then pays once for the same states, while a function that is called is
  // paid for every time.
  [[nodiscard]] bool is_queued(int factor) const;
  // The states of a factor's scope at x; valid until the next call.
  std::span<const int> scope_states(int factor, std::span<const int> x);

 private:
  struct Term {
    const double* table = nullptr;  // null for a function
    int factor = 0;
    int first_stride = 0, end_stride = 0;  // range in strides_
  };
  void add_term(int factor);
  double table_value(const Term& term, std::span<const int> x) const {
    std::int64_t index = 0;
    for (int s = term.first_stride; s < term.end_stride; ++s) index += x[strides_[s].first] * strides_[s].second;
    return term.table[index];
  }
  double sum_up(int level, std::span<const int> x, Budget& budget);
  std::optional<AskedValue> try_ask(int factor, std::span<const int> x, Budget& budget);

  const FactorGraph* graph_;
  std::vector<Term> terms_;                            // grouped by level, in the order of evaluation
  std::vector<int> first_;                             // first term of each level
  std::vector<int> functions_;                         // factors, grouped by level
  std::vector<int> first_function_;                    // of each level
  std::vector<double> declared_seconds_;               // sum of the declared seconds, by level
  std::vector<std::pair<int, std::int64_t>> strides_;  // variable, stride in the table
  std::vector<int> states_;                            // arguments of a function factor
  std::optional<Error> failure_;
  double magnitude_ = 0.0;
};

}  // namespace treesample
