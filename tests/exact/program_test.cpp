// Programs with random states, actions and rewards, against the enumeration of all their paths.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"
#include "treesample/program/infer_program.hpp"

namespace treesample {
namespace {

// Numbers 0, 1, ...; actions lead to larger ones, and the last ones are ends.
struct RandomGraph {
  struct Edge {
    int next = 0;
    double log_reward = 0.0;
  };
  int num_inner = 0;
  std::vector<std::vector<Edge>> edges;
  std::vector<double> rewards, uppers, values;  // by state

  RandomGraph(std::uint64_t seed, bool has_same_sums) {
    Random random(seed, "graph");
    num_inner = 2 + static_cast<int>(random.below(8));
    const int count = num_inner + 1 + static_cast<int>(random.below(6));
    std::vector<double> potential;
    for (int i = 0; i < count; ++i) {
      potential.push_back(i == 0 ? 0.0 : random.normal());
      rewards.push_back(random.below(8) == 0 ? kNegInf : 2.0 * random.normal());
    }
    edges.resize(static_cast<std::size_t>(count));
    for (int i = 0; i < num_inner; ++i) {
      for (int j = i + 1; j < count; ++j) {
        if (random.below(3) == 0) continue;
        double log_reward = has_same_sums ? potential[j] - potential[i] : random.normal();
        if (random.below(12) == 0) log_reward = kNegInf;
        edges[i].push_back({j, log_reward});
      }
    }
    for (int i = 0; i < count; ++i) {
      const double value = below(i);
      values.push_back(value == kNegInf ? -3.0 : value + random.normal());
      uppers.push_back((value == kNegInf ? -10.0 : value) + random.uniform());
    }
  }
  // The log of the sum over all paths from a state on.
  [[nodiscard]] double below(int state) const {
    if (state >= num_inner) return rewards[state];
    double sum = kNegInf;
    for (const Edge& edge : edges[state]) sum = log_add_exp(sum, edge.log_reward + below(edge.next));
    return sum;
  }
  // The log weights of all ends that can be reached; of the largest one where there are several paths.
  void reach(int state, double log_sum, std::map<int, double>& ends) const {
    if (log_sum == kNegInf) return;
    if (state >= num_inner) {
      const auto [place, is_new] = ends.try_emplace(state, log_sum + rewards[state]);
      place->second = std::max(place->second, log_sum + rewards[state]);
      return;
    }
    for (const Edge& edge : edges[state]) reach(edge.next, log_sum + edge.log_reward, ends);
  }
};

template <ProgramObjects kObjects>
struct Walk {
  using State = int;
  static constexpr ProgramObjects objects = kObjects;
  const RandomGraph* graph = nullptr;
  State start() const { return 0; }
  bool is_end(State s) const { return s >= graph->num_inner; }
  void actions(State s, auto&& emit) const {
    int action = 0;
    for (const RandomGraph::Edge& edge : graph->edges[s]) emit(action++, edge.next, edge.log_reward);
  }
  double reward(State s) const { return graph->rewards[s]; }
  double upper(State s) const { return graph->uppers[s]; }
  double value(State s) const { return graph->values[s]; }
};

template <ProgramObjects kObjects>
void compare(std::uint64_t seed) {
  const RandomGraph graph(seed, kObjects == ProgramObjects::kEnds);
  std::map<int, double> ends;
  graph.reach(0, 0.0, ends);
  double log_z = kNegInf, best = kNegInf;
  for (const auto& [end, log_weight] : ends) {
    log_z = log_add_exp(log_z, log_weight);
    best = std::max(best, log_weight);
  }
  if (kObjects == ProgramObjects::kPaths) log_z = graph.below(0);
  const double slack = 1e-12 * (1.0 + std::abs(log_z == kNegInf ? 0.0 : log_z));
  for (const ProgramMethod method :
       {ProgramMethod::kAuto, ProgramMethod::kExact, ProgramMethod::kSearch, ProgramMethod::kTree}) {
    for (const std::int64_t calls : {std::int64_t{0}, std::int64_t{2}, Limits::kUnlimited}) {
      HashedProgram<Walk<kObjects>> walk(Walk<kObjects>{&graph});
      const ProgramAnswer answer =
          infer_program(walk, {.method = method, .samples = 2, .seed = seed, .batch = 1 + static_cast<int>(seed % 3)},
                        {.calls = calls});
      ASSERT_LE(answer.log_z.lower, log_z + slack) << seed;
      ASSERT_GE(answer.log_z.upper, log_z - slack) << seed;
      ASSERT_LE(answer.spent.calls, calls);
      if (calls == Limits::kUnlimited) {
        ASSERT_TRUE(answer.is_exact) << seed;
        ASSERT_EQ(answer.best.has_value(), best > kNegInf);
      }
      if (!answer.best) continue;
      ASSERT_LE(answer.best->log_weight, best + slack);
      ASSERT_TRUE(!answer.is_best_optimal || answer.best->log_weight >= best - slack) << seed;
      ASSERT_TRUE(!answer.is_exact || answer.is_best_optimal) << seed;
    }
  }
}

// The log of the sum over all paths in 64 bits of mantissa; terms far below the largest one count as well.
long double wide_sum(const RandomGraph& graph, int state) {
  if (state >= graph.num_inner) return std::exp(static_cast<long double>(graph.rewards[state]));
  long double sum = 0.0L;
  for (const RandomGraph::Edge& edge : graph.edges[state]) {
    sum += std::exp(static_cast<long double>(edge.log_reward)) * wide_sum(graph, edge.next);
  }
  return sum;
}

TEST(Programs, BoundsOfExactAnswersContainTheTruthWithoutAnyTolerance) {
  int num_narrow = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const RandomGraph graph(seed, false);
    const long double log_z = std::log(wide_sum(graph, 0));
    HashedProgram<Walk<ProgramObjects::kPaths>> walk(Walk<ProgramObjects::kPaths>{&graph});
    const ProgramAnswer answer = infer_program(walk, {.method = ProgramMethod::kExact});
    ASSERT_LE(static_cast<long double>(answer.log_z.lower), log_z) << seed;
    ASSERT_GE(static_cast<long double>(answer.log_z.upper), log_z) << seed;
    num_narrow += answer.log_z.width() < 1e-12 ? 1 : 0;
  }
  EXPECT_GT(num_narrow, 450);
}

TEST(Programs, PathsThatAreObjectsEqualTheirEnumeration) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) compare<ProgramObjects::kPaths>(seed);
}

TEST(Programs, EndsThatAreObjectsEqualTheirEnumeration) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) compare<ProgramObjects::kEnds>(seed);
}

}  // namespace
}  // namespace treesample
