// exp and log of one number without branches or calls: loops over them vectorise. See vector_math.hpp.
#pragma once

#include <bit>
#include <cstdint>

namespace treesample {

inline constexpr double kLn2High = 0x1.62e42fefa0000p-1;  // the first 33 bits of ln 2: k * kLn2High is exact
inline constexpr double kLn2Low = 0x1.cf79abc9e3b3ap-40;
inline constexpr double kRound = 0x1.8p52;  // adding it rounds to an integer, which its low bits then hold

// exp(x), with x clamped to |x| <= 700.
inline double exp_one(double x) {
  x = x > -700.0 ? x : -700.0;
  x = x < 700.0 ? x : 700.0;
  // x = k ln 2 + r with |r| <= ln 2 / 2; exp(x) = 2^k exp(r), and exp(r) by its series.
  const double shifted = x * 0x1.71547652b82fep+0 + kRound;
  const double k = shifted - kRound;
  const double r = (x - k * kLn2High) - k * kLn2Low;
  // exp(r) - 1 - r = r^2 times the polynomial that interpolates it at the Chebyshev points (relative error 2e-17; the
  // Taylor series needs two terms more). Terms are added in pairs (Estrin), because the chain of Horner's scheme took
  // most of the time of a short call.
  const double r2 = r * r;
  const double r4 = r2 * r2;
  const double p0 = 0x1.0000000000001p-1 + r * 0x1.5555555555556p-3;
  const double p2 = 0x1.5555555553d64p-5 + r * 0x1.11111111109b4p-7;
  const double p4 = 0x1.6c16c1788b646p-10 + r * 0x1.a01a01a7c3d59p-13;
  const double p6 = 0x1.a019b90eefe8ep-16 + r * 0x1.71de0daf7a6ccp-19;
  const double p8 = 0x1.2891834686c7ep-22 + r * 0x1.af38a71a18cb9p-26;
  const double p = r + r2 * ((p0 + r2 * p2) + r4 * ((p4 + r2 * p6) + r4 * p8));
  const std::uint64_t power = (std::bit_cast<std::uint64_t>(shifted) + 1023) << 52;
  return (1.0 + p) * std::bit_cast<double>(power);
}

// x = 2^k m with m in [sqrt(1/2), sqrt(2)), for a positive normal number.
struct Decomposed {
  double k, m;
};
inline Decomposed decompose(double x) {
  constexpr std::uint64_t kSqrtHalf = 0x3fe6a09e00000000;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t biased = bits - kSqrtHalf + (std::uint64_t{1024} << 52);  // exponent k + 1024
  const auto m = std::bit_cast<double>(bits - (biased & (std::uint64_t{0xfff} << 52)) + (std::uint64_t{1024} << 52));
  return {std::bit_cast<double>((biased >> 52) | 0x4330000000000000) - (0x1.0p52 + 1024.0), m};
}

// log(2^k m) = k ln 2 + 2 atanh(f) with f = (m - 1) / (m + 1). The polynomial in s = f^2 interpolates
// (2 atanh(f) / f - 2) / s at the Chebyshev points (relative error 4e-18; the series needs three terms more).
inline double log_from_quotient(double k, double f) {
  const double s = f * f;
  const double s2 = s * s;
  const double s4 = s2 * s2;
  const double p0 = 0x1.5555555555558p-1 + s * 0x1.9999999995273p-2;
  const double p2 = 0x1.2492492dfd86cp-2 + s * 0x1.c71c62d5e53e0p-3;
  const double p4 = 0x1.7462b91b8df65p-3 + s * 0x1.39fdcceb4bb45p-3;
  const double p = (p0 + s2 * p2) + s4 * (p4 + s2 * 0x1.2b5f68a50d903p-3);
  return k * kLn2High + (2.0 * f + (f * s * p + k * kLn2Low));
}

// log(x) for a positive normal number.
inline double log_one(double x) {
  const auto [k, m] = decompose(x);
  return log_from_quotient(k, (m - 1.0) / (m + 1.0));
}

}  // namespace treesample
