// Compares the speed of the tree search with its deliberately naive twin (examples/literal_tree_sample.hpp), in one run
// and on one core, so that the ratios hold on any machine. The twin keeps its nodes in a std::map from prefixes or, as
// a harder comparison, in a hash table. All of them must grow the same tree.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <string>

#include "examples/literal_tree_sample.hpp"
#include "support/random_models.hpp"
#include "support/same_tree.hpp"
#include "tree/tree_store.hpp"
#include "treesample/families/family.hpp"
#include "treesample/store/passes.hpp"
#include "treesample/tree/tree_sample.hpp"

namespace {

using namespace treesample;

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Measured {
  double per_second = 0.0;
  double bytes_each = 0.0;
  double levels = 0.0;  // mean length of a traversal
};

// The best of several runs, because noise can only slow a run down.
Measured measure_engine(const FactorGraph& graph, const SearchSpace& space, std::int64_t budget) {
  Measured best;
  for (int run = 0; run < (budget <= 100'000 ? 300 : 6); ++run) {
    const double start = cpu_seconds();
    const TreeSearchResult result = tree_sample(graph, space, {}, {.budget = budget, .bytes = SIZE_MAX});
    const double seconds = cpu_seconds() - start;
    const auto evaluations = static_cast<double>(result.report.spent.reward_evaluations);
    if (evaluations / seconds <= best.per_second) continue;
    best = {evaluations / seconds, static_cast<double>(result.report.used_bytes) / evaluations, 0.0};
    const TreeStore& store = result.approximation.store();
    const NodesByLevel nodes(result.approximation.view());
    for (int n = 0; n < space.num_levels(); ++n) {
      for (std::uint32_t i = 0; i < nodes.size(n); ++i) {
        const Node node = store.node(n, nodes.index(n, i));
        for (int a = 0; a < node.num_states(); ++a) best.levels += node.visits(a) / evaluations;
      }
    }
  }
  return best;
}

// Evaluations per second (the best of several runs) of the twin with this kind of map, or a negative number if the
// trees differ.
template <class Tree>
double measure_naive(const FactorGraph& graph, const SearchSpace& space, std::int64_t budget) {
  const std::vector<int> order = testing::integers(graph.num_variables());
  double best = 0.0;
  for (int run = 0; run < (budget <= 100'000 ? 40 : 2); ++run) {
    literal::TreeSample<Tree> naive(graph, order, {});
    const double start = cpu_seconds();
    naive.tree_sample(budget);
    best = std::max(best, static_cast<double>(naive.used()) / (cpu_seconds() - start));
    if (run > 0) continue;
    const TreeSearchResult result = tree_sample(graph, space, {}, {.budget = budget});
    const std::string difference = testing::difference(result.approximation.store(), naive.tree());
    if (difference.empty()) continue;
    fmt::print("the trees differ: {}\n", difference);
    return -1.0;
  }
  return best;
}

}  // namespace

int main() {
  bool is_correct = true;
  fmt::print("{:<13}{:>10}{:>12}{:>10}{:>7}{:>10}{:>7}{:>12}{:>8}{:>10}\n", "model", "budget", "engine /s", "map /s",
             "ratio", "hash /s", "ratio", "bytes each", "levels", "ns/level");
  for (const auto& [n, k] : {std::pair{10, 5}, std::pair{20, 2}, std::pair{100, 2}}) {
    FamilyOptions options{.seed = 1};
    options.values = {{"n", n}, {"k", k}};
    const FactorGraph graph = make_family("chain", options).graph;
    const SearchSpace space =
        make_search_space(graph, search_order(graph, SpaceKind::kTree, {.kind = OrderKind::kGiven}), SpaceKind::kTree);
    for (const std::int64_t budget : {10'000, 1'000'000, 10'000'000}) {
      const Measured engine = measure_engine(graph, space, budget);
      fmt::print("{:<13}{:>10}{:>12.3g}", fmt::format("chain {}x{}", n, k), budget, engine.per_second);
      for (const auto measure : {measure_naive<literal::Tree>, measure_naive<literal::HashedTree>}) {
        const double naive = budget <= 1'000'000 ? measure(graph, space, budget) : NAN;
        is_correct = is_correct && !(naive < 0.0);
        fmt::print("{:>10.3g}{:>7.1f}", naive, engine.per_second / naive);
        std::fflush(stdout);
      }
      fmt::print("{:>12.1f}{:>8.1f}{:>10.1f}\n", engine.bytes_each, engine.levels,
                 1e9 / engine.per_second / engine.levels);
    }
  }
  fmt::print("{}\n", is_correct ? "all grew the same trees" : "FAILED: the trees differ");
  return is_correct ? 0 : 1;
}
