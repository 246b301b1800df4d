// The most probable configuration by max-product elimination, with a certificate.
//
// Variables are removed in the order of exact/elimination.hpp, with the maximum in place of the sum: with sep(v) the
// neighbours that v has when it is removed and in(v) the remaining factors and messages that contain v,
//
//   bucket   b_v(x_v, x_sep(v)) = sum of in(v)
//   message  m_v(x_sep(v))      = max over x_v of b_v - s_v,      s_v = the largest of these maxima
//   max over x of log gamma_hat = sum of all s_v
//
// and, from the last removed variable to the first, x_v = the first state with the largest b_v(., x_sep(v)).
//
// Certificate. In binary arithmetic with rounding unit u, a bucket with k inputs whose finite entries add up to at most
// R in magnitude is wrong by at most (k + 3) u R: k additions and the subtraction of s_v, each of a partial sum of at
// most R, with room for the second order. These errors add up over the buckets. The s_v are added with compensated
// summation. Log-values, and the numbers that they are logarithms of, are known to one unit in the last place: a factor
// is off by at most another 2 u (1 + its largest magnitude), both in the maximum and in the density of the
// configuration found. So the sum of all s_v plus that error bounds the density of every configuration, and the
// configuration found is worse than the best one by at most the difference between this bound and its own density,
// however many ties there are.
#pragma once

#include <optional>

#include "treesample/exact/elimination.hpp"
#include "treesample/executor.hpp"
#include "treesample/model/approximation.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

struct MostProbable {
  Configuration configuration;
  double log_upper = 0.0;  // certified: no configuration has a larger log density
  double gap = 0.0;        // certified: no configuration is better than this one by more

  // Optimal up to rounding: nothing is better by more than the gap, which is small. Where others come as close, as in a
  // tie, it is not known which of them is the best.
  [[nodiscard]] bool is_optimal() const { return gap <= kTolerance; }
  static constexpr double kTolerance = 1e-9;  // in nats
};

// None when Z = 0. Messages are kept until the end: the memory is EliminationPlan::sample_bytes. With slices the best
// of all of them is found, and the upper bounds of the slices together hold for all configurations. Throws Error:
// kArgument when a factor is a function, kResource before any work when the messages do not fit, kInterrupted when
// should_stop said so, kNumeric when the factors are so large that their sums overflow. An executor computes slices, to
// the same bits.
std::optional<MostProbable> most_probable(const FactorGraph& graph, const Limits& limits, const EliminationPlan& plan,
                                          const Observer& observer = {}, Executor* executor = nullptr);
// Makes a plan first, with slices where the messages do not fit and options.may_slice is set.
std::optional<MostProbable> most_probable(const FactorGraph& graph, const Limits& limits = {},
                                          const EliminationOptions& options = {}, const Observer& observer = {});

}  // namespace treesample
