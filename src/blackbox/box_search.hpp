// What a black box evaluates next, and its answer: one way for a distribution, another for the best configuration.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "blackbox/learned_target.hpp"
#include "blackbox/proposer_shares.hpp"
#include "treesample/blackbox/black_box.hpp"

namespace treesample {

class BoxSearch {
 public:
  virtual ~BoxSearch() = default;
  // As BlackBox::ask and ask_check.
  virtual std::vector<Assignment> ask(int n, const ShouldStop& should_stop) = 0;
  virtual std::vector<Assignment> ask_check(int n, const ShouldStop& should_stop) = 0;
  // The functions of this configuration may all be known now.
  virtual void settle(std::span<const int> x) = 0;
  // From now on values are noisy.
  virtual void note_noise() = 0;
  // Without what is said of noise and failures.
  virtual BlackBoxAnswer answer(const ShouldStop& should_stop) = 0;
  [[nodiscard]] virtual const ProposerShares& shares() const = 0;
};

// Both keep references to the target and the options.
// Of a domain that can be enumerated.
std::unique_ptr<BoxSearch> make_grid_search(LearnedTarget& target, const BlackBoxOptions& options);
// Of any other, whose tables elimination can handle.
std::unique_ptr<BoxSearch> make_wide_search(LearnedTarget& target, const BlackBoxOptions& options);
std::unique_ptr<BoxSearch> make_best_search(LearnedTarget& target, const BlackBoxOptions& options);

}  // namespace treesample
