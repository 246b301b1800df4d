// A lower limit of the mean of independent numbers that are at least 0 and of which no upper bound is known, by
// betting.
//
// For each m, a gambler bets that the mean is above m. A share l_t < 1 of his capital is at stake in turn t:
//
//   K_t = K_(t-1) (1 - l_t + l_t w_t / m)
//
// If the mean is at most m, no such game has an advantage, whatever the numbers are and however large, because no
// factor is negative. By Ville's inequality the probability that K ever reaches 1 / delta is then at most delta. The
// limit is the largest m that has been refuted so. K falls in m, so bisection finds it.
//
// The stakes affect only how close the limit comes to the mean. One part of the capital is staked as the numbers so far
// suggest,
//
//   l = sqrt(2 log(1 / delta) / (relative variance so far * how many numbers are expected in all)),
//
// which is nearly best where the numbers have a variance. The other parts have constant stakes, for the first few
// numbers and for those with heavy tails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace treesample {

class LowerLimit {
 public:
  // `error_probability`: with which the limit may be above the mean.
  explicit LowerLimit(double error_probability);

  // The logarithm of a number; -inf for 0. `expected` is the total count expected so far. It must be chosen without
  // looking ahead.
  void add(double log_number, double expected);

  // The logarithm of the limit; -inf where nothing has been refuted. It holds whenever one chooses to stop.
  [[nodiscard]] double log_limit() const;

 private:
  // Numbers that are bet on with the same stake.
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
