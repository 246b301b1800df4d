// Certified bounds of log Z of a grid within half a second, and an error that can be caught.
#include <iostream>
#include <memory>
#include <treesample/treesample.hpp>

namespace ts = treesample;

int main() {
  ts::FactorGraph graph;
  constexpr int kSide = 12;
  for (int v = 0; v < kSide * kSide; ++v) graph.add_variable(2);
  for (int v = 0; v < kSide * kSide; ++v) {
    if (v % kSide + 1 < kSide) graph.add_table({v, v + 1}, {0.7, -0.3, -0.3, 0.4});
    if (v + kSide < kSide * kSide) graph.add_table({v, v + kSide}, {-0.2, 0.5, 0.1, -0.6});
  }
  const auto kind = ts::SpaceKind::kAndOr;
  const ts::SearchSpace space = ts::make_search_space(graph, ts::search_order(graph, kind, {}), kind);
  const auto buckets =
      std::make_shared<const ts::WeightedMiniBucket>(graph, space, ts::MiniBucketOptions{.i_bound = 4});
  const ts::LeafValues leaves = ts::mini_bucket_leaves(graph, space, buckets, ts::uniform_distributions(graph));
  const ts::AnytimeResult result = ts::anytime_search(graph, space, leaves, {.seconds = 0.5});
  std::cout << "log Z in [" << result.report.log_z.lower << ", " << result.report.log_z.upper << "]\n";
  try {
    graph.add_variable(0);
    return 1;
  } catch (const ts::Error& error) {
    std::cout << error.what() << "\n";
  }
  const double log_z = ts::Elimination(graph).log_z();
  return result.report.log_z.lower <= log_z && log_z <= result.report.log_z.upper ? 0 : 1;
}
