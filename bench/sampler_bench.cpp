// The speed-up of several threads for orders of elimination, samples with bounded weights, sums over a cutset and
// mini-buckets. For comparison it measures arithmetic in registers, which shows the best possible speed-up on the
// machine: `arithmetic` waits for each result; `throughput` keeps the arithmetic units busy, which hardware threads of
// one core share.
//
//   sampler_bench [THREADS [WHAT]]
//
// WHAT is one of arithmetic, throughput, orders, samples, cutset and mini-buckets; the default is all of them. Each
// takes seconds with one thread, and with 16 threads long enough for their start not to matter.
//
// Besides wall-clock seconds, it prints the processor time of all threads and of the calling thread. If other programs
// run too, the ratio all / calling shows how evenly the work was shared, and the ratio of `all` with N threads to `all`
// with one thread shows what sharing it cost. The last column is an upper limit for sharing: N independent processes do
// all of the work each, with one thread each; it says by how much N of them together are faster than one alone.
#include <fmt/format.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <numeric>
#include <string>

#include "thread_team.hpp"
#include "treesample/evaluate/bounded_importance.hpp"
#include "treesample/exact/cutset.hpp"
#include "treesample/exact/elimination.hpp"
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

std::string wanted;  // name of a measurement; all if it is empty

struct Seconds {
  double wall = 0.0, all = 0.0;
};

// Wall-clock seconds of this many processes at a time.
template <typename Work>
double seconds_of_processes(int count, Work work) {
  const double start = seconds_of(CLOCK_MONOTONIC);
  for (int i = 0; i < count; ++i) {
    if (fork() != 0) continue;
    work(1);
    _exit(0);
  }
  while (wait(nullptr) > 0) {
  }
  return seconds_of(CLOCK_MONOTONIC) - start;
}

// The first call, which has one thread, is the reference for the others.
template <typename Work>
void measure(const char* what, int threads, Seconds& one, Work work) {
  if (!wanted.empty() && wanted != what) return;
  const double wall = seconds_of(CLOCK_MONOTONIC), all = seconds_of(CLOCK_PROCESS_CPUTIME_ID),
               mine = seconds_of(CLOCK_THREAD_CPUTIME_ID);
  work(threads);
  const Seconds now = {seconds_of(CLOCK_MONOTONIC) - wall, seconds_of(CLOCK_PROCESS_CPUTIME_ID) - all};
  const double own = seconds_of(CLOCK_THREAD_CPUTIME_ID) - mine;
  if (threads == 1) one = now;
  const double apart = threads == 1 ? 1.0 : threads * one.wall / seconds_of_processes(threads, work);
  fmt::print("{},{},{:.3f},{:.3f},{:.3f},{:.2f},{:.2f},{:.2f},{:.2f}\n", what, threads, now.wall, now.all, own,
             now.all / own, now.all / one.all, one.wall / now.wall, apart);
  std::fflush(stdout);  // so that a forked process has nothing left to print
}

// The most that the cores can do in parallel if each operation waits for the one before.
double sums_in_registers(int threads) {
  ThreadTeam team(threads);
  std::vector<double> sums(256);
  team.run(sums.size(), 1, [&](std::size_t first, std::size_t /*last*/, int /*worker*/) {
    double sum = 1.0;
    for (int i = 0; i < 2'000'000; ++i) sum += 1.0 / sum;
    sums[first] = sum;
  });
  return sums.back();
}

// The same for operations that do not wait for each other: as many as fit into the registers.
double products_in_registers(int threads) {
  ThreadTeam team(threads);
  std::vector<double> sums(256);
  team.run(sums.size(), 1, [&](std::size_t first, std::size_t /*last*/, int /*worker*/) {
    std::array<double, 24> products;
    std::iota(products.begin(), products.end(), 1.0);
    for (int i = 0; i < 500'000; ++i) {
      for (double& product : products) product = product * 0.999999 + 1e-6;
    }
    sums[first] = std::accumulate(products.begin(), products.end(), 0.0);
  });
  return sums.back();
}

void run(int most_threads) {
  fmt::print("what,threads,wall,all,calling,all/calling,all/one thread,times as fast,processes\n");
  std::fflush(stdout);
  const FactorGraph graph = make_ising({.n = 24}, 1).graph;
  const SearchSpace space = make_search_space(graph, search_order(graph, SpaceKind::kAndOr, {}), SpaceKind::kAndOr);
  MiniBucketOptions buckets{.i_bound = 12, .passes = 2};
  const LeafValues leaves = mini_bucket_leaves(
      graph, space, std::make_shared<WeightedMiniBucket>(graph, space, buckets), uniform_distributions(graph));
  const SearchApproximation upper(search(graph, space, leaves, {.budget = 1000}), SamplerKind::kUpper);
  Marginals marginals;
  for (int v = 0; v < graph.num_variables(); ++v) marginals.emplace_back(2, 0.5);
  const Cutset cutset = choose_cutset(graph, marginals, {.most_entries = 1e6, .tries = 1});
  std::vector<Assignment> configurations;
  Random random(3);
  for (int i = 0; i < 1600; ++i) configurations.push_back(upper.sample(random));
  Seconds arithmetic, throughput, orders, samples, sums, larger;
  for (int threads = 1; threads <= most_threads; threads *= 2) {
    measure("arithmetic", threads, arithmetic, [](int t) { static_cast<void>(sums_in_registers(t)); });
    measure("throughput", threads, throughput, [](int t) { static_cast<void>(products_in_registers(t)); });
    measure("orders", threads, orders,
            [&](int t) { static_cast<void>(plan_elimination(graph, {.restarts = 4000, .threads = t})); });
    measure("samples", threads, samples, [&](int t) {
      Random stream(1);
      static_cast<void>(bounded_importance(graph, upper, {.max_samples = 400'000, .threads = t}, stream));
    });
    measure("cutset", threads, sums, [&](int t) {
      CutsetSum sum(graph, cutset, {.threads = t});
      sum.add(configurations);
    });
    measure("mini-buckets", threads, larger, [&](int t) {
      static_cast<void>(WeightedMiniBucket(
          graph, space, {.bytes = std::uint64_t{2} << 30, .i_bound = 19, .passes = 6, .threads = t}));
    });
  }
}

}  // namespace
}  // namespace treesample

int main(int argc, char** argv) {
  if (argc > 2) treesample::wanted = argv[2];
  treesample::run(argc > 1 ? std::atoi(argv[1]) : 2);
  return 0;
}
