// Random numbers with the same bits on every machine: the standard fixes the engine, and the
// distributions are written out here because the standard leaves theirs open.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string_view>
#include <vector>

namespace treesample {

class Random {
 public:
  // Streams with different names are independent for the same seed: a method takes its own stream
  // ("ties", "samples", ...), so that using one source of randomness never shifts another.
  explicit Random(std::uint64_t seed, std::string_view stream = "");

  std::uint64_t bits() { return engine_(); }
  // Uniform in [0, 1).
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }
  // Uniform in {0, ..., bound - 1}; bound >= 1.
  std::uint64_t below(std::uint64_t bound);
  double normal();
  // Gamma with the given shape > 0 and scale 1.
  double gamma(double shape);
  // Index i with probability weights[i] / sum; the weights are >= 0 and not all 0.
  int categorical(std::span<const double> weights);
  // 0, ..., count - 1 in random order.
  std::vector<int> permutation(int count);

 private:
  std::mt19937_64 engine_;
};

}  // namespace treesample
