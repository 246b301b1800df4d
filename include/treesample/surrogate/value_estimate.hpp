// Estimates log Z from function values that are already known, without evaluating anything.
//
// A model is learned from the values as in a learned search (surrogate/learned_search.hpp). With A the mass of the
// configurations whose density is known, because every function was evaluated there,
//
//   log Z  is about  log(A + the learned mass of all others),
//
// and A is a certified lower bound of Z; exp(log A - log Z) is the share of the mass that was evaluated, according to
// that estimate. The estimate has no standard error. That would take samples from a known distribution, for which a
// search reserves calls; the values alone do not tell how they were chosen. The only substitute is the spread over
// models sampled from the posterior given the values, and it is too small if the learned terms cannot describe the
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
  std::vector<int> states;  // of the factor's scope
  double log_value = 0.0;
};

struct ValueEstimateOptions {
  int num_steps = 12;        // estimates from growing numbers of values, the last one from all of them
  double max_entries = 2e6;  // bucket entries of the elimination of a learned model
  std::uint64_t seed = 0;
};

struct ValueEstimate {
  struct Step {
    std::int64_t num_values = 0;  // the number of values that were used, from the first on
    double log_z = 0.0;
    std::optional<double> log_known = {};  // log A; none if it is not computed: `no_known` says why
  };
  std::vector<Step> steps = {};     // the last one is that of all values
  bool is_exact = false;            // true if every configuration is known
  double spread = 0.0;              // standard deviation of log Z over models sampled from the posterior
  std::vector<int> num_terms = {};  // in the learned model: terms of 1 variable, of 2, ...
  std::string no_estimate = {};     // why there is no estimate; there are then no steps
  std::string no_known = {};
};

// The graph's functions are not called. Of several values for the same states the first one counts. If it is asked to
// stop, it ends early with the steps so far and a reason. Throws Error (kArgument) for a factor that is not a function,
// and for states that its scope does not have.
ValueEstimate estimate_from_values(const FactorGraph& graph, std::span<const PaidValue> values,
                                   const ValueEstimateOptions& options = {}, const ShouldStop& should_stop = {});

}  // namespace treesample
