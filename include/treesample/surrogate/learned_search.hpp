// For functions over many variables: a few configurations are evaluated, and a model learned from them chooses the next
// ones.
//
// One evaluation of a function over all variables yields one of very many numbers. The search evaluates complete
// configurations, learns each function from the values that it has paid for (surrogate/learned_function.hpp), and draws
// the next configurations
//
//   60 %  from P_X outside the evaluated ones,   P_X = true values where evaluated, learned elsewhere
//   30 %  from the square root of the learned model, which is less sure of itself,
//   10 %  uniformly
//
// (surrogate/learned_approximation.hpp). It fits the model again whenever the number of values has grown by a sixth. Of
// the learned terms it uses those with the largest effects, as many as elimination can handle, so that P_X is
// normalised exactly.
//
// The last tenth of the calls is kept for the error of log Z and of the marginals: with A the sum over evaluated
// configurations, S the learned model, E the sum of exp(S) over all others and q the mixture above,
//
//   Z = A + E + E_q[(gamma_hat(x) - exp(S(x))) / q(x)].
//
// The model then learns from these configurations as well. Tables of the model are known and stay as they are.
// Functions whose scopes have few states are learned as tables, with the true values where they were evaluated.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "treesample/model/approximation.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/space/answer_order.hpp"
#include "treesample/space/limits.hpp"
#include "treesample/surrogate/learned_approximation.hpp"
#include "treesample/surrogate/sampled_errors.hpp"

namespace treesample {

struct LearnedSearchOptions {
  std::uint64_t seed = 0;
  AnswerOrder answer_order = AnswerOrder::kArrival;
  double error_share = 0.1;  // share of the calls, or of the time if calls have no limit; 0: no errors
  double confidence = 0.95;  // confidence of the interval
  double max_entries = 2e6;  // bucket entries of the elimination of a learned model
  bool wants_best = false;   // true if only the most probable configuration is wanted

  // Throws Error (kArgument) naming the field, its value and what is allowed.
  void validate() const;
};

struct LearnedReport : RunReport {
  double estimate = 0.0;                     // of log Z, from samples if there are any
  std::optional<SampledErrors> errors = {};  // computed with P_X before it learned from these samples
  std::vector<int> num_terms = {};           // in the learned model: terms of 1 variable, of 2, ...
  int width = 0;                             // of its elimination
  std::int64_t num_asked = 0;                // configurations that were evaluated
  std::int64_t num_learned = 0;              // how often the model was fitted
  std::vector<std::pair<std::int64_t, double>> best_by_calls = {};  // calls and log density, at each improvement
};

struct LearnedResult {
  LearnedReport report;
  std::shared_ptr<const LearnedApproximation> approximation;  // null if nothing possible was found
  std::optional<Configuration> best;                          // the best of the evaluated configurations
  Marginals marginals;             // of the approximation; if the bounds are exact, of the evaluated configurations
  std::optional<double> log_most;  // certified: no configuration has a larger log density
  double best_error = 0.0;         // the rounding of the log density of `best`
};

// If learned_search can take the model (elimination can handle its tables), and it has a function with more joint
// states than this many calls can evaluate, returns that number of joint states.
std::optional<double> states_to_learn(const FactorGraph& graph, std::int64_t calls);

// Ends early if everything was evaluated; log Z is then exact. Of the limits, it uses budget, unit, seconds and bytes.
// Throws Error (kArgument) if even the tables of the model take more than max_entries.
LearnedResult learned_search(const FactorGraph& graph, const Limits& limits, const LearnedSearchOptions& options = {},
                             const Observer& observer = {});

}  // namespace treesample
