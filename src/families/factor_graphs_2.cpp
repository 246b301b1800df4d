#include "treesample/families/factor_graphs_2.hpp"

#include <bit>
#include <cmath>
#include <utility>

#include "families/option_fields.hpp"
#include "families/random_graph.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

// The number of a table entry has one bit per variable. The order of the bits does not matter to a majority.
std::vector<double> majority_table(int num_variables, const FactorGraphs2Options& options) {
  std::vector<double> table(std::size_t{1} << num_variables);
  for (unsigned states = 0; states < table.size(); ++states) {
    const int twice_ones = 2 * std::popcount(states);
    const bool holds = options.strict_majority ? twice_ones > num_variables : twice_ones >= num_variables;
    table[states] = holds ? options.scale : 0.0;
  }
  return table;
}

}  // namespace

std::span<const OptionField<FactorGraphs2Options>> factor_graphs_2_fields() {
  using Options = FactorGraphs2Options;
  static constexpr OptionField<Options> kFields[] = {
      {"n", &Options::n, 2, 20'000, "number of variables, even"},
      {"edge_probability", &Options::edge_probability, 0, 1, "probability of an edge (3 log(n / 2) / n if not given)"},
      {"max_clique", &Options::max_clique, 1, 16, "graphs with a larger clique are rejected"},
      {"every_clique", &Options::every_clique, 0, 1, "a factor for all cliques, not only the maximal ones"},
      {"strict_majority", &Options::strict_majority, 0, 1, "MAJORITY asks for more than half, not half or more"},
      {"scale", &Options::scale, -kMaxPotential, kMaxPotential, "value of a factor whose condition holds"},
      {"max_attempts", &Options::max_attempts, 1, 1'000'000, "graphs drawn before giving up (fewer of large ones)"},
  };
  return kFields;
}

FactorGraphs2Options factor_graphs_2_options(Reading reading) {
  FactorGraphs2Options options;
  options.strict_majority = reading == Reading::kBest;
  return options;
}

FamilyInstance make_factor_graphs_2(const FactorGraphs2Options& options, std::uint64_t seed, std::uint64_t instance) {
  check_fields("make_factor_graphs_2", options, factor_graphs_2_fields());
  const int n = options.n;
  check_argument(n % 2 == 0, "make_factor_graphs_2", fmt::format("n is {}, allowed are even numbers", n));
  Random structure = family_stream("factor-graphs-2", seed, instance, "graph");
  const NodeSets cliques =
      draw_cliques({.function = "make_factor_graphs_2",
                    .num_nodes = n / 2,
                    .edge_probability = options.edge_probability.value_or(3.0 * std::log(n / 2) / n),
                    .max_clique = options.max_clique,
                    .every_clique = options.every_clique,
                    .max_attempts = options.max_attempts},
                   structure);
  double entries = 2.0 * n;
  for (const std::vector<int>& clique : cliques) entries += std::exp2(clique.size());
  check_entries("make_factor_graphs_2", entries, "lower n or max_clique");

  Random coins = family_stream("factor-graphs-2", seed, instance, "members");
  FamilyInstance result = empty_instance(n, 2);
  for (int v = 0; v < n; v += 2) add_factor(result, "not", {v, v + 1}, {0.0, options.scale, options.scale, 0.0});
  for (const std::vector<int>& clique : cliques) {
    std::vector<int> scope;
    for (const int pair : clique) scope.push_back(2 * pair + static_cast<int>(coins.below(2)));
    add_factor(result, "majority", std::move(scope), majority_table(static_cast<int>(clique.size()), options));
  }
  return result;
}

}  // namespace treesample
