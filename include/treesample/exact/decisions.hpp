// Decisions under uncertainty: influence diagrams, solved exactly.
//
// Chance variables have tables whose product is their distribution given the decisions, utilities are tables that are
// added. Decisions are made one after the other, each knowing certain variables and everything that was known and
// decided before. With (p, u) the product of the tables and the sum of the utilities that contain a variable,
// variables are eliminated backwards in time:
//
//   chance     p' = sum over x of p         u' = sum over x of p u / p'
//   decision   p' = p                       u' = max over d of u          the best d, by all that u depends on
//
// The last u' is the largest expected utility, and the best choices are the policy.
// F. Jensen, F. V. Jensen, S. L. Dittmer: From influence diagrams to junction trees, UAI 1994.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "treesample/model/decision_model.hpp"
#include "treesample/reduce/evidence.hpp"

namespace treesample {

struct Policy {
  int decision = 0;
  std::vector<int> scope;   // of what was known, what matters
  std::vector<int> choice;  // the best state for each joint state of the scope; -1 where that is impossible
};

struct DecisionAnswer {
  double expected_utility = 0.0;
  double log_z = 0.0;  // of the chance variables: the logarithm of the probability of the evidence, in a network
  std::vector<Policy> policies;
};

// Throws Error: kArgument for functions, for unknown or repeated variables, for a decision that is known before it is
// made or on which something that is known before depends, and for evidence on decisions or that is impossible;
// kResource where a table takes more than so many bytes.
DecisionAnswer best_decisions(const DecisionModel& model, const Evidence& evidence = {},
                              std::size_t most_bytes = std::size_t{4} << 30);

// Limited memory: each decision knows its `known` and nothing else, not even what was decided before (S. L. Lauritzen
// and D. Nilsson: Representing and solving decision problems with limited information, Management Science 47, 2001).
// The best policies are then no longer found one after the other. Each is made the best answer to the others, in turn,
// from several starts; where the policies of all decisions but one are few, all of them are tried, which proves the
// best.
struct LimitedOptions {
  int num_starts = 20;  // the first one chooses all states alike
  double most_policies = 20'000;
  std::uint64_t seed = 0;
  std::size_t most_bytes = std::size_t{4} << 30;
};

struct LimitedAnswer {
  DecisionAnswer best;
  double upper = 0.0;  // no policies have a larger expected utility: those found, where all were tried, else those that
                       // remember everything, else infinity
  bool is_exact = false;
};

// Throws what best_decisions throws.
LimitedAnswer best_limited_decisions(const DecisionModel& model, const Evidence& evidence = {},
                                     const LimitedOptions& options = {});

}  // namespace treesample
