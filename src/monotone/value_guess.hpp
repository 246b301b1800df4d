// A guess at unknown values of a monotone function: a sum of nonnegative weights over the levels that are reached,
// fitted to the answers one at a time.
//
// It only decides which box to cut, where to cut it, and which corner is worth a call; no bound depends on it. For a
// value at the top or at the bottom of the range, any prediction beyond it is right (most functions of this kind are
// flat there). So for a function with two values this is a linear classifier.
#pragma once

#include <cstdint>
#include <vector>

#include "monotone/known_values.hpp"
#include "treesample/math/random.hpp"

namespace treesample {

class ValueGuess {
 public:
  ValueGuess(int num_bits, std::uint64_t seed);

  // `share` tells where the value lies in the range, from 0 (the smallest value) to 1 (the largest).
  void add(const KnownValues::Bits& x, double share);
  // In [0, 1].
  [[nodiscard]] double share(const KnownValues::Bits& x) const;
  [[nodiscard]] double weight(int bit) const { return weights_[bit]; }

 private:
  struct Lesson {
    std::vector<int> bits;
    double target;
  };
  [[nodiscard]] double score(const std::vector<int>& bits) const;
  void learn(const Lesson& lesson);

  std::vector<double> weights_;
  double offset_ = -1.0;
  std::vector<Lesson> lessons_;
  Random random_;
};

}  // namespace treesample
