// Limits of the mean of numbers in [0, 1], by betting (Waudby-Smith and Ramdas, "Estimating means of bounded random
// variables by betting", 2024).
//
// For each m, one gambler bets on every number that the mean is above m, another one that it is below:
//   K+(m) = prod_t 1 + min(l_t, c / m) (z_t - m),      K-(m) = prod_t 1 - min(l_t, c / (1 - m)) (z_t - m),
//
// where l_t is chosen before z_t is seen. If m is the mean, both are fair games, and by Ville's inequality the
// probability that one of them ever reaches 2 / delta is at most delta. The interval consists of the m for which
// neither has: it holds after any number of numbers, whenever one chooses to stop. K+ falls in m and K- rises, so
// bisection finds the ends.
//
//   l_t = sqrt(2 log(2 / delta) / (variance so far * how many numbers are expected in all))
//
// makes the interval nearly as short as the central limit theorem would. The bold part of the capital is bet this way,
// with the variance seen so far. The careful part allows for one number of 1 that has not come yet, a variance of 1 /
// (4 t). The bold part loses everything where the numbers that matter are rare; the careful part is slow where all
// numbers are small. The first kPilot numbers only serve to estimate the variance.
//
// Stakes are constant in rounds of a hundredth of the numbers before. Within a round the order of the numbers does not
// matter, and the numbers between two marks a and b count as if each were a or b, with the same sum: log(1 + l (z - m))
// lies above its chord, so no gambler gets more than he would have. Memory and time do not grow with the numbers.
// Averages of batches would lose capital: the mean of many numbers can only be bet on as if all of them could be 1.
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

  // z in [0, 1]. `expected` is the total count expected so far. It changes the length of the interval, not its
  // validity, as long as it is chosen without looking ahead.
  void add(double z, double expected);
  [[nodiscard]] MeanLimits limits() const;

  static constexpr std::int64_t kPilot = 50;

 private:
  // The numbers of a round between two marks.
  struct Bin {
    std::size_t mark = 0;  // the lower mark
    double count = 0.0, sum = 0.0;
  };
  struct Round {
    double bold = 0.0, careful = 0.0;  // l_t of the two parts
    std::vector<Bin> bins = {};
  };
  void begin_round(double expected);
  // True when the gambler for (is_above), or against, means above m has ever reached the threshold.
  [[nodiscard]] bool is_rejected(double m, bool is_above) const;

  double log_threshold_;  // log(2 / delta)
  std::vector<Round> rounds_;
  std::vector<int> bin_of_mark_;  // in this round; -1 where there is none yet
  std::int64_t count_ = 0, round_end_ = 0;
  double mean_ = 0.0, squares_ = 0.0;  // mean and sum of squared deviations, by Welford's method
};

}  // namespace treesample
