#include "exact/slice_tasks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "exact/best_of_slice.hpp"
#include "exact/linear_table.hpp"
#include "exact/slice_message.hpp"
#include "exact/slices.hpp"
#include "thread_team.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/slice_sum.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr double kEntriesPerTask = 3e8;     // half a second: long beside what it costs to hand out a task
constexpr std::size_t kTasksPerWorker = 4;  // at least, so that none is much longer busy than the others
constexpr std::size_t kUnderWayPerWorker = 2;
constexpr double kLookSeconds = 0.05;

void append_sums(const Slices& slices, std::size_t i, const PassOptions& options, EntryWatch& watch,
                 std::vector<double>& values) {
  const Slice slice = slices.run(i, options, watch);
  values.insert(values.end(), {slice.log_z.lower, slice.log_z.upper, slice.estimate});
}

void append_marginals(const Slices& slices, std::size_t i, const PassOptions& options, EntryWatch& watch,
                      std::vector<double>& values) {
  const Slice slice = slices.run(i, options, watch);
  values.push_back(slice.estimate);
  if (slice.estimate == kNegInf) return;
  for (const std::vector<double>& probs : slice.model.lift(slice.pass->marginals(watch))) {
    values.insert(values.end(), probs.begin(), probs.end());
  }
}

void append_best(const SharedSlices& shared, std::size_t i, std::vector<double>& values) {
  const std::optional<BestOfSlice> best = best_of_slice(shared.graph, shared.plan, i);
  values.push_back(best ? 1.0 : 0.0);
  if (!best) return;
  values.insert(values.end(), {best->log_upper, best->configuration.log_density});
  values.insert(values.end(), best->configuration.x.begin(), best->configuration.x.end());
}

}  // namespace

std::vector<double> do_slice_task(std::string_view shared, const std::string& kind,
                                  std::span<const std::int64_t> arguments) {
  const SharedSlices work = read_slice_message(shared);
  check_argument(arguments.size() == 2, "do_slice_task", "a task of slices has two numbers");
  check_range("do_slice_task", "end", arguments[1], 0, static_cast<std::int64_t>(work.plan.num_slices));
  check_range("do_slice_task", "first", arguments[0], 0, arguments[1]);
  const Slices slices(work.graph, work.plan);
  ThreadTeam team(1);
  const PassOptions options{kind == kSliceMarginals, &team, std::make_shared<TablePool>(work.bytes)};
  const Observer nobody;
  EntryWatch watch(nobody, work.plan.num_entries);
  std::vector<double> values;
  for (auto i = static_cast<std::size_t>(arguments[0]); i < static_cast<std::size_t>(arguments[1]); ++i) {
    if (kind == kSliceSums) {
      append_sums(slices, i, options, watch, values);
    } else if (kind == kSliceMarginals) {
      append_marginals(slices, i, options, watch, values);
    } else if (kind == kSliceBest) {
      append_best(work, i, values);
    } else {
      throw Error(ErrorCode::kArgument, fmt::format("there are no tasks of the kind '{}'", kind));
    }
  }
  return values;
}

SliceTasks::SliceTasks(Executor& executor, const FactorGraph& graph, const EliminationPlan& plan, double bytes)
    : executor_(executor),
      entries_per_slice_(plan.num_entries / plan.num_slices),
      num_variables_(static_cast<std::size_t>(graph.num_variables())),
      shared_(executor.share(slice_message(graph, plan, bytes))) {
  for (int v = 0; v < graph.num_variables(); ++v) num_marginals_ += static_cast<std::size_t>(graph.num_states(v));
}

std::size_t SliceTasks::slices_per_task(std::size_t num_slices) const {
  const auto num_workers = static_cast<std::size_t>(std::max(1, executor_.num_workers()));
  const double worth = std::ceil(kEntriesPerTask / std::max(1.0, entries_per_slice_));
  const double fair = std::ceil(static_cast<double>(num_slices) / static_cast<double>(kTasksPerWorker * num_workers));
  return static_cast<std::size_t>(std::max(1.0, std::min(worth, fair)));
}

// How many of the numbers are those of the first slice.
std::size_t SliceTasks::values_of_slice(const char* kind, std::span<const double> rest) const {
  std::size_t count = 3;
  if (kind == kSliceMarginals) count = !rest.empty() && rest[0] == kNegInf ? 1 : 1 + num_marginals_;
  if (kind == kSliceBest) count = !rest.empty() && rest[0] == 0.0 ? 1 : 3 + num_variables_;
  if (count > rest.size()) throw Error(ErrorCode::kParse, "a task of slices came back with too few numbers");
  return count;
}

// Ranges of neighbours.
std::vector<SliceTasks::Range> SliceTasks::ranges_of(const std::vector<std::uint64_t>& slices) const {
  std::vector<Range> ranges;
  const std::size_t most = slices_per_task(slices.size());
  for (std::size_t i = 0; i < slices.size(); ++i) {
    if (i > 0 && slices[i] == slices[i - 1] + 1 && ranges.back().end - ranges.back().first < most) {
      ranges.back().end = i + 1;
    } else {
      ranges.push_back({i, i + 1});
    }
  }
  return ranges;
}

// As many tasks as there is room for, from range `next` on.
void SliceTasks::submit(const char* kind, const std::vector<std::uint64_t>& slices, const std::vector<Range>& ranges,
                        std::size_t& next) {
  const std::size_t room = kUnderWayPerWorker * static_cast<std::size_t>(std::max(1, executor_.num_workers()));
  std::vector<Executor::Task> tasks;
  const std::size_t first = next;
  for (; next < ranges.size() && under_way_.size() + tasks.size() < room; ++next) {
    const auto begin = static_cast<std::int64_t>(slices[ranges[next].first]);
    tasks.push_back({kind, {begin, begin + static_cast<std::int64_t>(ranges[next].end - ranges[next].first)}, shared_});
  }
  if (tasks.empty()) return;
  std::int64_t number = executor_.submit(std::move(tasks));
  for (std::size_t r = first; r < next; ++r) under_way_.emplace(number++, ranges[r]);
}

void SliceTasks::run(const char* kind, const std::vector<std::uint64_t>& slices, EntryWatch& watch,
                     const TakeSlice& arrived, const TakeSlice& take) {
  const std::vector<Range> ranges = ranges_of(slices);
  struct Cancel {  // what is under way when this ends is of no use
    Executor& executor;
    ~Cancel() { executor.cancel(); }
  } const cancel{executor_};
  under_way_.clear();
  std::map<std::size_t, std::vector<double>> waiting;  // by place in `slices`, for their turn
  std::size_t next_range = 0, next_turn = 0;
  while (next_turn < slices.size()) {
    watch.check_going_on();
    submit(kind, slices, ranges, next_range);
    for (const Executor::Result& result : executor_.take(kLookSeconds)) {
      const auto range = under_way_.extract(result.number);
      if (range.empty()) continue;
      if (result.error) throw Error(*result.error);
      std::span<const double> rest = result.values;
      for (std::size_t i = range.mapped().first; i < range.mapped().end; ++i) {
        const std::span<const double> values = rest.first(values_of_slice(kind, rest));
        rest = rest.subspan(values.size());
        if (arrived) arrived(slices[i], values);
        waiting.emplace(i, std::vector<double>(values.begin(), values.end()));
        watch.add(entries_per_slice_);
      }
    }
    for (auto turn = waiting.find(next_turn); turn != waiting.end(); turn = waiting.find(++next_turn)) {
      if (take) take(slices[next_turn], turn->second);
      waiting.erase(turn);
    }
  }
}

}  // namespace treesample
