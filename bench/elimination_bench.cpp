// Elimination: nanoseconds per bucket entry in the linear and in the log domain, compared with the time to copy a table
// on the same core in the same run, and the speed-up of several threads. All passes must agree on log Z.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "exact/elimination_pass.hpp"
#include "exact/linear_table.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/families/ising.hpp"
#include "treesample/math/random.hpp"

namespace {

using namespace treesample;

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Nanoseconds to read and write one double, in a table as large as the largest message, with num_threads threads.
double copy_nanoseconds(std::size_t num_entries, int num_threads) {
  ThreadTeam team(num_threads);
  std::vector<double> from(num_entries, 1.0), to(num_entries, 2.0);
  double best = HUGE_VAL;
  for (int run = 0; run < 3; ++run) {
    const double start = wall_seconds();
    team.run(num_entries, std::size_t{1} << 16, [&](std::size_t first, std::size_t last, int /*worker*/) {
      std::memcpy(to.data() + first, from.data() + first, (last - first) * sizeof(double));
    });
    best = std::min(best, wall_seconds() - start);
  }
  return 1e9 * best / static_cast<double>(num_entries);
}

// Pairwise factors on a random graph: several large messages over different variables meet in a bucket.
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
  double seconds = HUGE_VAL, seconds_of_marginals = HUGE_VAL;
  double log_z = 0.0;
  Marginals marginals;
};

// The better of two runs; the second one needs no new memory.
template <typename Pass>
Timed timed(Pass pass, const FactorGraph& graph, const EliminationPlan& plan, int num_threads, bool with_marginals) {
  ThreadTeam team(num_threads);
  const Observer nobody;
  const auto pool = std::make_shared<TablePool>(8e9);
  Timed best;
  for (int run = 0; run < 2; ++run) {
    EntryWatch watch(nobody, plan.num_entries);
    double start = wall_seconds();
    const auto result = pass(graph, plan, PassOptions{with_marginals, &team, pool}, watch);
    best.seconds = std::min(best.seconds, wall_seconds() - start);
    best.log_z = result->log_z();
    if (!with_marginals) continue;
    start = wall_seconds();
    best.marginals = result->marginals(watch);
    best.seconds_of_marginals = std::min(best.seconds_of_marginals, wall_seconds() - start);
  }
  return best;
}

struct Asked {
  std::vector<int> order;  // if empty, a search finds an order
  bool with_logarithms = true, with_marginals = true;
};

bool measure(const std::string& name, const FactorGraph& graph, const Asked& asked = {}) {
  const EliminationPlan plan =
      asked.order.empty() ? plan_elimination(graph, {.restarts = 300}) : plan_in_order(graph, asked.order);
  const auto table = static_cast<std::size_t>(std::exp2(plan.log2_largest_bucket - 1.0));
  const double copy = copy_nanoseconds(table, 1);
  const Timed one = timed(linear_pass, graph, plan, 1, asked.with_marginals);
  const double entry = 1e9 / plan.num_entries;
  const auto of_marginals = [&](double value) {
    return asked.with_marginals ? fmt::format(" {:.2f} for marginals,", value) : "";
  };
  fmt::print("{:<24}2^{:.1f} entries, largest bucket 2^{:.1f}: {:.2f} ns per entry,{} copying {:.2f}\n", name,
             std::log2(plan.num_entries), plan.log2_largest_bucket, one.seconds * entry,
             of_marginals(one.seconds_of_marginals * entry), copy);
  bool is_correct = true;
  if (asked.with_logarithms) {
    const Timed logs = timed(log_pass, graph, plan, 1, false);
    fmt::print("{:<24}in logarithms {:.2f} ns per entry, {:.1f} times\n", "", logs.seconds * entry,
               logs.seconds / one.seconds);
    is_correct = std::abs(logs.log_z - one.log_z) <= 1e-9 * std::abs(logs.log_z);
  }
  for (int num_threads = 2; num_threads <= num_cores(); num_threads *= 2) {
    const Timed several = timed(linear_pass, graph, plan, num_threads, asked.with_marginals);
    fmt::print("{:<24}{} threads: {:.2f} times as fast,{} copying {:.2f}\n", "", num_threads,
               one.seconds / several.seconds, of_marginals(one.seconds_of_marginals / several.seconds_of_marginals),
               copy / copy_nanoseconds(table, num_threads));
    is_correct = is_correct && several.log_z == one.log_z && several.marginals == one.marginals;
  }
  if (!is_correct) fmt::print("WRONG: passes disagree\n");
  return is_correct;
}

// The order that goes row by row: every bucket has n + 1 variables.
std::vector<int> rows(int n) {
  std::vector<int> order(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  bool is_correct = measure("Ising grid 18 x 18", make_ising({.n = 18}, 1).graph, {.order = rows(18)});
  is_correct = measure("the same, log Z alone", make_ising({.n = 18}, 1).graph,
                       {.order = rows(18), .with_logarithms = false, .with_marginals = false}) &&
               is_correct;
  // These tables are far larger than the caches. Marginals are left out, because all tables would have to be kept for
  // them.
  is_correct = measure("Ising grid 23 x 23", make_ising({.n = 23}, 1).graph,
                       {.order = rows(23), .with_logarithms = false, .with_marginals = false}) &&
               is_correct;
  is_correct = measure("78 pairs, 3 states", random_pairs(40, 3, 78, 1)) && is_correct;
  is_correct = measure("36 pairs, 18 states", random_pairs(22, 18, 36, 1)) && is_correct;
  return is_correct ? 0 : 1;
}
