#include "treesample/families/chain.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "families/gaussian_process.hpp"
#include "families/option_fields.hpp"
#include "treesample/math/random.hpp"

namespace treesample {

std::span<const OptionField<ChainOptions>> chain_fields() {
  static constexpr OptionField<ChainOptions> kFields[] = {
      {"n", &ChainOptions::n, 1, 100'000, "number of variables"},
      {"k", &ChainOptions::k, 1, 1000, "number of states of each variable"},
      {"bandwidth", &ChainOptions::bandwidth, 0.01, 50, "bandwidth of the RBF kernel of the unary potentials"},
      {"scale", &ChainOptions::scale, 0, kMaxPotential, "scale of the unary potentials"},
      {"scale_is_variance", &ChainOptions::scale_is_variance, 0, 1, "scale is a variance, not a standard deviation"},
      {"pair_slope", &ChainOptions::pair_slope, -kMaxPotential, kMaxPotential,
       "binary potential per unit of distance on the torus"},
      {"pair_offset", &ChainOptions::pair_offset, -kMaxPotential, kMaxPotential,
       "constant added to each binary potential"},
      {"ring", &ChainOptions::ring, 0, 1, "the last variable is a neighbour of the first one (3 variables or more)"},
  };
  return kFields;
}

ChainOptions chain_options(Reading reading) {
  ChainOptions options;
  if (reading == Reading::kBest) options.pair_offset = 2.5;
  return options;
}

FamilyInstance make_chain(const ChainOptions& options, std::uint64_t seed, std::uint64_t instance) {
  check_fields("make_chain", options, chain_fields());
  const int k = options.k;
  check_entries("make_chain", double(options.n) * k * (k + 1), "lower n or k");

  Random random = family_stream("chain", seed, instance, "unary");
  const double amplitude = options.scale_is_variance ? std::sqrt(options.scale) : options.scale;
  const std::vector<double> draw = draw_gaussian_process(options.n, k, options.bandwidth, random);
  FamilyInstance result = empty_instance(options.n, k);
  for (int v = 0; v < options.n; ++v) {
    std::vector<double> unary(k);
    for (int a = 0; a < k; ++a) unary[a] = amplitude * draw[std::size_t(v) * k + a];
    add_factor(result, "unary", {v}, std::move(unary));
  }

  std::vector<double> pair;
  for (int a = 0; a < k; ++a) {
    for (int b = 0; b < k; ++b) {
      const int distance = std::min(std::abs(a - b), k - std::abs(a - b));
      pair.push_back(options.pair_slope * distance + options.pair_offset);
    }
  }
  for (int v = 0; v + 1 < options.n; ++v) add_factor(result, "pair", {v, v + 1}, pair);
  if (options.ring && options.n > 2) add_factor(result, "pair", {options.n - 1, 0}, pair);
  return result;
}

}  // namespace treesample
