// Exact inference by variable elimination: log Z, all marginals and independent samples.
//
// Variables are removed one after the other, in an order that takes little work. With sep(v) the neighbours that v has
// when it is removed, and in(v) the remaining factors and messages that contain v:
//
//   bucket   b_v(x_v, x_sep(v)) = sum of in(v)
//   message  m_v(x_sep(v))      = log sum over x_v of exp b_v,  goes to the first of sep(v) to be removed
//   log Z                       = sum of the messages with an empty separator
//
// and, from the last removed variable to the first,
//
//   p(x_v | x_sep(v)) = exp(b_v - m_v)                     from which samples are drawn
//   p(x_v, x_sep(v))  = p(x_v | x_sep(v)) p(x_sep(v))      whose sums are the marginals.
//
// Only messages are stored: a bucket is walked block by block, and sampling looks its inputs up again. Tables hold
// plain numbers, scaled by one power of two per table, or logarithms where plain numbers might lose too much precision
// (docs/methods/elimination.md).
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

class Executor;

// Bucket entries that one thread sums: for predictions.
inline constexpr double kEntriesPerSecond = 6e8;

// What the memory of an elimination has to suffice for.
enum class EliminationGoal {
  kLogZ,      // each message is freed after it was used
  kSamples,   // all messages are kept
  kMarginals  // and the distributions on the way down
};

// How a plan is looked for, and what it has to serve.
struct EliminationOptions {
  EliminationGoal goal = EliminationGoal::kSamples;
  // Orders that are tried, the one with the fewest bucket entries being used. 0: greedy and annealed orders, as many as
  // are worth their time (order_work); otherwise so many randomised min-fill orders and no others.
  int restarts = 0;
  // With restarts = 0, the search for orders takes at most this much time, measured in the bucket entries that could be
  // summed meanwhile; it ends earlier where more of it would take longer than a part of the elimination. All this is
  // decided by counts, not by a clock. The first order is always made.
  double order_work = 1e9;
  double num_uses = 1.0;   // of the order: the more, the longer a search for a better one is worth it
  std::uint64_t seed = 0;  // of the orders
  // Where all orders take more bucket entries, there is no plan; some orders are not finished then.
  double most_entries = std::numeric_limits<double>::infinity();
  // Where the tables of an order take more, the model is cut into slices, which need the memory of one slice.
  double most_bytes = std::numeric_limits<double>::infinity();
  // For Elimination, whose limits have the memory: a model that does not fit into it, or is summed more quickly so, is
  // cut into slices instead of being refused, and so are marginals and samples. Messages are then not kept: marginals()
  // eliminates again, and so does sample() whenever it changes the slice.
  bool may_slice = false;
  int threads = 1;          // that look for orders; the result is the same for any number
  TellShare progress = {};  // of the orders
};

// An order, the slices, and what an elimination takes with them. It is made once, and everything that eliminates the
// same model can use it. Sizes are doubles, because they can be astronomical; they saturate near 2^1000. There is no
// order, and sizes are infinite, where no order is within the limits.
//
// Slices: when some variables are fixed to one of their joint states, the tables become smaller. Z is the sum over all
// of these states, and each term of the sum is an elimination of its own.
struct EliminationPlan {
  std::vector<int> order;                 // first removed first
  std::vector<int> slice_variables = {};  // the fixed variables; none: one slice
  double num_slices = 1.0;
  int width = 0;  // the largest number of variables in a separator
  double log2_largest_bucket = 0.0;
  double num_entries = 0.0;     // of all buckets of all slices: proportional to the time
  double log_z_bytes = 0.0;     // for log Z alone, where each message is freed after it was used
  double sample_bytes = 0.0;    // of all messages
  double marginal_bytes = 0.0;  // of these, and of the distributions on the way down
  // By variable: its neighbours when it is removed, in the order of removal. Empty with slices.
  std::vector<std::vector<int>> separators = {};

  [[nodiscard]] double bytes_for(EliminationGoal goal) const {
    return goal == EliminationGoal::kLogZ      ? log_z_bytes
           : goal == EliminationGoal::kSamples ? sample_bytes
                                               : marginal_bytes;
  }
  [[nodiscard]] bool is_possible() const { return num_entries < std::numeric_limits<double>::infinity(); }
};

// Cheap (no table is touched), and legal for models with function factors. `should_stop` ends the first order too, with
// Error (kInterrupted).
EliminationPlan plan_elimination(const FactorGraph& graph, const EliminationOptions& options = {},
                                 const ShouldStop& should_stop = {});
