// A run over a black box (blackbox/black_box.hpp): asks what it proposes, tells it the values, and keeps the last calls
// for errors.
//
// With A the sum over evaluated configurations, S the guess elsewhere, E the sum of exp(S) there, and q a mixture of
// P_X (60 %), its square root (30 %) and the uniform distribution (10 %), all outside the evaluated configurations,
//
//   Z = A + E + E_q[(gamma_hat(x) - exp(S(x))) / q(x)]
//
// whatever was guessed. The errors are those of a learned search (surrogate/sampled_errors.hpp).
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "treesample/blackbox/black_box.hpp"
#include "treesample/space/answer_order.hpp"
#include "treesample/space/limits.hpp"

namespace treesample {

struct BlackBoxSearchOptions {
  BlackBoxOptions box;
  AnswerOrder answer_order = AnswerOrder::kArrival;
  double error_share = 0.1;  // of the calls; 0: no errors
  double confidence = 0.95;
};

struct BlackBoxReport : RunReport {
  double estimate = 0.0;                     // of log Z, by samples where there are some
  std::optional<SampledErrors> errors = {};  // computed with P_X before it learned from these samples
  std::int64_t num_asked = 0;                // configurations
  std::int64_t num_known = 0;                // values that were known without being asked for, and told first
  bool has_repeated = false;                 // something was evaluated again, to look for noise
  std::vector<std::pair<std::int64_t, double>> best_by_calls = {};  // calls, log density: whenever it got better
};

struct BlackBoxResult {
  BlackBoxReport report;
  BlackBoxAnswer answer;
  std::optional<Configuration> best;  // with the density that was evaluated
  std::optional<double> log_most;     // certified: no configuration has a larger log density
  double best_error = 0.0;            // the rounding of the log density of `best`
};

// Of the limits it uses budget, unit and seconds. Ends early when everything was evaluated: log Z is then exact.
BlackBoxResult black_box_search(const FactorGraph& graph, const Limits& limits,
                                const BlackBoxSearchOptions& options = {}, const Observer& observer = {});

}  // namespace treesample
