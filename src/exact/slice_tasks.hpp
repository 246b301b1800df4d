// Slices of an elimination as tasks of an executor (treesample/executor.hpp): the side that asks. Workers call
// do_slice_task (exact/slice_sum.hpp).
//
//   shared      the model, the order, the slice variables, and the memory and threads of a worker
//   arguments   the first slice, and the one behind the last
//
// The values of a task are those of its slices, one after the other; of each slice, by the kind of task
//
//   "slices"            bounds of log Z_s and its computed value: lower, upper, estimate
//   "slice marginals"   the computed value of log Z_s; unless it is -inf, the marginals of all variables follow
//   "slice best"        1 if a configuration is possible, else 0 and no more: its upper bound, its log density, its
//   states
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "exact/elimination_pass.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/executor.hpp"

namespace treesample {

inline constexpr const char* kSliceSums = "slices";
inline constexpr const char* kSliceMarginals = "slice marginals";
inline constexpr const char* kSliceBest = "slice best";

// Is told the values of a slice.
using TakeSlice = std::function<void(std::uint64_t slice, std::span<const double> values)>;

// Has these slices computed by the executor; `arrived` is told of each when it arrives, in any order, and `take` of all
// of them in their order. Throws Error (kInterrupted) when the watch says so, and the error of a task that failed.
class SliceTasks {
 public:
  SliceTasks(Executor& executor, const FactorGraph& graph, const EliminationPlan& plan, double bytes);
  void run(const char* kind, const std::vector<std::uint64_t>& slices, EntryWatch& watch, const TakeSlice& arrived,
           const TakeSlice& take = {});

 private:
  struct Range {  // of places in the list of slices that are asked for
    std::size_t first, end;
  };
  [[nodiscard]] std::vector<Range> ranges_of(const std::vector<std::uint64_t>& slices) const;
  void submit(const char* kind, const std::vector<std::uint64_t>& slices, const std::vector<Range>& ranges,
              std::size_t& next);
  [[nodiscard]] std::size_t slices_per_task(std::size_t num_slices) const;
  [[nodiscard]] std::size_t values_of_slice(const char* kind, std::span<const double> rest) const;

  Executor& executor_;
  double entries_per_slice_;
  std::size_t num_marginals_ = 0, num_variables_ = 0;
  std::int64_t shared_;
  std::map<std::int64_t, Range> under_way_;
};

}  // namespace treesample
