// Limits of the mean of numbers in [0, 1], by betting (Waudby-Smith and Ramdas, "Estimating means of bounded random
// variables by betting", 2024).
//
// For each m there are two gamblers, who bet on every number. One bets that the mean is above m, the other that it is
// below:
//   K+(m) = prod_t 1 + min(l_t, c / m) (z_t - m),      K-(m) = prod_t 1 - min(l_t, c / (1 - m)) (z_t - m),
//
// where l_t is chosen before z_t is seen. If m is the mean, both are fair games, and by Ville's inequality the
// probability that one of them ever reaches 2 / delta is at most delta. The interval consists of those m for which
// neither has reached it. It is valid however many numbers were seen, and whenever one chooses to stop. K+ falls in m
// and K- rises, so bisection finds the ends.
//
//   l_t = sqrt(2 log(2 / delta) / (variance so far * expected total count of numbers))
//
// makes the interval nearly as short as the central limit theorem would. The bold part of the capital is bet this way,
// with the variance seen so far. The careful part allows for one number of 1 that has not come yet, which would mean a
// variance of 1 / (4 t). The bold part loses everything if the numbers that matter are rare; the careful part is slow
// if all numbers are small. The first kPilot numbers only serve to estimate the variance.
//
// Stakes are constant in rounds of a hundredth of the numbers before. Within a round the order of the numbers does not
// matter, and the numbers between two marks a and b count as if each were a or b, with the same sum: log(1 + l (z - m))
// lies above its chord, so no gambler gets more than without rounds. Memory and time do not grow with the count of
// numbers. Betting on averages of batches instead would lose capital: one would have to bet on the mean of a batch as
// if all of its numbers could be 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace treesample {

struct MeanLimits {
  double lower = 0.0, upper = 1.0;
};

class BettingInterval {
 public:
  explicit BettingInterval(double confidence);

  // Adds a number z in [0, 1]. `expected` is the total count that is expected at this time. It changes the length of
  // the interval but not its validity, as long as it is chosen without looking ahead.
  void add(double z, double expected);
  [[nodiscard]] MeanLimits limits() const;

  static constexpr std::int64_t kPilot = 50;

 private:
  // The numbers of a round that lie between two marks.
  struct Bin {
    std::size_t mark = 0;  // the lower mark
    double count = 0.0, sum = 0.0;
  };
  struct Round {
    double bold = 0.0, careful = 0.0;  // l_t of the two parts
    std::vector<Bin> bins = {};
  };
  void begin_round(double expected);
  // True if the gambler who bets on means above m (is_above), or below, has ever reached the threshold.
  [[nodiscard]] bool is_rejected(double m, bool is_above) const;

  double log_threshold_;  // log(2 / delta)
  std::vector<Round> rounds_;
  std::vector<int> bin_of_mark_;  // in this round; -1 if there is no bin yet
  std::int64_t count_ = 0, round_end_ = 0;
  double mean_ = 0.0, squares_ = 0.0;  // mean and sum of squared deviations, by Welford's method
};

}  // namespace treesample
