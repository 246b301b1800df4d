// Leaf values for factors that can only be evaluated, not inspected. They are learned from the rewards that the search
// pays for anyway.
//
// The constant (N - n) log K assumes that every pending factor is 0. Where factors are -3 on average, a prefix looks
// better by 3 nats for each level that was not visited, and a search that believes this never gets deep. Here the
// rewards seen at a level decide what it is worth. With r_1, ..., r_k the rewards evaluated at level n so far, on any
// path, and S(n) the level and all its descendants,
//
//   log-mean-exp  V_j = sum over n in S(j) of log K_n + log (1/k) sum_i exp r_i     the value of the sub-problem
//   mean          E_j = sum over n in S(j) of log K_n +     (1/k) sum_i r_i         what a uniform sampler attains
//
// V guides the search: it estimates log Z of the sub-problem. E decides how much probability P_X gives to the
// sub-problem when the search is over: P_X is uniform there, and the ELBO of the uniform distribution is the value that
// makes KL(P_X || P*) least. With zeros among the rewards, E is the mean of the others plus the log of their share.
//
// If only impossible states were seen at a level, or none at all, its term of rewards is 0. Every sub-problem that
// reaches the level then lacks the same term, so it cancels. When the level is finally seen, the search brings all its
// values up to date. Adding a constant to a factor therefore changes no decision.
#pragma once

#include <cstdint>
#include <vector>

#include "treesample/value/leaf_value.hpp"

namespace treesample {

class CalibratedValue final : public LeafValue {
 public:
  explicit CalibratedValue(const SearchSpace& space);

  // R_n of some path; -inf is legal.
  void add(int level, double reward);
  // The number of levels at which a possible state was seen.
  [[nodiscard]] int num_known_levels() const { return num_known_levels_; }

  // V; the states are ignored.
  [[nodiscard]] double log_value(int level, std::span<const int> x) const override;
  // E.
  [[nodiscard]] double log_elbo(int level) const { return levels_[level].elbo_below; }

  [[nodiscard]] bool is_uniform() const override { return true; }
  double draw_below(int level, std::span<int> x, Random& random, StopCheck& stop) const override;
  [[nodiscard]] double log_prob_below(int level, std::span<const int> x) const override;
  void probabilities(int level, std::span<const int> x, std::span<double> probs) const override;

 private:
  struct LevelRewards {
    std::int64_t count = 0, num_possible = 0;
    double sum = 0.0;      // of the possible rewards
    double log_sum = 0.0;  // log sum exp; 0 while there are none
    double value_below = 0.0, elbo_below = 0.0;
  };
  void update(int level);

  std::vector<LevelRewards> levels_;
  int num_known_levels_ = 0;
};

}  // namespace treesample
