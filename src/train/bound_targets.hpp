// Targets that follow from the tables of a problem: exact Q-values if elimination fits into memory, otherwise bounds.
//
// Mini-buckets in the order of the problem's variables give, for every prefix, U_n(a | x_<n) >= Q_n(a | x_<n) and
// mostly a lower bound L_n too. With room for whole buckets both are Q_n itself, as in the store of a finished search
// (in `tree`, `graph` or `andor`): P_X is then the target distribution, and its samples and values are exact.
//
// If the bounds differ, a value of the search is used, clamped to them. If the search has evaluated nothing, the target
// is the interval. The log-sum-exp of noisy values is too high on average, and training on the search's own values
// feeds this error back into the network. Here no target is above U.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "treesample/math/random.hpp"
#include "treesample/train/replay.hpp"
#include "treesample/value/mini_bucket.hpp"

namespace treesample {

class BoundTargets {
 public:
  static constexpr std::uint64_t kBytes = std::uint64_t{16} << 20;

  // Keeps a reference to the problem. `passes` tighten bounds that differ. Throws kArgument if a factor is a function.
  explicit BoundTargets(const Problem& problem, std::uint64_t bytes = kBytes, int passes = 10);

  [[nodiscard]] bool is_exact() const { return buckets_->report().is_exact; }
  [[nodiscard]] double log_z() const { return buckets_->report().log_upper; }  // only if the values are exact
  // Only if the values are exact, and for a problem with Z > 0.
  [[nodiscard]] Assignment sample(Random& random) const;

  // Adds a row for each level of x. `found` has the values of a search at those levels where it evaluated something.
  void add_rows(std::span<const int> x, int sample, const std::map<int, std::vector<double>>& found,
                Experience& experience) const;

 private:
  struct Row {
    std::vector<double> low, high;
  };
  [[nodiscard]] Row bounds(int level, std::span<const int> x) const;

  const Problem& problem_;
  std::unique_ptr<WeightedMiniBucket> buckets_;
};

}  // namespace treesample
