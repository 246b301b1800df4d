// Random choices of the mixer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "treesample/math/random.hpp"

namespace treesample::mixer {

class Draw {
 public:
  Draw(std::uint64_t seed, std::int64_t number)
      : random_(seed * 1'000'003 + static_cast<std::uint64_t>(number), "mixer") {}

  int below(int bound) { return static_cast<int>(random_.below(static_cast<std::uint64_t>(bound))); }
  int between(int low, int high) { return low + below(high - low + 1); }
  bool chance(double probability) { return random_.uniform() < probability; }
  double uniform() { return random_.uniform(); }
  double normal() { return random_.normal(); }
  template <class Value>
  const Value& one_of(const std::vector<Value>& values) {
    return values[static_cast<std::size_t>(below(static_cast<int>(values.size())))];
  }
  std::vector<int> some_of(int count, int size) {
    std::vector<int> chosen = random_.permutation(size);
    chosen.resize(static_cast<std::size_t>(std::min(count, size)));
    return chosen;
  }

 private:
  Random random_;
};

}  // namespace treesample::mixer
