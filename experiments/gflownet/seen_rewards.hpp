// The rewards that were paid for. A reward that is asked for again costs nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "treesample/math/random.hpp"
#include "treesample/program/program.hpp"

namespace treesample::experiments {

class SeenRewards {
 public:
  explicit SeenRewards(NumberedProgram& program) : program_(program) {}

  // How many different ends may be asked for in all.
  void set_limit(std::int64_t calls) { limit_ = calls; }
  // The log reward of an end. None if the end is new and the limit is reached. Throws Error (kNumeric) for a reward
  // that is not finite.
  std::optional<double> ask(StateId end);

  // The log reward of an end that was seen.
  [[nodiscard]] std::optional<double> find(StateId end) const;

  [[nodiscard]] std::int64_t num_calls() const { return static_cast<std::int64_t>(ends_.size()); }
  [[nodiscard]] bool is_spent() const { return num_calls() >= limit_; }
  [[nodiscard]] const std::vector<StateId>& ends() const { return ends_; }
  [[nodiscard]] const std::vector<double>& log_rewards() const { return log_rewards_; }

  // The place of a seen end in `ends`: uniform, or in proportion to the rewards.
  std::size_t draw_uniform(Random& random) const { return random.below(ends_.size()); }
  std::size_t draw_by_reward(Random& random);

 private:
  NumberedProgram& program_;
  std::int64_t limit_ = 0;
  std::unordered_map<StateId, std::size_t> places_;
  std::vector<StateId> ends_;
  std::vector<double> log_rewards_;
  std::vector<double> sums_;  // of the rewards, up to and including each; of the ends when they were last added up
};

}  // namespace treesample::experiments
