// The numbers of NumPy's legacy generator (numpy.random.RandomState), from which published tasks draw their instances.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

namespace treesample::bench {

class NumpyRandom {
 public:
  explicit NumpyRandom(std::uint32_t seed) : engine_(seed) {}

  double uniform() {
    const std::uint32_t a = bits() >> 5, b = bits() >> 6;
    return (a * 67108864.0 + b) / 9007199254740992.0;
  }
  // In 0 .. bound - 1; the smallest power of two above `bound` is `mask` + 1.
  std::uint32_t below(std::uint32_t bound, std::uint32_t mask) {
    for (;;) {
      const std::uint32_t value = bits() & mask;
      if (value < bound) return value;
    }
  }
  double beta(double a, double b) {
    if (a > 1.0 || b > 1.0) {
      const double x = gamma(a), y = gamma(b);
      return x / (x + y);
    }
    for (;;) {
      const double u = uniform(), v = uniform();
      const double x = std::pow(u, 1.0 / a), y = std::pow(v, 1.0 / b);
      if (x + y <= 1.0 && x + y > 0.0) return x / (x + y);
    }
  }

 private:
  std::uint32_t bits() { return static_cast<std::uint32_t>(engine_()); }
  double normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    for (;;) {
      const double x = 2.0 * uniform() - 1.0, y = 2.0 * uniform() - 1.0, square = x * x + y * y;
      if (square >= 1.0 || square == 0.0) continue;
      const double factor = std::sqrt(-2.0 * std::log(square) / square);
      spare_ = factor * x;
      has_spare_ = true;
      return factor * y;
    }
  }
  // For shapes of 1 and more.
  double gamma(double shape) {
    if (shape == 1.0) return -std::log(1.0 - uniform());
    const double b = shape - 1.0 / 3.0, c = 1.0 / std::sqrt(9.0 * b);
    for (;;) {
      const double x = normal(), v = 1.0 + c * x;
      if (v <= 0.0) continue;
      const double cube = v * v * v, u = uniform();
      if (u < 1.0 - 0.0331 * x * x * x * x) return b * cube;
      if (std::log(u) < 0.5 * x * x + b * (1.0 - cube + std::log(cube))) return b * cube;
    }
  }

  std::mt19937 engine_;
  double spare_ = 0.0;
  bool has_spare_ = false;
};

}  // namespace treesample::bench
