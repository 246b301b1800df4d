// Exact inference by variable elimination: log Z, all marginals and independent samples.
//
// Variables are removed in a min-fill order. With sep(v) the neighbours that v has when it is removed,
// in(v) the factors and messages that are left and contain v:
//
//   bucket   b_v(x_v, x_sep(v)) = sum of in(v)
//   message  m_v(x_sep(v))      = log sum over x_v of exp b_v,  goes to the first of sep(v) to be removed
//   log Z                       = sum of the messages with an empty separator
//
// and, from the last removed variable to the first,
//
//   p(x_v | x_sep(v)) = exp(b_v - m_v)                     what samples are drawn from
//   p(x_v, x_sep(v))  = p(x_v | x_sep(v)) p(x_sep(v))      whose sums are the marginals.
//
// Only messages are stored: a bucket is walked block by block, and sampling looks its inputs up again. Tables hold the
// numbers themselves, with one power of two each; where that may lose too much of them, logarithms (docs/methods/
// elimination.md).
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "treesample/math/log_bounds.hpp"
#include "treesample/model/approximation.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/space/limits.hpp"

namespace treesample {

// What the tables of an elimination have to make room for.
enum class EliminationGoal {
  kLogZ,      // each message is freed when it was used
  kSamples,   // all messages are kept
  kMarginals  // and the distributions on the way down
};

struct EliminationOptions {
  int restarts = 10;  // randomised min-fill orders; the one with the fewest bucket entries is used
  // Fewer where more of them would take longer than they could save: a matter of counts, not of a clock.
  bool stops_when_cheap = false;
  std::uint64_t seed = 0;                 // of the orders
  bool keep_messages = true;              // false: log Z and log_prob only, each message is freed when it was used
  std::vector<int> order = {};            // first removed first; empty: looked for by restarts
  std::vector<int> slice_variables = {};  // that go with the order; empty: chosen where most_bytes asks for them
  // Ends with the best order so far; the first one is always made.
  ShouldStop should_settle = {};
  // Orders that take more bucket entries are not finished: elimination_cost() is infinite if all of them do.
  double most_entries = std::numeric_limits<double>::infinity();
  // Of Elimination: what does not fit into the memory is cut into slices (EliminationCost) instead of being refused.
  // Messages are then not kept: marginals() eliminates again, and so does sample() whenever it comes to another slice.
  bool may_slice = false;
  // Of Elimination: where log Z takes slices, those that are done are kept in this file, and a later run with the same
  // model goes on from there, with the same bits; order and slices are then the file's. Empty: nothing is kept. Throws
  // Error naming the file where that is damaged, of another model, or cannot be used (exact/slice_file.hpp).
  std::string slice_file = {};
  // Of elimination_cost(): where the tables of an order take more, the model is cut into slices (EliminationCost):
  // their memory is that of one.
  double most_bytes = std::numeric_limits<double>::infinity();
  EliminationGoal goal = EliminationGoal::kLogZ;  // of which memory `most_bytes` is a limit
  int threads = 1;                                // that look for orders; they find the same for any number
  TellShare progress = {};                        // of the orders
};

// What elimination would take. Sizes are doubles, because they can be astronomical: they end near 2^1000. Without an
// order, and with infinite sizes, where no order is within `most_entries`.
//
// Slices: with some variables fixed to one of their joint states the model falls apart into smaller tables. Z is the
// sum over all of these states, and each term of it an elimination of its own.
struct EliminationCost {
  std::vector<int> order;  // first removed first
  int width = 0;           // the largest number of variables in a separator
  double log2_largest_bucket = 0.0;
  double num_entries = 0.0;               // of all buckets of all slices: proportional to the time
  double bytes = 0.0;                     // for log Z, and for sampling when messages are kept
  double marginal_bytes = 0.0;            // for marginals(), what is kept included
  std::vector<int> slice_variables = {};  // that are fixed; none: one slice
  double num_slices = 1.0;
};

// Cheap (no table is touched), and legal for models with function factors. `should_stop` ends the first order too, with
// Error (kInterrupted).
EliminationCost elimination_cost(const FactorGraph& graph, const EliminationOptions& options = {},
                                 const ShouldStop& should_stop = {});

class Elimination final : public Approximation {
 public:
  // Computes log Z. Throws Error before any work: kResource with the bytes needed and allowed when the
  // tables do not fit, kArgument when a factor is a function. Of the limits it uses `bytes` and `threads`. The observer
  // is told a certified lower bound after each slice, and the share of all bucket entries that are done, for log Z and
  // again for marginals; its should_stop ends either with Error (kInterrupted).
  explicit Elimination(const FactorGraph& graph, const Limits& limits = {}, const EliminationOptions& options = {},
                       const Observer& observer = {});

  // -inf when no configuration has positive probability.
  [[nodiscard]] double log_z() const;
  // Certified: log_z() and its rounding error, which is large where large factors cancel (exact/message_error.hpp).
  [[nodiscard]] LogBounds bounds() const;
  // [variable][state]; all 0 when Z = 0. Throws kResource when the limit does not allow it.
  [[nodiscard]] Marginals marginals() const;
  // One exact sample. Throws kArgument when Z = 0.
  [[nodiscard]] Assignment sample(Random& random) const override;
  // p(x_v | x_sep(v)) for each state of v, where x has the states of the variables that are removed after v. All 0
  // where these are impossible. Throws kArgument without keep_messages.
  void conditional(int v, std::span<const int> x, std::span<double> probabilities) const;
  // log_density(x) - log Z; -inf when Z = 0.
  [[nodiscard]] double log_prob(std::span<const int> x) const override;
  [[nodiscard]] const EliminationCost& cost() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared: all that changes after construction is what samples from slices keep
};

}  // namespace treesample
