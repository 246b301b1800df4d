// The parts of count(): numbers, boxes of zeros, the cache, the trail, reductions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "count/component_cache.hpp"
#include "count/count_number.hpp"
#include "count/count_problem.hpp"
#include "count/decomposition.hpp"
#include "count/reduce.hpp"
#include "count/split_table.hpp"
#include "count/zero_boxes.hpp"
#include "count/zero_trail.hpp"
#include "support/trials.hpp"
#include "support/zero_models.hpp"
#include "treesample/exact/enumeration.hpp"

namespace treesample {
namespace {

using testing::below;

// Logarithms near 1e9 have lost the digits of their difference; one level of a circuit after the other would add that
// up.
TEST(CountNumber, QuotientsOfLargeNumbersHaveAllDigits) {
  for (const std::int32_t exponent : {-1'400'000'000, 0, 1'400'000'000}) {
    const CountNumber whole = CountNumber::of_parts({1.75, exponent, 0.0F});
    EXPECT_DOUBLE_EQ(quotient(CountNumber::of_parts({1.25, exponent, 0.0F}), whole), 1.25 / 1.75);
    EXPECT_DOUBLE_EQ(quotient(CountNumber::of_parts({1.5, exponent - 3, 0.0F}), whole), 1.5 / 8.0 / 1.75);
    EXPECT_EQ(quotient(CountNumber(), whole), 0.0);
  }
  EXPECT_EQ(quotient(CountNumber::of_parts({1.0, -1'400'000'000, 0.0F}), CountNumber::of_parts({1.0, 7, 0.0F})), 0.0);
}

TEST(CountNumber, SumsAndProductsOfAllSizes) {
  for (const double a : {-1e8, -700.0, -1.0, 0.0, 0.3, 400.0, 1e8}) {
    for (const double b : {-1e8, -700.0, 0.0, 2.0, 1e8}) {
      const CountNumber x = CountNumber::of_log(a, 0.0), y = CountNumber::of_log(b, 0.0);
      const LogBounds product = (x * y).log_bounds(), sum = (x + y).log_bounds();
      EXPECT_LE(product.lower, a + b);
      EXPECT_GE(product.upper, a + b);
      EXPECT_LE(sum.lower, log_add_exp(a, b) + 1e-15 * std::abs(a));
      EXPECT_GE(sum.upper, log_add_exp(a, b) - 1e-15 * std::abs(a));
      EXPECT_LT(sum.upper - sum.lower, 1e-14 * (100.0 + std::abs(a) + std::abs(b)));
    }
  }
  EXPECT_TRUE((CountNumber() * CountNumber::one()).is_zero());
  EXPECT_TRUE((CountNumber() + CountNumber::one()).is_one());
  EXPECT_EQ(CountNumber().log_bounds().upper, kNegInf);
}

// 2^-53 of each of a million operations is within the error, and little more is.
TEST(CountNumber, ErrorsAddUp) {
  CountNumber sum, product = CountNumber::one();
  const CountNumber third = CountNumber::of_log(-std::log(3.0), 0.0);
  constexpr int kTimes = 1'000'000;
  for (int i = 0; i < kTimes; ++i) {
    sum += third;
    product *= third;
  }
  const double log_sum = std::log(kTimes / 3.0), log_product = -kTimes * std::log(3.0);
  EXPECT_LE(sum.log_bounds().lower, log_sum);
  EXPECT_GE(sum.log_bounds().upper, log_sum);
  EXPECT_LE(product.log_bounds().lower, log_product);
  EXPECT_GE(product.log_bounds().upper, log_product);
  EXPECT_GE(product.error(), kTimes);
  EXPECT_LT(sum.error(), 1.3 * kTimes + 100.0);
}

bool is_in(const ZeroBox& box, const std::vector<int>& states) {
  for (const BoxSide& side : box) {
    if ((states[side.position] == side.state) != side.is_one) return false;
  }
  return true;
}

TEST(ZeroBoxes, HoldTheZerosAndNothingElse) {
  for (int trial = 0; trial < 300; ++trial) {
    Random random(trial, "boxes");
    std::vector<int> num_states;
    std::size_t size = 1;
    for (int i = 1 + below(random, 4); i > 0; --i) {
      num_states.push_back(2 + below(random, 3));
      size *= static_cast<std::size_t>(num_states.back());
    }
    std::vector<double> values(size);
    const double zeros = random.uniform();
    for (double& value : values) value = random.uniform() < zeros ? kNegInf : 1.0;
    const std::vector<ZeroBox> boxes = cover_zeros(num_states, values);
    for (std::size_t entry = 0; entry < size; ++entry) {
      std::vector<int> states(num_states.size());
      std::size_t rest = entry;
      for (std::size_t i = states.size(); i-- > 0; rest /= static_cast<std::size_t>(num_states[i])) {
        states[i] = static_cast<int>(rest % static_cast<std::size_t>(num_states[i]));
      }
      bool is_covered = false;
      for (const ZeroBox& box : boxes) is_covered = is_covered || is_in(box, states);
      EXPECT_EQ(is_covered, values[entry] == kNegInf);
    }
  }
}

TEST(ZeroBoxes, GatesAreTheirUsualClauses) {
  // c = a and b: (a or not c), (b or not c), (not a or not b or c).
  std::vector<double> values;
  for (int i = 0; i < 8; ++i) values.push_back(((i >> 2) & (i >> 1) & 1) == (i & 1) ? 0.0 : kNegInf);
  std::multiset<std::size_t> lengths;
  for (const ZeroBox& box : cover_zeros(std::vector<int>{2, 2, 2}, values)) lengths.insert(box.size());
  EXPECT_EQ(lengths, (std::multiset<std::size_t>{2, 2, 3}));
}

TEST(ComponentCache, TakesBackWhatWasStoredSinceAMark) {
  ComponentCache cache(1 << 20);
  const auto store = [&](const std::string& key) {
    cache.store(key, ComponentCache::hash(key), {CountNumber::one(), 7});
  };
  const auto has = [&](const std::string& key) { return cache.find(key, ComponentCache::hash(key)) != nullptr; };
  store("a");
  const std::uint64_t mark = cache.mark();
  store("b");
  store("c");
  EXPECT_TRUE(has("a") && has("b") && has("c"));
  cache.take_back(mark);
  EXPECT_TRUE(has("a"));
  EXPECT_FALSE(has("b") || has("c"));
  store("b");
  EXPECT_TRUE(has("b"));
}

TEST(ComponentCache, StaysWithinItsMemoryAndKeepsWhatIsUsed) {
  constexpr std::uint64_t kLimit = 200'000;
  ComponentCache cache(kLimit);
  const std::string used = "used";
  cache.store(used, ComponentCache::hash(used), {});
  for (int i = 0; i < 20'000; ++i) {
    const std::string key = "key" + std::to_string(i);
    ASSERT_EQ(cache.find(key, ComponentCache::hash(key)), nullptr);
    cache.store(key, ComponentCache::hash(key), {});
    EXPECT_LE(cache.bytes(), kLimit);
    ASSERT_NE(cache.find(used, ComponentCache::hash(used)), nullptr);
    if (i % 1000 == 0) cache.take_back(cache.mark() - 3);
  }
  EXPECT_GT(cache.num_evicted(), 0);
  EXPECT_GT(cache.size(), 100U);
}

// After any decisions the trail holds what a table of all configurations says at least as far as single clauses do, and
// undoing restores it.
TEST(ZeroTrail, LosesNoConfigurationAndUndoes) {
  for (int trial = 0; trial < 300; ++trial) {
    SCOPED_TRACE(trial);
    Random random(trial, "trail");
    testing::RandomCspOptions kind{.num_variables = 5, .max_states = 4, .num_factors = 6, .zeros = 0.4};
    const FactorGraph graph = testing::random_csp(random, kind);
    const CountProblem problem = make_problem(graph, {});
    ZeroTrail trail(problem, trial % 2 == 0);
    const std::vector<double> log_probs = enumerate(graph).log_probs;
    if (!trail.is_consistent()) {
      EXPECT_EQ(enumerate(graph).log_z, kNegInf);
      continue;
    }
    const auto live_states = [&] { return trail.live().words; };
    for (int path = 0; path < 10; ++path) {
      const auto before = live_states();
      const ZeroTrail::Mark mark = trail.mark();
      std::vector<std::pair<int, int>> decided;
      bool is_possible = true;
      while (is_possible && decided.size() < 3) {
        const int v = below(random, 5);
        const int s = below(random, graph.num_states(v));
        if (!trail.is_live(v, s)) break;
        decided.emplace_back(v, s);
        is_possible = trail.decide(problem.variables[v].literal(s));
      }
      for (std::size_t i = 0; i < log_probs.size(); ++i) {
        if (log_probs[i] == kNegInf) continue;
        const Assignment x = configuration_at(graph, i);
        bool agrees = true;
        for (const auto& [v, s] : decided) agrees = agrees && x[v] == s;
        if (!agrees) continue;
        EXPECT_TRUE(is_possible);
        for (int v = 0; v < 5 && is_possible; ++v) EXPECT_TRUE(trail.is_live(v, x[v]));
      }
      trail.undo(mark);
      EXPECT_EQ(live_states(), before);
      // Learned clauses hold in all configurations too.
      const bool is_left = trail.assert_learned();
      for (std::size_t i = 0; i < log_probs.size(); ++i) {
        if (log_probs[i] == kNegInf) continue;
        EXPECT_TRUE(is_left);
        const Assignment x = configuration_at(graph, i);
        for (int v = 0; v < 5 && is_left; ++v) EXPECT_TRUE(trail.is_live(v, x[v]));
      }
      if (!is_left) break;
    }
  }
}

TEST(ReduceForCount, KeepsLogZ) {
  int num_merged = 0, num_inlined = 0, num_summed = 0;
  for (int trial = 0; trial < 500; ++trial) {
    SCOPED_TRACE(trial);
    Random random(trial, "reduce");
    testing::RandomCspOptions kind{
        .num_variables = 6, .max_states = 4, .num_factors = 7, .zeros = 0.5, .num_levels = 2};
    const FactorGraph graph = testing::random_csp(random, kind);
    const CountReduction reduced = reduce_for_count(graph, {});
    const double before = enumerate(graph).log_z, after = enumerate(reduced.graph).log_z;
    if (before == kNegInf) {
      EXPECT_EQ(after, kNegInf);
    } else {
      EXPECT_NEAR(after, before, 1e-12 + reduced.log_error);
      EXPECT_LT(reduced.log_error, 1e-11);
    }
    num_merged += reduced.num_merged_states;
    num_inlined += reduced.num_inlined;
    num_summed += reduced.num_summed;
  }
  EXPECT_GT(num_merged, 100);
  EXPECT_GT(num_inlined, 5);
  EXPECT_GT(num_summed, 1000);
}

TEST(ReduceForCount, EachReductionKeepsLogZ) {
  int num_split = 0, num_equivalent = 0;
  for (int trial = 0; trial < 400; ++trial) {
    SCOPED_TRACE(trial);
    Random random(trial, "reduce each");
    testing::RandomCspOptions kind{
        .num_variables = 6, .max_states = 3, .num_factors = 6, .zeros = 0.5, .num_levels = 2};
    FactorGraph graph = testing::random_csp(random, kind);
    // A product of two tables in one, and a copy of a variable.
    std::vector<double> a, b, product;
    for (int s = 0; s < graph.num_states(0); ++s) a.push_back(random.uniform() < 0.3 ? kNegInf : random.normal());
    for (int s = 0; s < graph.num_states(1); ++s) b.push_back(random.uniform() < 0.3 ? kNegInf : random.normal());
    for (const double x : a) {
      for (const double y : b) product.push_back(x + y);
    }
    graph.add_table({0, 1}, product);
    const int copy = graph.add_variable(graph.num_states(2));
    std::vector<double> equal;
    for (int s = 0; s < graph.num_states(2); ++s) {
      for (int t = 0; t < graph.num_states(2); ++t) equal.push_back(s == t ? 0.0 : kNegInf);
    }
    graph.add_table({2, copy}, equal);
    const double before = enumerate(graph).log_z;
    for (int way = 0; way < 16; ++way) {
      const CountReduction reduced = reduce_for_count(
          graph, {},
          {.splits = way % 2 == 1, .merges = way / 2 % 2 == 1, .inlines = way / 4 % 2 == 1, .sums = way >= 8});
      const double after = enumerate(reduced.graph).log_z;
      EXPECT_TRUE(before == kNegInf ? after == kNegInf : std::abs(after - before) < 1e-12 + reduced.log_error);
      EXPECT_LT(reduced.log_error, 1e-11);
      num_split += reduced.num_split;
      num_equivalent += reduced.num_equivalent;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(num_split, 1000);
  EXPECT_GT(num_equivalent, 500);
}

TEST(SplitTable, FindsProductsAndNothingElse) {
  for (int trial = 0; trial < 300; ++trial) {
    SCOPED_TRACE(trial);
    Random random(trial, "split");
    const std::vector<int> num_states{1 + below(random, 3), 1 + below(random, 3), 1 + below(random, 3)};
    const auto position = static_cast<std::size_t>(below(random, 3));
    const auto number = [&] { return random.uniform() < 0.3 ? kNegInf : 100.0 * random.normal(); };
    std::vector<double> own(static_cast<std::size_t>(num_states[position])), rest, values;
    for (double& value : own) value = number();
    for (int i = 0; i < num_states[0] * num_states[1] * num_states[2] / num_states[position]; ++i)
      rest.push_back(number());
    for (int x = 0; x < num_states[0]; ++x) {
      for (int y = 0; y < num_states[1]; ++y) {
        for (int z = 0; z < num_states[2]; ++z) {
          const int other = position == 0   ? y * num_states[2] + z
                            : position == 1 ? x * num_states[2] + z
                                            : x * num_states[1] + y;
          values.push_back(own[position == 0 ? x : position == 1 ? y : z] + rest[other]);
        }
      }
    }
    const bool is_possible = *std::max_element(values.begin(), values.end()) != kNegInf;
    const auto parts = split_off(num_states, values, position);
    EXPECT_EQ(parts.has_value(), is_possible);
    if (!parts) continue;
    EXPECT_LT(parts->error, 1e-10);
    // One entry that is off by more than rounding makes it another table, where there are two rows and columns.
    if (own.size() < 2 || rest.size() < 2) continue;
    const auto entry = static_cast<std::size_t>(below(random, static_cast<int>(values.size())));
    if (values[entry] == kNegInf) continue;
    const auto num_finite = std::count_if(values.begin(), values.end(), [](double v) { return v != kNegInf; });
    if (num_finite < 2) continue;
    values[entry] = kNegInf;
    const auto broken = split_off(num_states, values, position);
    const auto alone = [&](const std::vector<double>& list) {
      return std::count_if(list.begin(), list.end(), [](double v) { return v != kNegInf; }) < 2;
    };
    EXPECT_EQ(broken.has_value(), alone(own) || alone(rest));
  }
}

TEST(ReduceForCount, SumsACircuitWithFreeOutputsAway) {
  testing::Circuit01 circuit;
  std::vector<int> wires;
  Random random(1, "circuit");
  for (int i = 0; i < 10; ++i) wires.push_back(circuit.input());
  for (int i = 0; i < 40; ++i) {
    const std::vector<int> order = random.permutation(static_cast<int>(wires.size()));
    wires.push_back(i % 2 == 0 ? circuit.conjunction(wires[order[0]], wires[order[1]])
                               : circuit.parity({wires[order[0]], wires[order[1]]}));
  }
  const CountReduction reduced = reduce_for_count(circuit.graph, {});
  EXPECT_EQ(reduced.graph.num_variables(), 0);
  EXPECT_NEAR(enumerate(reduced.graph).log_z, 10.0 * std::log(2.0), 1e-9);
}

TEST(DecompositionGuide, RootsAPathInItsMiddle) {
  FactorGraph graph;
  for (int v = 0; v < 31; ++v) graph.add_variable(2);
  for (int v = 0; v + 1 < 31; ++v) graph.add_table({v, v + 1}, {0.0, 1.0, 1.0, 0.0});
  const DecompositionGuide guide = make_guide(adjacency_of(graph), {}, 3, 0, {});
  EXPECT_EQ(guide.width, 1);
  ASSERT_EQ(guide.depths.size(), 31U);
  EXPECT_LT(guide.depths[15], 0.2);
  EXPECT_GT(std::max(guide.depths[0], guide.depths[30]), 0.9);
}

// Outward from the middle each decision leaves a part that is shorter by one variable: a time quadratic in the length.
TEST(DecompositionGuide, HalvesLongPathsAgainAndAgain) {
  constexpr int kLength = 20'000;
  Adjacency path(kLength);
  for (int v = 0; v + 1 < kLength; ++v) {
    path[v].push_back(v + 1);
    path[v + 1].push_back(v);
  }
  const DecompositionGuide guide = make_guide(path, {}, 1, 0, {});
  const std::set<double> depths(guide.depths.begin(), guide.depths.end());
  EXPECT_LE(depths.size(), 15U);  // 2^14 < length < 2^15
  EXPECT_GE(depths.size(), 13U);
}

}  // namespace
}  // namespace treesample
