// A lower limit of the mean of independent numbers that are at least 0 and of which no upper bound is known, by
// betting.
//
// For each m, a gambler bets that the mean is above m. A share l_t < 1 of his capital is at stake in turn t:
//
//   K_t = K_(t-1) (1 - l_t + l_t w_t / m)
//
// If the mean is at most m, no such game has an advantage, whatever the numbers are and however large, because no
// factor is negative. By Ville's inequality the probability that K ever reaches 1 / delta is then at most delta. The
// limit is the largest m that has been refuted in this way. K falls in m, so bisection finds it.
//
// The stakes affect only how close the limit comes to the mean. One part of the capital is staked as the numbers so far
// suggest,
//
//   l = sqrt(2 log(1 / delta) / (relative variance so far * expected total count of numbers)),
//
// which is nearly best if the numbers have a finite variance. The other parts have constant stakes, for the first few
// numbers and for those with heavy tails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace treesample {

class LowerLimit {
 public:
  // `error_probability`: the probability with which the limit may be above the mean.
  explicit LowerLimit(double error_probability);

  // Adds a number, given by its logarithm; -inf for 0. `expected` is the total count that is expected at this time. It
  // must be chosen without looking ahead.
  void add(double log_number, double expected);

  // The logarithm of the limit; -inf if nothing has been refuted. It is valid whenever one chooses to stop.
  [[nodiscard]] double log_limit() const;

 private:
  // Numbers on which the same stake is bet.
  struct Round {
    std::size_t end = 0;
    double stake = 0.0;
  };
  void begin_round(double expected);
  [[nodiscard]] bool is_refuted(double log_mean) const;

  double log_threshold_;  // log(1 / delta)
  std::vector<double> log_numbers_;
  std::vector<Round> rounds_;
  // Sums of the numbers and of their squares, in units of the largest.
  double log_unit_, sum_ = 0.0, squares_ = 0.0;
};

}  // namespace treesample
