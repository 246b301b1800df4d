// Functions that are monotone: a call with all undecided variables at their best, and one with all at their worst,
// bound a whole box of configurations.
//
//   Z = sum over boxes B of  mass(B) E_B[exp f],        mass(B) = sum over x in B of exp(tables)
//
// With f(worst corner) <= f <= f(best corner) in each box, L and U are sums over boxes of known numbers. The box with
// the largest mass(B) (exp(upper) - exp(lower)) is treated next. Its corners are evaluated if a guess from earlier
// values predicts that this settles much of it; otherwise the box is cut in two (docs/methods/monotone.md). Values that
// follow from earlier ones by monotonicity are never evaluated. Bounds are certified if the functions are monotone as
// declared (Factor::monotone), which is checked on every value that arrives.
//
// The last share of the calls can be used for samples of the mass between L and U:
//
//   Z = L + (U - L) E[z],      z in [0, 1]:  a box by its gap, x by the tables in it, z = (exp f(x) - l) / (u - l)
//
// Limits of the mean hold at a stated confidence, at whatever moment sampling ends (evaluate/betting.hpp).
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

namespace treesample {

struct BoxSearchOptions {
  std::uint64_t seed = 0;
  AnswerOrder answer_order = AnswerOrder::kSubmission;
  double sample_share = 0.5;  // share of the calls for samples, or of the time if calls have no limit
  double confidence = 0.95;   // of the interval from samples

  // Throws Error (kArgument) naming the field, its value and what is allowed.
  void validate() const;
};

struct BoxSamples {
  double log_z = 0.0;
  LogBounds interval;  // of log Z, at `confidence`; within the certified bounds
  double confidence = 0.0;
  // Standard error of log_z, by the delta method, and at least the change that one more sample could cause. +inf if
  // that is more than a tenth of Z; the error is then unknown.
  double std_error = 0.0;
  std::int64_t num_samples = 0;
  std::int64_t num_asked = 0;  // samples that took a call; the values of the other samples were known
};

struct BoxReport : RunReport {
  double estimate = 0.0;  // of log Z: from samples if there are any, otherwise the middle of the bounds
  std::optional<BoxSamples> samples = {};
  std::int64_t num_boxes = 0, num_decided = 0;
  double noise = 0.0;  // nats by which rounding makes values contradict the declaration; the bounds allow for it
};

struct BoxResult {
  BoxReport report;
  std::shared_ptr<const Approximation> approximation;  // null while nothing is known, and if Z = 0
  Marginals marginals;                                 // of the approximation; empty if there is none
  std::vector<double> marginal_errors;                 // certified, by variable: no probability is off by more
  std::optional<Configuration> best;                   // the best of the configurations whose density is known
  double log_most = 0.0;                               // certified: no configuration has a larger log density
};

// The reason why box_search cannot be used. Empty if it can: functions are monotone and have at most 1024 states in
// total, and elimination can handle the tables.
std::string box_search_obstacle(const FactorGraph& graph);

// Ends early if everything is decided, or once log U - log L is at most Limits::gap. Of the limits, it uses budget,
// unit, seconds, bytes and gap. Throws Error (kArgument) for a model with an obstacle, and, naming both configurations,
// for a function whose values show that it is not monotone.
BoxResult box_search(const FactorGraph& graph, const Limits& limits, const BoxSearchOptions& options = {},
                     const Observer& observer = {});

}  // namespace treesample
