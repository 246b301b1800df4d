// One elimination of a whole model in a given order: messages up the buckets, and what can be computed on the way down.
//
// There are two kinds. In the linear domain an entry costs a nanosecond, but entries 240 orders of magnitude below the
// largest of their table are lost. Where that may matter, which the pass finds out (linear_error.hpp), it is replaced
// by the pass in the log domain, which is slower and has no such limit.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "math/compensated_sum.hpp"
#include "thread_team.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/model/approximation.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/space/limits.hpp"

namespace treesample {

class TablePool;

// Reports to the observer the share of all bucket entries that are done.
class EntryWatch {
 public:
  EntryWatch(const Observer& observer, double num_entries) : observer_(&observer), num_entries_(num_entries) {}

  void add(double num_entries) { num_done_ += num_entries; }
  [[nodiscard]] double num_done() const { return num_done_; }
  void set_bounds(const LogBounds& log_z) { log_z_ = log_z; }
  // Reports progress, then asks whether to stop; `num_entries` are done beyond those that were added.
  [[nodiscard]] bool is_asked_to_stop(double num_entries = 0.0) const {
    if (observer_->progress) {
      observer_->progress({.phase = "elimination",
                           .log_z = log_z_,
                           .share_done = num_entries_ > 0.0 ? (num_done_ + num_entries) / num_entries_ : 1.0});
    }
    return observer_->should_stop && observer_->should_stop();
  }
  void check_going_on() const {
    if (is_asked_to_stop()) throw Error(ErrorCode::kInterrupted, "Elimination: asked to end");
  }

 private:
  const Observer* observer_;
  double num_entries_, num_done_ = 0.0;
  LogBounds log_z_;
};

struct PassOptions {
  bool keep_messages = true;  // otherwise only log Z is known
  ThreadTeam* team = nullptr;
  std::shared_ptr<TablePool> pool;
};

class EliminationPass {
 public:
  virtual ~EliminationPass() = default;

  [[nodiscard]] double log_z() const { return log_z_.value(); }
  // |log_z() - log Z| is at most this.
  [[nodiscard]] double error() const { return error_ + log_z_.rounding(); }

  // The functions below need kept messages. [variable][state]; Z must not be 0.
  [[nodiscard]] virtual Marginals marginals(EntryWatch& watch) const = 0;
  // p(x_v | x_sep): of a variable given the states in x of the variables eliminated after it.
  virtual void conditional(int v, std::span<const int> x, std::span<double> probabilities) const = 0;

 protected:
  CompensatedSum log_z_;
  double error_ = 0.0;
};

// Null where the loss may make an error of log Z above kMostLost.
inline constexpr double kMostLost = 1e-10;
std::shared_ptr<const EliminationPass> linear_pass(const FactorGraph& graph, const EliminationPlan& plan,
                                                   const PassOptions& options, EntryWatch& watch);
std::shared_ptr<const EliminationPass> log_pass(const FactorGraph& graph, const EliminationPlan& plan,
                                                const PassOptions& options, EntryWatch& watch);
// The linear pass, or the one in the log domain where that is not accurate enough.
std::shared_ptr<const EliminationPass> eliminate(const FactorGraph& graph, const EliminationPlan& plan,
                                                 const PassOptions& options, EntryWatch& watch);

}  // namespace treesample
