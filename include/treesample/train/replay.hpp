// Training data: the Q-values that inference found along its samples, and the buffer that holds them.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "treesample/train/problem.hpp"

namespace treesample {

class Random;

// The training data of one episode. A row is Q_n( . | x_<n) for one sample x and one level n; its prefix is not stored,
// because it is part of the sample.
struct Experience {
  std::shared_ptr<const Problem> problem;
  int num_targets = 0;             // K: entries of `targets` per row, the largest number of states of a variable
  std::vector<int> samples;        // rows of one state per variable
  std::vector<int> row_samples;    // per row: index of the sample
  std::vector<int> row_levels;     // per row: n
  std::vector<float> row_targets;  // per row: K values Q_n(a | x_<n) - offset(n); -inf: not known
  // Either empty, or as many as row_targets. If there are any, targets are intervals from row_targets to these, and
  // -inf means unknown.
  std::vector<float> row_highs = {};

  [[nodiscard]] int num_variables() const { return problem->graph.num_variables(); }
  [[nodiscard]] int num_samples() const { return static_cast<int>(samples.size()) / num_variables(); }
  [[nodiscard]] int num_rows() const { return static_cast<int>(row_levels.size()); }
  [[nodiscard]] std::span<const int> sample(int index) const {
    return std::span(samples).subspan(static_cast<std::size_t>(index) * num_variables(), num_variables());
  }
  [[nodiscard]] std::span<const float> target(int row) const {
    return std::span(row_targets).subspan(static_cast<std::size_t>(row) * num_targets, num_targets);
  }
  [[nodiscard]] std::span<const float> high(int row) const {
    return row_highs.empty() ? std::span<const float>()
                             : std::span(row_highs).subspan(static_cast<std::size_t>(row) * num_targets, num_targets);
  }
  [[nodiscard]] int variable(int row) const { return problem->space.levels[row_levels[row]].variable; }
  // Writes the prefix of a row: the states of the sample before its level, -1 for all other variables.
  void write_prefix(int row, std::span<int> states) const;
  // Throws kArgument if sizes, indices or states are out of range or a target is NaN or +inf. For data that comes from
  // elsewhere.
  void validate() const;
  // Throws kArgument unless every target is -inf or within the problem's target_ranges. For data that comes from other
  // machines; call it after validate().
  void check_targets() const;
};

struct ReplayEntry {
  std::shared_ptr<const Experience> experience;
  int row = 0;
};

// The last `capacity` rows, oldest first. Several threads may call all functions at once; each holds the lock for
// microseconds.
class Replay {
 public:
  // Throws kArgument for a capacity below 1.
  explicit Replay(std::size_t capacity);

  void add(std::shared_ptr<const Experience> experience);
  [[nodiscard]] std::size_t size() const;
  // Draws uniformly with replacement; empty while there is nothing to draw from.
  [[nodiscard]] std::vector<ReplayEntry> sample(int count, Random& random) const;
  // A copy of all rows, oldest first.
  [[nodiscard]] std::vector<ReplayEntry> entries() const;

 private:
  std::size_t capacity_;
  mutable std::mutex mutex_;
  std::deque<ReplayEntry> entries_;
};

}  // namespace treesample
