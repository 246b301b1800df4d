// Functions over many variables: a few configurations are asked, and what they teach says which to ask next.
//
// One evaluation of a function over all variables tells one number of very many. The search asks complete
// configurations, learns each function from the values that it has paid for (surrogate/learned_function.hpp), and draws
// the next configurations
//
//   60 %  from P_X outside of what was asked,   P_X = true values where asked, learned elsewhere
//   30 %  from the square root of the learned model, which is less sure of itself,
//   10 %  uniformly
//
// (surrogate/learned_approximation.hpp). It learns anew whenever there is a sixth more to learn from. Of the learned
// terms those with the largest effects are used that elimination can take; so P_X is normalised exactly.
//
// The last share of the calls, a tenth, is kept for the error of log Z and of the marginals: with q a mixture of P_X
// elsewhere and of the square root,
//
//   Z = (sum of what was asked) + E_q[gamma_hat(x) / q(x)].
//
// These configurations are then learned from as well. Tables of the model are known and stay as they are. Functions
// whose scopes have few states are learned as tables, true where they were asked.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "treesample/model/approximation.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/space/limits.hpp"
#include "treesample/space/reward_queue.hpp"
#include "treesample/surrogate/learned_approximation.hpp"

namespace treesample {

struct LearnedSearchOptions {
  std::uint64_t seed = 0;
  AnswerOrder answer_order = AnswerOrder::kArrival;
  double error_share = 0.1;  // of the calls, or of the time where these have no limit; 0: no errors
  double confidence = 0.95;  // of the interval
  double max_entries = 2e6;  // bucket entries of the elimination of a learned model
  bool wants_best = false;   // the most probable configuration alone is looked for

  // Throws Error (kArgument) naming the field, its value and what is allowed.
  void validate() const;
};

// What samples of P_X with true values say about log Z and the marginals.
struct SampledErrors {
  double log_z = 0.0;
  double std_error = 0.0;  // of log_z, by the delta method
  LogBounds interval;      // of log_z, by Student's distribution: it holds about as often as it says
  double confidence = 0.0;
  double ess = 0.0;  // effective number of the samples: (sum w)^2 / sum w^2 with w = gamma_hat / q
  std::int64_t num_samples = 0;
  Marginals marginals;
  std::vector<double> marginal_errors;  // by variable, the largest standard error of its probabilities
  std::string no_error = {};            // why the errors are none; empty when they are
};
// Beyond these there are no errors, only guesses: the relative standard error of Z; and the share of Z that samples
// stand for of which less than this share, or fewer than kFewestEffectiveSamples (evaluate/importance.hpp), are
// effective.
inline constexpr double kMostRelativeError = 0.5, kShareThatMatters = 0.05, kLeastEffectiveSamplesShare = 0.3;

struct LearnedReport : RunReport {
  double estimate = 0.0;                     // of log Z, by samples where there are some
  std::optional<SampledErrors> errors = {};  // made with P_X before it learned from these samples too
  std::vector<int> num_terms = {};           // of the learned model: of 1 variable, of 2, ...
  int width = 0;                             // of its elimination
  std::int64_t num_asked = 0;                // configurations
  std::int64_t num_learned = 0;              // times that it learned
  std::vector<std::pair<std::int64_t, double>> best_by_calls = {};  // calls, log density: whenever it got better
};

struct LearnedResult {
  LearnedReport report;
  std::shared_ptr<const LearnedApproximation> approximation;  // null when nothing possible was found
  std::optional<Configuration> best;                          // of those that were asked
  Marginals marginals;                                        // of the approximation
  std::optional<double> log_most;                             // certified: no configuration has a larger log density
};

// Whether elimination can take the tables of the model, which is what learned_search needs.
bool can_learn(const FactorGraph& graph, const LearnedSearchOptions& options = {});

// Ends early where everything was asked: log Z is then exact. Of the limits it uses budget, unit, seconds and bytes.
// Throws Error (kArgument) when the tables of the model alone take more than max_entries.
LearnedResult learned_search(const FactorGraph& graph, const Limits& limits, const LearnedSearchOptions& options = {},
                             const Observer& observer = {});

}  // namespace treesample