// The plan for a known order, and for slices of it that are known too.
EliminationPlan plan_in_order(const FactorGraph& graph, std::vector<int> order, std::vector<int> slice_variables = {},
                              const ShouldStop& should_stop = {});
// The same plan, cut for so many workers of an executor where all of them together are done earlier then: each slice
// fits into options.most_bytes, and serves options.goal. What takes a second or two is left as it is.
EliminationPlan plan_for_workers(const FactorGraph& graph, EliminationPlan plan, const EliminationOptions& options,
                                 int num_workers, const ShouldStop& should_stop = {});
// The predicted number of bucket entries that pass until so many workers have done all slices.
double entries_until_done(const EliminationPlan& plan, EliminationGoal goal, int num_workers);
// The same plan, cut where its tables take more than options.most_bytes, or where that saves time.
EliminationPlan plan_slices(const FactorGraph& graph, EliminationPlan plan, const EliminationOptions& options,
                            const ShouldStop& should_stop = {});
// The plan for log Z of a whole model whose goal may take more: cut where it does not fit into options.most_bytes, and
// where slices are quicker although all else then takes passes of its own.
EliminationPlan plan_log_z(const FactorGraph& graph, EliminationPlan whole, const EliminationOptions& options,
                           const ShouldStop& should_stop = {});

// Which slices are summed where, and what is kept of them.
struct SliceWork {
  // Finished slices are kept in this file, and a later run with the same model continues from there, with the same
  // bits; order and slices are then the file's. Empty: nothing is kept. Throws Error naming the file where it is
  // damaged, belongs to another model, or cannot be used (exact/slice_file.hpp).
  std::string file = {};
  // The log Z that is asked about differs from that of the model by at most this: for sums of the file's parts.
  double log_slack = 0.0;
  // Only these slices, from the first to the one before the end, are summed, which ends with Error (kInterrupted)
  // unless the file has all others. They may be summed elsewhere (exact/slice_sum.hpp).
  std::uint64_t first = 0, end = std::numeric_limits<std::uint64_t>::max();
  // If set, it computes slices, for log Z and for marginals, to the same bits. The slices of log Z then serve all that
  // the goal needs, where they fit. Samples that are drawn later are drawn here.
  std::shared_ptr<Executor> executor = {};
};

class Elimination final : public Approximation {
 public:
  // Computes log Z. Throws Error before any work: kResource with the bytes needed and allowed when the tables do not
  // fit, kArgument when a factor is a function. Of the limits it uses `bytes` and `threads`. The observer is told a
  // certified lower bound after each slice, and the finished share of all bucket entries, for log Z and again for
  // marginals and samples from slices; its should_stop ends each of them with Error (kInterrupted).
  // What the goal of the options needs is kept where it fits.
  Elimination(const FactorGraph& graph, EliminationPlan plan, const Limits& limits = {},
              const EliminationOptions& options = {}, const Observer& observer = {}, const SliceWork& slices = {});
  // Makes a plan first.
  explicit Elimination(const FactorGraph& graph, const Limits& limits = {}, const EliminationOptions& options = {},
                       const Observer& observer = {}, const SliceWork& slices = {});

  // -inf when no configuration has positive probability.
  [[nodiscard]] double log_z() const;
  // Certified: log_z() and its rounding error, which is large where large factors cancel (exact/message_error.hpp).
  [[nodiscard]] LogBounds bounds() const;
  // [variable][state]; all 0 when Z = 0. Throws kResource when the limit does not allow it.
  [[nodiscard]] Marginals marginals() const;
  // One exact sample. Throws kArgument when Z = 0, and kResource when the limit does not allow it.
  [[nodiscard]] Assignment sample(Random& random) const override;
  // p(x_v | x_sep(v)) for each state of v, where x has the states of the variables that are removed after v. All 0
  // where those states are impossible. Throws kArgument where messages are not kept.
  void conditional(int v, std::span<const int> x, std::span<double> probabilities) const;
  // log_density(x) - log Z, or, where rounding leaves log Z open, by the probabilities that sample() uses; at most 0.
  [[nodiscard]] double log_prob(std::span<const int> x) const override;
  [[nodiscard]] const EliminationPlan& plan() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared: after construction only the cache of samples from slices changes
};

}  // namespace treesample
