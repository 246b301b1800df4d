#include "treesample/families/permuted_chain.hpp"

#include <cmath>
#include <utility>

#include "families/option_fields.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

// Appends `rows` draws of the logarithm of a symmetric Dirichlet over k states: log-gamma variables,
// normalised. Gamma(a) = Gamma(a + 1) U^(1/a) in distribution; its logarithm is finite where Gamma(a) itself
// would underflow to 0 for small a.
std::vector<double> draw_log_dirichlet(int rows, int k, double concentration, Random& random) {
  std::vector<double> table(std::size_t(rows) * k);
  for (int row = 0; row < rows; ++row) {
    const std::span<double> states(table.data() + std::size_t(row) * k, k);
    for (double& state : states) {
      state = std::log(random.gamma(concentration + 1.0)) + std::log1p(-random.uniform()) / concentration;
    }
    const double log_sum = log_sum_exp(states);
    for (double& state : states) state -= log_sum;
  }
  return table;
}

}  // namespace

std::span<const OptionField<PermutedChainOptions>> permuted_chain_fields() {
  static constexpr OptionField<PermutedChainOptions> kFields[] = {
      {"n", &PermutedChainOptions::n, 1, 100'000, "number of variables"},
      {"k", &PermutedChainOptions::k, 1, 1000, "number of states of each variable"},
      {"concentration", &PermutedChainOptions::concentration, 1e-3, 1e6, "concentration of the Dirichlet"},
      {"log_tables", &PermutedChainOptions::log_tables, 0, 1, "factors are log-probabilities, not probabilities"},
      {"first_factor", &PermutedChainOptions::first_factor, 0, 1, "the first variable of the chain has a factor"},
      {"ring", &PermutedChainOptions::ring, 0, 1, "the first variable depends on the last one (3 variables or more)"},
      {"pair_offset", &PermutedChainOptions::pair_offset, -kMaxPotential, kMaxPotential,
       "constant added to each table"},
  };
  return kFields;
}

PermutedChainOptions permuted_chain_options(Reading) { return {}; }

FamilyInstance make_permuted_chain(const PermutedChainOptions& options, std::uint64_t seed, std::uint64_t instance) {
  check_fields("make_permuted_chain", options, permuted_chain_fields());
  const int k = options.k;
  check_entries("make_permuted_chain", double(options.n) * k * k, "lower n or k");

  const std::vector<int> sigma = family_stream("permuted-chain", seed, instance, "permutation").permutation(options.n);
  Random random = family_stream("permuted-chain", seed, instance, "tables");
  const auto draw_rows = [&](int rows) {
    std::vector<double> table = draw_log_dirichlet(rows, k, options.concentration, random);
    if (!options.log_tables) {
      for (double& value : table) value = std::exp(value);
    }
    return table;
  };
  FamilyInstance result = empty_instance(options.n, k);
  const auto add_pair = [&](int from, int to) {
    std::vector<double> table = draw_rows(k);
    for (double& value : table) value += options.pair_offset;
    add_factor(result, "pair", {from, to}, std::move(table));
  };
  for (int i = 1; i < options.n; ++i) add_pair(sigma[i - 1], sigma[i]);
  if (options.ring && options.n > 2) add_pair(sigma.back(), sigma.front());
  if (options.first_factor) add_factor(result, "unary", {sigma[0]}, draw_rows(1));
  return result;
}

}  // namespace treesample
