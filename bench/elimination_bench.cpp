// Elimination: nanoseconds per bucket entry in the linear and in the log domain, beside what copying a table takes on
// the same core in the same run, and how much faster several threads are. All passes must agree on log Z.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "exact/elimination_pass.hpp"
#include "exact/linear_table.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/families/family.hpp"
#include "treesample/families/ising.hpp"
#include "treesample/math/random.hpp"

namespace {

using namespace treesample;

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Of one double, read and written, in a table as large as the largest message.
double copy_nanoseconds(std::size_t num_entries) {
  std::vector<double> from(num_entries, 1.0), to(num_entries, 2.0);
  double best = HUGE_VAL;
  for (int run = 0; run < 3; ++run) {
    const double start = wall_seconds();
    std::memcpy(to.data(), from.data(), num_entries * sizeof(double));
    best = std::min(best, wall_seconds() - start);
  }
  return 1e9 * best / static_cast<double>(num_entries);
}

// Pairwise factors on a random graph: several large messages meet in a bucket, with different variables.
FactorGraph random_pairs(int num_variables, int num_states, int num_pairs, std::uint64_t seed) {
  Random random(seed, "elimination bench");
  FactorGraph graph;
  for (int v = 0; v < num_variables; ++v) graph.add_variable(num_states);
  for (int m = 0; m < num_pairs; ++m) {
    std::vector<int> scope = random.permutation(num_variables);
    scope.resize(2);
    std::vector<double> values(static_cast<std::size_t>(num_states) * num_states);
    for (double& value : values) value = random.normal();
    graph.add_table(scope, values);
  }
  return graph;
}

struct Timed {
  double seconds = 0.0, log_z = 0.0;
};

template <typename Pass>
Timed timed(Pass pass, const FactorGraph& graph, const EliminationCost& cost, int num_threads) {
  ThreadTeam team(num_threads);
  const Observer nobody;
  Timed best{HUGE_VAL, 0.0};
  for (int run = 0; run < 2; ++run) {
    EntryWatch watch(nobody, cost.num_entries);
    const double start = wall_seconds();
    const auto result = pass(graph, cost.order, PassOptions{false, &team, std::make_shared<TablePool>(8e9)}, watch);
    best = {std::min(best.seconds, wall_seconds() - start), result->log_z()};
  }
  return best;
}

bool measure(const std::string& name, const FactorGraph& graph) {
  EliminationOptions options;
  options.restarts = 30;
  options.keep_messages = false;
  const EliminationCost cost = elimination_cost(graph, options);
  const double copy = copy_nanoseconds(static_cast<std::size_t>(std::exp2(cost.log2_largest_bucket - 1.0)));
  const Timed logs = timed(log_pass, graph, cost, 1);
  const Timed one = timed(linear_pass, graph, cost, 1);
  const double entry = 1e9 / cost.num_entries;
  fmt::print(
      "{:<24}2^{:.1f} entries, largest bucket 2^{:.1f}: {:.2f} ns per entry, in logarithms {:.2f} ({:.1f} times), "
      "copying {:.2f}\n",
      name, std::log2(cost.num_entries), cost.log2_largest_bucket, one.seconds * entry, logs.seconds * entry,
      logs.seconds / one.seconds, copy);
  bool is_correct = std::abs(logs.log_z - one.log_z) <= 1e-9 * std::abs(logs.log_z);
  for (int num_threads = 2; num_threads <= num_cores(); num_threads *= 2) {
    const Timed several = timed(linear_pass, graph, cost, num_threads);
    fmt::print("{:<24}{} threads: {:.2f} times as fast\n", "", num_threads, one.seconds / several.seconds);
    is_correct = is_correct && several.log_z == one.log_z;
  }
  if (!is_correct) fmt::print("WRONG: passes disagree\n");
  return is_correct;
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  bool is_correct = measure("Ising grid 18 x 18", make_ising({.n = 18}, 1).graph);
  is_correct = measure("58 pairs, 3 states", random_pairs(34, 3, 58, 1)) && is_correct;
  is_correct = measure("26 pairs, 18 states", random_pairs(18, 18, 26, 1)) && is_correct;
  return is_correct ? 0 : 1;
}
