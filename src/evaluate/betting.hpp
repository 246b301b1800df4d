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
// makes it nearly as short as the central limit theorem would. Part of the capital is bet so, with the variance as it
// shows. The other part is careful and takes a number of 1 into account that has not come yet, a variance of 1 / (4 t):
// the first loses all where the numbers that matter are rare, the second is slow where all of them are small. The first
// kPilot numbers only tell the variance.
//
// The stakes stay the same for rounds of a tenth of the numbers before. Within a round the order of the numbers does
// not matter, and numbers between two marks a and b count as if each were a or b, with the same sum: log(1 + l (z - m))
// lies above its chord, so that no gambler has more than he would have. Memory and time do not grow with the numbers,
// and no capital is lost to averages: a mean of many numbers can only be bet on as if all of them could be 1.
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

  // z in [0, 1]. `expected` numbers in all, as far as is known now: what it is changes the length of the interval, not
  // its truth, as long as it does not look ahead.
  void add(double z, double expected);
  [[nodiscard]] MeanLimits limits() const;

  static constexpr std::int64_t kPilot = 50;

 private:
  // Numbers between two marks.
  struct Bin {
    std::size_t mark = 0;  // the lower one
    double count = 0.0, sum = 0.0;
  };
  struct Round {
    double bold = 0.0, careful = 0.0;  // l_t of both parts
    std::vector<Bin> bins = {};
  };
  void begin_round(double expected);
  // Did the gambler for, or against, means above m ever have enough?
  [[nodiscard]] bool is_rejected(double m, bool is_above) const;

  double log_threshold_;  // log(2 / delta)
  std::vector<Round> rounds_;
  std::vector<int> bin_of_mark_;  // of this round; -1 before there is one
  std::int64_t count_ = 0, round_end_ = 0;
  double mean_ = 0.0, squares_ = 0.0;  // Welford's
};

}  // namespace treesample
