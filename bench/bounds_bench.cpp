// Compares the search, with its rules gap and q-uct, with the tree search on a binary model in `tree`. Everything is
// measured in one run and on one core, so that the ratios hold on any machine. A level is one node that a traversal
// passes, down and up. With one expansion per traversal, a level means the same for both searches; with the default,
// more of the expansions fall on each level. Bounds must contain the log Z of elimination.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <string>

#include "search/bound_store.hpp"
#include "tree/tree_store.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/families/family.hpp"
#include "treesample/search/search.hpp"
#include "treesample/store/passes.hpp"
#include "treesample/tree/tree_sample.hpp"
#include "treesample/value/mini_bucket.hpp"

namespace {

using namespace treesample;

constexpr std::int64_t kBudget = 1'000'000;
constexpr int kNumRuns = 3;
constexpr int kGridSize = 12;
constexpr double kTolerance = 1e-9;  // for the rounding errors of elimination

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Measured {
  double per_second = 0.0;  // reward evaluations; the best of several runs, because noise can only slow a run down
  double evaluations = 0.0;
  double levels = 0.0;  // number of levels passed in all traversals
  double bytes_each = 0.0;
  bool is_correct = true;

  [[nodiscard]] double ns_per_level() const { return 1e9 * evaluations / per_second / levels; }
};

// The number of levels that all traversals passed: each traversal adds one visit per level.
template <typename Visits>
double count_levels(const SearchSpace& space, Visits visits_of) {
  double levels = 0.0;
  for (int n = 0; n < space.num_levels(); ++n) levels += visits_of(n);
  return levels;
}

Measured measure_tree(const FactorGraph& graph, const SearchSpace& space) {
  Measured best;
  for (int run = 0; run < kNumRuns; ++run) {
    const double start = cpu_seconds();
    const TreeSearchResult result = tree_sample(graph, space, {}, {.budget = kBudget, .bytes = SIZE_MAX});
    const double seconds = cpu_seconds() - start;
    best.evaluations = static_cast<double>(result.report.spent.reward_evaluations);
    best.per_second = std::max(best.per_second, best.evaluations / seconds);
    best.bytes_each = static_cast<double>(result.report.used_bytes) / best.evaluations;
    const TreeStore& store = result.approximation.store();
    const NodesByLevel nodes(result.approximation.view());
    best.levels = count_levels(space, [&](int n) {
      double visits = 0.0;
      for (std::uint32_t i = 0; i < nodes.size(n); ++i) {
        const Node node = store.node(n, nodes.index(n, i));
        for (int a = 0; a < node.num_states(); ++a) visits += node.visits(a);
      }
      return visits;
    });
  }
  return best;
}

Measured measure_search(const FactorGraph& graph, const SearchSpace& space, const LeafValues& leaves,
                        const SearchOptions& options, double log_z) {
  Measured best;
  for (int run = 0; run < kNumRuns; ++run) {
    const double start = cpu_seconds();
    const SearchResult result = search(graph, space, leaves, {.budget = kBudget, .bytes = SIZE_MAX}, options);
    const double seconds = cpu_seconds() - start;
    best.evaluations = static_cast<double>(result.report.spent.reward_evaluations);
    best.per_second = std::max(best.per_second, best.evaluations / seconds);
    best.bytes_each = static_cast<double>(result.report.used_bytes) / best.evaluations;
    best.is_correct = best.is_correct && result.report.log_z.lower <= log_z + kTolerance &&
                      log_z <= result.report.log_z.upper + kTolerance;
    best.levels = count_levels(space, [&](int n) {
      double visits = 0.0;
      for (NodeIndex i = 0; i < result.store->end_index(n); ++i) {
        const BoundNode& node = result.store->node(n, i);
        if (!node.is_expanded()) continue;
        for (int a = 0; a < space.levels[n].num_states; ++a) visits += result.store->expansion(n, node).visits(a);
      }
      return visits;
    });
  }
  return best;
}

void print_row(const char* space, const std::string& engine, const Measured& measured, const Measured& plain) {
  fmt::print("{:<7}{:<26}{:>12.0f}{:>12.3g}{:>9.2f}{:>10.1f}{:>10.1f}{:>9.2f}{:>12.1f}\n", space, engine,
             measured.evaluations, measured.per_second, measured.per_second / plain.per_second,
             measured.levels / measured.evaluations, measured.ns_per_level(),
             measured.ns_per_level() / plain.ns_per_level(), measured.bytes_each);
  std::fflush(stdout);
}

}  // namespace

int main() {
  FamilyOptions family{.seed = 1};
  family.values = {{"n", kGridSize}};
  const FactorGraph graph = make_family("ising", family).graph;
  const double log_z = Elimination(graph).log_z();
  bool is_correct = true;
  fmt::print("ising {0}x{0}, at most {1} reward evaluations\n", kGridSize, kBudget);
  fmt::print("{:<7}{:<26}{:>12}{:>12}{:>9}{:>10}{:>10}{:>9}{:>12}\n", "space", "search", "evaluations", "per second",
             "ratio", "levels", "ns/level", "ratio", "bytes each");
  for (const SpaceKind kind : {SpaceKind::kAndOr, SpaceKind::kGraph, SpaceKind::kTree}) {
    const bool is_tree = kind == SpaceKind::kTree;
    const char* const name = is_tree ? "tree" : kind == SpaceKind::kGraph ? "graph" : "andor";
    const OrderKind order = kind == SpaceKind::kGraph ? OrderKind::kGiven : OrderKind::kMinFill;
    const SearchSpace space = make_search_space(graph, search_order(graph, kind, {.kind = order}), kind);
    const SearchOptions q_uct{.select = SelectRule::kQUct, .expansions_per_traversal = 1, .dive_interval = 0};
    const LeafValues uniform{.estimate = std::make_shared<const UniformValue>(space)};
    const Measured plain = is_tree ? measure_tree(graph, space) : measure_search(graph, space, uniform, q_uct, log_z);
    print_row(name, is_tree ? "tree search" : "q-uct", plain, plain);
    LeafValues maxima{.lower = product_value(graph, space, uniform_distributions(graph)),
                      .upper = maxima_value(graph, space)};
    MiniBucketOptions bucket_options{.i_bound = 8};
    const LeafValues buckets = mini_bucket_leaves(
        graph, space, std::make_shared<WeightedMiniBucket>(graph, space, bucket_options), uniform_distributions(graph));
    for (const auto& [text, leaves] : {std::pair{"gap, maxima", maxima}, std::pair{"gap, buckets i = 8", buckets}}) {
      for (const int expansions : {1, SearchOptions().expansions_per_traversal}) {
        const Measured measured = measure_search(graph, space, leaves, {.expansions_per_traversal = expansions}, log_z);
        print_row(name, fmt::format("{}, {}", text, expansions), measured, plain);
        is_correct = is_correct && measured.is_correct;
      }
    }
  }
  fmt::print("{}\n", is_correct ? "all bounds contain log Z" : "FAILED: bounds miss log Z");
  return is_correct ? 0 : 1;
}
