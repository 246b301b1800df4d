// log Z from values of functions that are there already: nothing is asked.
//
// The values teach a model as in a learned search (surrogate/learned_search.hpp). With A the mass of the configurations
// whose density is known, because every function was asked there,
//
//   log Z  is about  log(A + the learned mass of all others),
//
// and A is a certified lower bound of Z; exp(log A - log Z) is the share of the mass that was evaluated, by that
// estimate. The estimate has no error of its own: that takes samples from a known distribution, which a search keeps
// calls for, and values alone do not say how they were chosen. How far models that are drawn from what the values leave
// open differ is all they tell; it is too little where the terms that were learned cannot describe the function.
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
  int num_steps = 12;        // numbers of values that there is an estimate for, up to all of them
  double max_entries = 2e6;  // bucket entries of the elimination of a learned model
  std::uint64_t seed = 0;
};

struct ValueEstimate {
  struct Step {
    std::int64_t num_values = 0;  // the first of all
    double log_z = 0.0;
    std::optional<double> log_known = {};  // log A; none where it is not summed: `no_known` says why
  };
  std::vector<Step> steps = {};     // the last is that of all values
  bool is_exact = false;            // every configuration is known
  double spread = 0.0;              // standard deviation of log Z over models drawn from what the values leave open
  std::vector<int> num_terms = {};  // of the learned model: of 1 variable, of 2, ...
  std::string no_estimate = {};     // why there is none: then there are no steps
  std::string no_known = {};
};

// The graph's functions are not called. Values of the same states count once, the first. Ends early, with the steps so
// far and a reason, when it is asked to stop. Throws Error (kArgument) for a factor that is no function, or for states
// that its scope does not have.
ValueEstimate estimate_from_values(const FactorGraph& graph, std::span<const PaidValue> values,
                                   const ValueEstimateOptions& options = {}, const ShouldStop& should_stop = {});

}  // namespace treesample
