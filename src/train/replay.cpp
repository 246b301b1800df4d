#include "treesample/train/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "treesample/error.hpp"
#include "treesample/math/random.hpp"

namespace treesample {

void Experience::write_prefix(int row, std::span<int> states) const {
  std::fill(states.begin(), states.end(), -1);
  const std::span<const int> x = sample(row_samples[row]);
  for (int n = 0; n < row_levels[row]; ++n) {
    const int variable = problem->space.levels[n].variable;
    states[variable] = x[variable];
  }
}

void Experience::validate() const {
  constexpr const char* kFunction = "Experience";
  const std::size_t rows = row_levels.size();
  check_argument(samples.size() % num_variables() == 0, kFunction, "the samples are not complete");
  check_range(kFunction, "num_targets", num_targets, 1, FactorGraph::kMaxStates);
  check_argument(row_samples.size() == rows && row_targets.size() == rows * num_targets, kFunction,
                 fmt::format("{} levels, {} samples and {} targets of {} do not make rows", rows, row_samples.size(),
                             row_targets.size(), num_targets));
  for (int i = 0; i < num_samples(); ++i) problem->graph.check_assignment(sample(i), kFunction);
  for (std::size_t row = 0; row < rows; ++row) {
    check_range(kFunction, "sample of a row", row_samples[row], 0, num_samples() - 1);
    check_range(kFunction, "level of a row", row_levels[row], 0, problem->space.num_levels() - 1);
  }
  check_argument(std::all_of(row_targets.begin(), row_targets.end(), [](float q) { return is_log_value(q); }),
                 kFunction, "a target is NaN or +inf");
  check_argument(row_highs.empty() || row_highs.size() == row_targets.size(), kFunction,
                 "an interval has no upper end");
  for (std::size_t i = 0; i < row_highs.size(); ++i) {
    check_argument(row_highs[i] >= row_targets[i] && is_log_value(row_highs[i]), kFunction,
                   "the upper end of an interval is NaN, +inf or below the lower one");
  }
}

void Experience::check_targets() const {
  for (int row = 0; row < num_rows(); ++row) {
    const TargetRange& range = problem->target_ranges[row_levels[row]];
    std::vector<float> values(target(row).begin(), target(row).end());
    values.insert(values.end(), high(row).begin(), high(row).end());
    for (const float q : values) {
      if (q == -HUGE_VALF || (q >= range.low && q <= range.high)) continue;
      throw_argument(
          "Experience",
          fmt::format("a target at level {} is {}, allowed are {:.6g} to {:.6g} (what the factors of problem "
                      "{} can reach, with slack) and -inf",
                      row_levels[row], q, range.low, range.high, problem->id));
    }
  }
}

Replay::Replay(std::size_t capacity) : capacity_(capacity) {
  check_argument(capacity >= 1, "Replay", "the capacity must be at least 1");
}

void Replay::add(std::shared_ptr<const Experience> experience) {
  const std::lock_guard lock(mutex_);
  for (int row = 0; row < experience->num_rows(); ++row) entries_.push_back({experience, row});
  while (entries_.size() > capacity_) entries_.pop_front();
}

std::size_t Replay::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

std::vector<ReplayEntry> Replay::sample(int count, Random& random) const {
  const std::lock_guard lock(mutex_);
  std::vector<ReplayEntry> chosen;
  for (int i = 0; i < count && !entries_.empty(); ++i) chosen.push_back(entries_[random.below(entries_.size())]);
  return chosen;
}

std::vector<ReplayEntry> Replay::entries() const {
  const std::lock_guard lock(mutex_);
  return {entries_.begin(), entries_.end()};
}

}  // namespace treesample
