// log Z from function values that are known already: nothing is evaluated.
//
// A model is learned from the values as in a learned search (surrogate/learned_search.hpp). With A the mass of the
// configurations whose density is known, because every function was evaluated there,
//
//   log Z  is about  log(A + the learned mass of all others),
//
// and A is a certified lower bound of Z; exp(log A - log Z) is the share of the mass that was evaluated, according to
// that estimate. The estimate has no standard error: that takes samples from a known distribution, for which a search
// reserves calls, while the values alone do not say how they were chosen. All there is instead is the spread over
// models sampled from the posterior given the values, which is too small where the learned terms cannot describe the
// function.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "treesample/model/factor_graph.hpp"
#include "treesample/stop.hpp"

namespace treesample {

struct PaidValue {
  int factor = 0;
  std::vector<int> states;  // of its scope
  double log_value = 0.0;
};

struct ValueEstimateOptions {
  int num_steps = 12;        // estimates over growing numbers of values, the last over all of them
  double max_entries = 2e6;  // bucket entries of the elimination of a learned model
  std::uint64_t seed = 0;
};

struct ValueEstimate {
  struct Step {
    std::int64_t num_values = 0;  // that were used: the first ones
    double log_z = 0.0;
    std::optional<double> log_known = {};  // log A; none where it is not computed: `no_known` says why
  };
  std::vector<Step> steps = {};     // the last is that of all values
  bool is_exact = false;            // every configuration is known
  double spread = 0.0;              // standard deviation of log Z over models sampled from the posterior
  std::vector<int> num_terms = {};  // of the learned model: of 1 variable, of 2, ...
  std::string no_estimate = {};     // why there is no estimate; then there are no steps
  std::string no_known = {};
};

// The graph's functions are not called. Of several values for the same states the first one counts. Ends early, with
// the steps so far and a reason, when it is asked to stop. Throws Error (kArgument) for a factor that is not a
// function, and for states that its scope does not have.
ValueEstimate estimate_from_values(const FactorGraph& graph, std::span<const PaidValue> values,
                                   const ValueEstimateOptions& options = {}, const ShouldStop& should_stop = {});

}  // namespace treesample
