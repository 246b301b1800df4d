// What several threads bring to samples with bounded weights, to sums over a cutset and to mini-buckets, in one run.
//
//   sampler_bench [THREADS]
//
// Beside wall-clock seconds the processor time of all threads and of the calling one: on a machine that others use too,
// all / calling tells how evenly the work was shared, and all with N threads / all with one what sharing it cost.
#include <fmt/format.h>
#include <time.h>

#include <cstdlib>

#include "treesample/evaluate/bounded_importance.hpp"
#include "treesample/exact/cutset.hpp"
#include "treesample/families/ising.hpp"
#include "treesample/search/search_approximation.hpp"
#include "treesample/value/mini_bucket.hpp"

namespace treesample {
namespace {

double seconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <typename Work>
double measure(const char* what, int threads, double one, Work work) {
  const double wall = seconds_of(CLOCK_MONOTONIC), all = seconds_of(CLOCK_PROCESS_CPUTIME_ID),
               mine = seconds_of(CLOCK_THREAD_CPUTIME_ID);
  work();
  const double wall_seconds = seconds_of(CLOCK_MONOTONIC) - wall,
               all_seconds = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - all,
               own_seconds = seconds_of(CLOCK_THREAD_CPUTIME_ID) - mine;
  fmt::print("{},{},{:.3f},{:.3f},{:.3f},{:.2f},{:.2f}\n", what, threads, wall_seconds, all_seconds, own_seconds,
             all_seconds / own_seconds, one > 0.0 ? all_seconds / one : 1.0);
  return all_seconds;
}

void run(int most_threads) {
  fmt::print("what,threads,wall,all,calling,all/calling,all/one thread\n");
  const FactorGraph graph = make_ising({.n = 24}, 1).graph;
  const SearchSpace space = make_search_space(graph, search_order(graph, SpaceKind::kAndOr, {}), SpaceKind::kAndOr);
  MiniBucketOptions buckets;
  buckets.i_bound = 12;
  buckets.passes = 2;
  const LeafValues leaves = mini_bucket_leaves(
      graph, space, std::make_shared<WeightedMiniBucket>(graph, space, buckets), uniform_distributions(graph));
  const SearchApproximation upper(search(graph, space, leaves, {.budget = 1000}), SamplerKind::kUpper);
  Marginals marginals;
  for (int v = 0; v < graph.num_variables(); ++v) marginals.emplace_back(2, 0.5);
  const Cutset cutset = choose_cutset(graph, marginals, {.most_entries = 1e6, .tries = 1});
  std::vector<Assignment> configurations;
  Random random(3);
  for (int i = 0; i < 200; ++i) configurations.push_back(upper.sample(random));
  double one_samples = 0.0, one_sums = 0.0, one_buckets = 0.0;
  for (int threads = 1; threads <= most_threads; threads *= 2) {
    const double samples = measure("samples", threads, one_samples, [&] {
      Random stream(1);
      static_cast<void>(bounded_importance(graph, upper, {.max_samples = 30'000, .threads = threads}, stream));
    });
    const double sums = measure("cutset", threads, one_sums, [&] {
      CutsetSum sum(graph, cutset, {.threads = threads});
      sum.add(configurations);
    });
    const double larger = measure("mini-buckets", threads, one_buckets, [&] {
      static_cast<void>(WeightedMiniBucket(graph, space, {.i_bound = 19, .passes = 3, .threads = threads}));
    });
    if (threads == 1) {
      one_buckets = larger;
      one_samples = samples;
      one_sums = sums;
    }
  }
}

}  // namespace
}  // namespace treesample

int main(int argc, char** argv) {
  treesample::run(argc > 1 ? std::atoi(argv[1]) : 2);
  return 0;
}
