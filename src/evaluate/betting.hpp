// Limits of the mean of numbers in [0, 1], by betting (Waudby-Smith and Ramdas, "Estimating means of bounded random
// variables by betting", 2024).
//
// For each m, a gambler who believes that the mean is above m bets on every number, another one that it is below:
//
//   K+(m) = prod_t 1 + min(l_t, c / m) (z_t - m),      K-(m) = prod_t 1 - min(l_t, c / (1 - m)) (z_t - m),
//
// where l_t is chosen before z_t is seen. If m is the mean both are fair games, and by Ville's inequality one of them
// ever reaches 2 / delta with probability delta at most. What no gambler has made so rich is the interval: it holds
// after any number of numbers, whenever one chooses to stop. K+ falls in m and K- rises, which is why bisection finds
// its ends.
//
//   l_t = sqrt(2 log(2 / delta) / (variance so far * how many numbers are expected in all))
//
// makes it nearly as short as the central limit theorem would. Half of the capital is bet so, with the variance as it
// shows. The other half is careful and takes a number of 1 into account that has not come yet, a variance of 1 / (4 t):
// the first loses all where the numbers that matter are rare, the second is slow where all of them are small. The first
// kPilot numbers only tell the variance. Numbers
// are bet on in batches, whose size is chosen when the pilot is over: the mean of a batch is a number in [0, 1] too.
#pragma once

#include <cstdint>
#include <vector>

namespace treesample {

struct MeanLimits {
  double lower = 0.0, upper = 1.0;
};

class BettingInterval {
 public:
  explicit BettingInterval(double confidence);

  // z in [0, 1]. `expected` numbers in all, as far as is known now: what it is changes the length of the interval, not
  // its truth, as long as it does not look ahead.
  void add(double z, double expected);
  [[nodiscard]] MeanLimits limits() const;

  static constexpr std::int64_t kPilot = 50;

 private:
  struct Bet {
    double mean = 0.0;                 // of a batch
    double bold = 0.0, careful = 0.0;  // l_t of both halves
  };
  void place(double mean, double expected);
  // Did the gambler for, or against, means above m ever have enough?
  [[nodiscard]] bool is_rejected(double m, bool is_above) const;

  double log_threshold_;  // log(2 / delta)
  std::vector<Bet> bets_;
  std::int64_t count_ = 0, batch_size_ = 1, in_batch_ = 0;
  double batch_sum_ = 0.0;
  double mean_ = 0.0, squares_ = 0.0,
         weight_ = 0.0;  // Welford's, of batches; the pilot's numbers count 1 / batch_size_
};

}  // namespace treesample
