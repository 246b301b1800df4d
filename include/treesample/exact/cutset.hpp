// Exact sums over some joint states of a cutset: certified lower bounds where the whole model cannot be eliminated.
//
// When the variables of a cutset C are fixed to one joint state c, the rest of the model is small enough to be
// eliminated:
//
//   Z(c) = sum over all x with x_C = c of gamma_hat(x),        Z >= sum over the c in S of Z(c)
//
// for any set S of different joint states. Where the cutset has little entropy, the joint states of good configurations
// (samples, or the best ones found) have most of the mass: in a pedigree model that needs 2^43 bucket entries in all,
// 400 joint states of 38 variables, each in 2^24 entries, had two thirds of Z.
//
// Samples then only have to estimate the rest, Z - sum of Z(c): KnownPart in evaluate/bounded_importance.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "treesample/exact/elimination.hpp"
#include "treesample/math/log_bounds.hpp"
#include "treesample/model/approximation.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/space/limits.hpp"

namespace treesample {

struct Cutset {
  std::vector<int> variables;  // that are fixed, in the order in which they were chosen
  EliminationPlan rest;        // of one joint state: an order of all variables, in which the fixed ones cost nothing
};

struct CutsetOptions {
  double most_entries = 1e7;      // of the buckets of one joint state, summed
  int tries = 8;                  // choices, from different orders; the one with the least entropy is used
  std::uint64_t seed = 0;         // of the orders
  int threads = 1;                // that make them; the choice is the same for any number
  ShouldStop should_settle = {};  // ends with the best try so far; the first one is always made
  ShouldStop should_stop = {};    // ends that one too, with Error (kInterrupted)
};

// Fixes one variable after the other until the rest is small enough: each time the one that saves the most work
// relative to its entropy in `marginals`, which need not be exact. Legal for models with function factors. Throws Error
// (kArgument) unless there is one distribution per variable.
Cutset choose_cutset(const FactorGraph& graph, const Marginals& marginals, const CutsetOptions& options = {});

class CutsetSum {
 public:
  // Of the limits it uses `bytes` and `threads`: joint states are eliminated in parallel, each by one thread. Throws
  // Error: kArgument when a factor is a function, or the cutset is not one of this graph, kResource when the tables of
  // all threads do not fit.
  CutsetSum(const FactorGraph& graph, Cutset cutset, const Limits& limits = {});
  ~CutsetSum();
  CutsetSum(const CutsetSum&) = delete;
  CutsetSum& operator=(const CutsetSum&) = delete;

  [[nodiscard]] const Cutset& cutset() const;
  // Adds the joint states of these configurations that are not there yet, in this order. The observer is told the
  // certified lower bound of log Z after every few of them; its should_stop ends this with those added so far. The bits
  // are the same for any number of threads, unless it is ended early.
  void add(std::span<const Assignment> configurations, const Observer& observer = {});

  // The number of joint states, including those of mass 0.
  [[nodiscard]] std::size_t size() const;
  // Whether the joint state of x is among them.
  [[nodiscard]] bool holds(std::span<const int> x) const;
  // Log of their sum: certified bounds, including rounding, and the computed value. -inf while nothing was found.
  [[nodiscard]] LogBounds log_mass() const;
  [[nodiscard]] double estimate() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace treesample
