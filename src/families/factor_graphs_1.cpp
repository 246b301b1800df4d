#include "treesample/families/factor_graphs_1.hpp"

#include <cmath>
#include <utility>

#include "families/option_fields.hpp"
#include "families/random_graph.hpp"
#include "treesample/math/random.hpp"

namespace treesample {

std::span<const OptionField<FactorGraphs1Options>> factor_graphs_1_fields() {
  using Options = FactorGraphs1Options;
  static constexpr OptionField<Options> kFields[] = {
      {"n", &Options::n, 1, 10'000, "number of variables"},
      {"k", &Options::k, 1, 1000, "number of states of each variable"},
      {"edge_probability", &Options::edge_probability, 0, 1, "probability of an edge (2 log(n) / n if not given)"},
      {"max_clique", &Options::max_clique, 1, 16, "graphs with a larger clique are rejected"},
      {"every_clique", &Options::every_clique, 0, 1, "a factor for all cliques, not only the maximal ones"},
      {"entry_mean", &Options::entry_mean, -kMaxPotential, kMaxPotential, "mean of the factors' entries"},
      {"entry_stddev", &Options::entry_stddev, 0, kMaxPotential, "standard deviation of the factors' entries"},
      {"max_attempts", &Options::max_attempts, 1, 1'000'000, "graphs drawn before giving up (fewer of large ones)"},
  };
  return kFields;
}

FactorGraphs1Options factor_graphs_1_options(Reading reading) {
  FactorGraphs1Options options;
  if (reading == Reading::kBest) options.entry_mean = 1.0;
  return options;
}

FamilyInstance make_factor_graphs_1(const FactorGraphs1Options& options, std::uint64_t seed, std::uint64_t instance) {
  check_fields("make_factor_graphs_1", options, factor_graphs_1_fields());
  Random structure = family_stream("factor-graphs-1", seed, instance, "graph");
  const NodeSets cliques =
      draw_cliques({.function = "make_factor_graphs_1",
                    .num_nodes = options.n,
                    .edge_probability = options.edge_probability.value_or(2.0 * std::log(options.n) / options.n),
                    .max_clique = options.max_clique,
                    .every_clique = options.every_clique,
                    .max_attempts = options.max_attempts},
                   structure);
  double entries = 0.0;
  for (const std::vector<int>& clique : cliques) entries += std::pow(options.k, clique.size());
  check_entries("make_factor_graphs_1", entries, "lower n, k or max_clique");

  Random random = family_stream("factor-graphs-1", seed, instance, "entries");
  FamilyInstance result = empty_instance(options.n, options.k);
  for (const std::vector<int>& clique : cliques) {
    std::vector<double> table(static_cast<std::size_t>(std::llround(std::pow(options.k, clique.size()))));
    for (double& entry : table) entry = options.entry_mean + options.entry_stddev * random.normal();
    add_factor(result, "table", clique, std::move(table));
  }
  return result;
}

}  // namespace treesample
