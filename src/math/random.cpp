#include "treesample/math/random.hpp"

#include <cmath>
#include <numbers>
#include <numeric>

namespace treesample {
namespace {

// FNV-1a over the stream's name, then one round of splitmix64 to spread neighbouring seeds.
std::uint64_t stream_seed(std::uint64_t seed, std::string_view stream) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : stream) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  std::uint64_t z = seed + hash + 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace

Random::Random(std::uint64_t seed, std::string_view stream) : engine_(stream_seed(seed, stream)) {}

std::uint64_t Random::below(std::uint64_t bound) {
  // Rejects the incomplete last interval, so that every value has the same probability.
  const std::uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
  std::uint64_t value = bits();
  while (value >= limit) value = bits();
  return value % bound;
}

double Random::normal() {
  const double radius = std::sqrt(-2.0 * std::log1p(-uniform()));  // Box-Muller
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

double Random::gamma(double shape) {
  if (shape < 1.0) return gamma(shape + 1.0) * std::pow(1.0 - uniform(), 1.0 / shape);
  const double d = shape - 1.0 / 3.0;  // Marsaglia and Tsang 2000
  const double c = 1.0 / std::sqrt(9.0 * d);
  while (true) {
    const double z = normal();
    const double v = std::pow(1.0 + c * z, 3.0);
    if (v <= 0.0) continue;
    if (std::log1p(-uniform()) < 0.5 * z * z + d - d * v + d * std::log(v)) return d * v;
  }
}

int Random::categorical(std::span<const double> weights) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  double remaining = uniform() * total;
  int last_possible = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0.0) continue;
    last_possible = static_cast<int>(i);
    if (remaining < weights[i]) break;
    remaining -= weights[i];
  }
  return last_possible;  // also if rounding leaves `remaining` just above 0 after the last weight
}

std::vector<int> Random::permutation(int count) {
  std::vector<int> items(static_cast<std::size_t>(count));
  std::iota(items.begin(), items.end(), 0);
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  return items;
}

}  // namespace treesample
