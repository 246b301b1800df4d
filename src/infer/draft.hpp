// An answer in the making: in terms of the reduced model that the methods see, together with what only they need.
#pragma once

#include <memory>
#include <string>

#include "treesample/infer/answer.hpp"
#include "treesample/math/log_bounds.hpp"
#include "treesample/reduce/summed_model.hpp"
#include "treesample/search/search_approximation.hpp"

namespace treesample {

struct Draft : Answer {
  bool has_importance = false;  // the approximation covers the support, so importance sampling makes sense
  std::shared_ptr<const SearchApproximation> exact_sampler;  // samples are drawn from it by rejection; may be null
  std::shared_ptr<const SummedModel> summed;                 // the model of exact_sampler; null: the whole model

  // Sets certified bounds and an estimate within them. Throws kNumeric when they contradict each other.
  void set_log_z(double estimate, const LogBounds& bounds);
  // Adds bounds from one look at each factor where the method has none, so that an estimate is never alone.
  void add_first_bounds(const FactorGraph& graph);
  // Widens the bounds: the log Z of the model that was solved may be this far off. Where they are too wide for `exact`
  // then, nothing else is called exact either.
  void widen(double log_error);
  // log Z of the original model is at most this.
  void take_upper_bound(double log_upper);
  // The density of the best configuration is a lower bound of log Z; `graph` is the model that was solved, whose
  // densities may be this far off.
  void take_best_as_bound(const FactorGraph& graph, double log_error);
  // Certified bounds hold with any confidence: intervals by samples are cut off at them, and where they make log Z
  // exact they take the intervals' place. To be called once the bounds are final.
  void cut_intervals();
  void set_exact_marginals(Marginals exact);
  // Quotients of sums: exact where log Z is, which must be set, and where these sums, which bound log Z by themselves,
  // are. Another method may know log Z better than they do.
  void set_solved_marginals(Marginals solved, const LogBounds& of_sums, const char* by);
  // Sets the marginals of the variables that were not summed out, and of the barren variables that follow from these.
  // The others keep theirs; false, and nothing is changed, where they have none.
  bool set_exact_marginals_left(const Marginals& exact);
  // From samples of this kind, with their errors where these are known.
  void set_sampled_marginals(BoundedImportance sampled, const std::string& kind);
  // Takes the configuration if it is better than the current one.
  void offer_best(const Configuration& candidate);

 private:
  void doubt_what_was_exact(double log_error);
};

inline constexpr const char* kExactMarginals = "exact";  // how marginals_from begins for those that are
inline constexpr const char* kGuesses = "guesses, ";     // how marginals whose error is not known begin

// For a search with programs that is not exact: sets the share of Z that was evaluated, by the best available estimate
// of log Z instead of P_X's own, and says that the marginals are those of P_X.
void judge_program_answer(Draft& draft);

// Importance sampling from a P_X that hardly leaves the evaluated configurations cannot show what is missing.
void judge_importance(Draft& draft);

}  // namespace treesample
