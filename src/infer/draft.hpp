// An answer in the making: in terms of the reduced model that the methods see, and with what only they need.
#pragma once

#include <memory>
#include <string>

#include "treesample/infer/answer.hpp"
#include "treesample/math/log_bounds.hpp"
#include "treesample/reduce/summed_model.hpp"
#include "treesample/search/search_approximation.hpp"

namespace treesample {

struct Draft : Answer {
  bool has_importance = false;  // the approximation covers the support: importance sampling makes sense
  std::shared_ptr<const SearchApproximation> exact_sampler;  // samples are drawn from it by rejection; may be null
  std::shared_ptr<const SummedModel> summed;                 // what exact_sampler samples; null: the whole model

  // Certified bounds, and an estimate that lies within them. Throws kNumeric when they contradict each other.
  void set_log_z(double estimate, const LogBounds& bounds);
  // A point estimate is never alone: bounds by one look at each factor where the method has none.
  void add_first_bounds(const FactorGraph& graph);
  // The model that was answered for has a log Z this far off.
  void widen(double log_error);
  void set_exact_marginals(Marginals exact);
  // Quotients of sums whose rounding is that of log Z, which is set: exact where that is.
  void set_solved_marginals(Marginals solved, const char* by);
  // Of the variables that were not summed out; there are marginals of all.
  void set_exact_marginals_left(const Marginals& exact);
  // By samples of this kind, with their errors where these are known.
  void set_sampled_marginals(BoundedImportance sampled, const std::string& kind);
  // Where it is better than what there is.
  void offer_best(const Configuration& candidate);
};

inline constexpr const char* kGuesses = "guesses, ";  // how marginals whose error is not known begin

// Of a search with programs that is not exact: what share of Z was evaluated, by the best estimate of log Z that there
// is, in the place of P_X's own opinion; and that the marginals are P_X's.
void judge_program_answer(Draft& draft);

// Importance sampling from a P_X that hardly leaves what was evaluated cannot show what is missing.
void judge_importance(Draft& draft);

}  // namespace treesample
