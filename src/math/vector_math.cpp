#include "treesample/math/vector_math.hpp"

#include <bit>
#include <cstdint>

// One version per instruction set, chosen when the program starts. Without fused multiply-add
// (-ffp-contract=off) all versions round alike. Sanitizer runtimes do not survive the dispatch.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__clang__)
#define TS_DISPATCHED __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define TS_DISPATCHED
#endif

namespace treesample {
namespace {

constexpr double kLn2High = 0x1.62e42fefa0000p-1;  // the first 33 bits of ln 2: k * kLn2High is exact
constexpr double kLn2Low = 0x1.cf79abc9e3b3ap-40;
constexpr double kRound = 0x1.8p52;  // adding it rounds to an integer, which its low bits then hold

inline double exp_one(double x) {
  x = x > -700.0 ? x : -700.0;
  x = x < 700.0 ? x : 700.0;
  // x = k ln 2 + r with |r| <= ln 2 / 2; exp(x) = 2^k exp(r), and exp(r) by its series.
  const double shifted = x * 0x1.71547652b82fep+0 + kRound;
  const double k = shifted - kRound;
  const double r = (x - k * kLn2High) - k * kLn2Low;
  double p = 1.0 / 6227020800.0;  // 1 / 13!
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = (p * r) * r + r;
  const std::uint64_t power = (std::bit_cast<std::uint64_t>(shifted) + 1023) << 52;
  return (1.0 + p) * std::bit_cast<double>(power);
}

inline double log_one(double x) {
  // x = 2^k m with m in [sqrt(1/2), sqrt(2)); log m = 2 atanh(f) with f = (m - 1) / (m + 1).
  constexpr std::uint64_t kSqrtHalf = 0x3fe6a09e00000000;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t biased = bits - kSqrtHalf + (std::uint64_t{1024} << 52);  // exponent k + 1024
  const double m = std::bit_cast<double>(bits - (biased & (std::uint64_t{0xfff} << 52)) + (std::uint64_t{1024} << 52));
  const double k = std::bit_cast<double>((biased >> 52) | 0x4330000000000000) - (0x1.0p52 + 1024.0);
  const double f = (m - 1.0) / (m + 1.0);
  const double s = f * f;
  double p = 2.0 / 23.0;
  p = p * s + 2.0 / 21.0;
  p = p * s + 2.0 / 19.0;
  p = p * s + 2.0 / 17.0;
  p = p * s + 2.0 / 15.0;
  p = p * s + 2.0 / 13.0;
  p = p * s + 2.0 / 11.0;
  p = p * s + 2.0 / 9.0;
  p = p * s + 2.0 / 7.0;
  p = p * s + 2.0 / 5.0;
  p = p * s + 2.0 / 3.0;
  return k * kLn2High + (2.0 * f + (f * s * p + k * kLn2Low));
}

}  // namespace

TS_DISPATCHED void exp_each(std::span<double> values) {
  double* const data = values.data();
  const std::size_t count = values.size();
  for (std::size_t i = 0; i < count; ++i) data[i] = exp_one(data[i]);
}

TS_DISPATCHED void log_each(std::span<double> values) {
  double* const data = values.data();
  const std::size_t count = values.size();
  for (std::size_t i = 0; i < count; ++i) data[i] = log_one(data[i]);
}

}  // namespace treesample
