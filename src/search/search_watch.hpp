// The limits of a search other than its budget: time, memory and the observer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "search/bound_store.hpp"
#include "space/run_watch.hpp"

namespace treesample {

class SearchWatch {
 public:
  // `seconds_per_node` are kept back for the caller's passes over the store at the end. Keeps a reference to the store.
  SearchWatch(const BoundStore& store, const Limits& limits, const Observer& observer, double seconds_per_node,
              int most_between_looks)
      : store_(store), run_(limits, observer), seconds_per_node_(seconds_per_node), looks_(most_between_looks) {}

  [[nodiscard]] const RunWatch& run() const { return run_; }
  // Asks the clock and the observer, now and then; to be called after expansions and traversals.
  bool is_asked_to_stop() {
    if (!why_stop_ && looks_.is_due()) look();
    return why_stop_.has_value();
  }
  // Pre: is_asked_to_stop() was true.
  [[nodiscard]] StopReason why_stop() const { return *why_stop_; }
  // The clock at the last look.
  [[nodiscard]] double seconds_then() const { return looks_.seconds(); }

  // A pass over all nodes took this long; would another one finish in time?
  void note_sweep(double seconds) { sweep_seconds_per_node_ = seconds / std::max(num_nodes(), 1.0); }
  [[nodiscard]] bool has_time_to_sweep() const {
    return !run_.is_time_over((seconds_per_node_ + sweep_seconds_per_node_) * num_nodes());
  }

 private:
  [[nodiscard]] double num_nodes() const { return static_cast<double>(store_.num_nodes()); }
  void look() {
    looks_.looked(run_.seconds());
    if (run_.is_time_over(seconds_per_node_ * num_nodes())) why_stop_ = StopReason::kTime;
    if (run_.is_asked_to_stop()) why_stop_ = StopReason::kInterrupted;
  }

  const BoundStore& store_;
  RunWatch run_;
  double seconds_per_node_;
  double sweep_seconds_per_node_ = 0.0;  // measured in the last sweep
  LookSchedule looks_;
  std::optional<StopReason> why_stop_;  // once there is a reason: an observer may ask only once
};

}  // namespace treesample
