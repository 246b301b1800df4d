// How Z depends on every entry of every table: one pass up and one down the buckets of elimination.
//
// Z is linear in each entry theta = exp(psi_m(x_S)) of a table, and
//
//   dZ / dtheta = the sum over all x that agree with x_S of the product of all other factors,
//
// whatever theta is, even 0. With the buckets of exact/elimination.hpp, in(v) their inputs and o_v the message to the
// separator of v from everything that is neither v nor below v,
//
//   up      m_v(x_sep)        = log sum over x_v of exp sum of in(v)
//   down    o_c(x_sep(c))     = log sum over the rest of v's bucket of exp(o_v + sum of in(v) without m_c)
//   entry   log dZ / dtheta   = log sum over the rest of v's bucket of exp(o_v + sum of in(v) without psi_m)
//
// so that a bucket with k inputs is walked through k times. There is no division, so zeros need no special care.
#pragma once

#include <vector>

#include "treesample/exact/elimination.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/reduce/evidence.hpp"
#include "treesample/space/limits.hpp"

namespace treesample {

struct TableDerivatives {
  double log_z = 0.0;
  // [factor][entry]: log of dZ / dtheta; -inf where Z does not depend on the entry, for example where evidence excludes
  // it.
  std::vector<std::vector<double>> log_derivatives;
};

// The derivatives of the model given the evidence; the tables are those of the whole model. Throws Error: kArgument
// when a factor is a function, kResource before any work when the messages do not fit, kInterrupted when should_stop
// said so.
TableDerivatives table_derivatives(const FactorGraph& graph, const Evidence& evidence, const Limits& limits,
                                   const EliminationPlan& plan, const Observer& observer = {});
// Makes a plan first.
TableDerivatives table_derivatives(const FactorGraph& graph, const Evidence& evidence = {}, const Limits& limits = {},
                                   const EliminationOptions& options = {}, const Observer& observer = {});

}  // namespace treesample
