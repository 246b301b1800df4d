// How far guesses can be believed where they are large, by what came of earlier ones.
//
// Where a function falls by thousands of nats, a surrogate that is off by a hundredth of that promises configurations
// far better than the best one, and exp(guess) would give them all of the mass. What is evaluated is where guesses are
// the largest, and these are too large more often than too small. So the promises that were evaluated are compared with
// what came of them: the part above the best value that was known,
//
//   kept = (value - best) / (guess - best) within 0 .. 1,      believed = best + mean(kept) (guess - best),
//
// and the mass of what is believed: its logarithm moves by log (sum of exp(value) / sum of exp(believed)), where that
// is well below 0.
#pragma once

#include <algorithm>
#include <cmath>

namespace treesample {

class Overshoot {
 public:
  // A value, its guess before it was told, and the best value that was known then.
  void note(double guess, double value, double best) {
    const double rise = std::max(0.0, value - best), capped = capped_guess(guess, best);
    promised_mass_ = kForget * promised_mass_ + std::exp(std::min(capped - best, kMost));
    kept_mass_ = kForget * kept_mass_ + std::exp(std::min(value - best, kMost));
    promised_mass_ *= std::exp(-rise);  // in units of the best value
    kept_mass_ *= std::exp(-rise);
    const double promised = guess - best;
    if (!(promised > kSmall) || !std::isfinite(promised)) return;
    const double weight = std::min(1.0, promised / kLarge);
    weights_ = kForget * weights_ + weight;
    kept_ = kForget * kept_ + weight * std::clamp(rise / promised, 0.0, 1.0);
  }
  [[nodiscard]] double believed(double guess, double best) const {
    const double moves = kUsual + std::log((kept_mass_ + kDoubt) / (promised_mass_ + kDoubt));
    return capped_guess(guess, best) + std::min(0.0, moves);
  }

 private:
  [[nodiscard]] double capped_guess(double guess, double best) const {
    return guess > best ? best + (kept_ + kDoubt) / (weights_ + kDoubt) * (guess - best) : guess;
  }

  static constexpr double kSmall = 0.1, kLarge = 3.0, kMost = 30.0;  // nats
  static constexpr double kForget = 0.95;                            // later promises were made from more values
  static constexpr double kUsual = 0.3;  // nats: what is chosen for its guess is worth a little less
  static constexpr double kDoubt = 0.5;  // of a promise, taken as kept, before there are any
  double weights_ = 0.0, kept_ = 0.0, promised_mass_ = 0.0, kept_mass_ = 0.0;
};

}  // namespace treesample
