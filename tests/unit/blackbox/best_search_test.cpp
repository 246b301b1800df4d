// The best configuration by few calls (blackbox/best_search.cpp).
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "treesample/blackbox/black_box.hpp"
#include "treesample/blackbox/portfolio.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// Agreement with a hidden configuration, and pairs of neighbours beside it.
double agreement(const Assignment& x) {
  double sum = 0.0;
  for (std::size_t v = 0; v < x.size(); ++v) {
    sum += x[v] == static_cast<int>(v % 3) ? 1.0 : 0.0;
    if (v > 0 && x[v] == x[v - 1]) sum -= 0.3;
  }
  return sum;
}

TEST(BestSearch, FindsTheBestOfMoreThanCanBeEnumerated) {
  const Domain domain{.num_states = std::vector<int>(20, 3)};
  BlackBox box(domain, {.seed = 1, .wants_best = true, .looks_for_noise = false});
  std::set<Assignment> asked;
  for (int i = 0; i < 40; ++i) {
    for (const Assignment& x : box.ask(4)) {
      EXPECT_TRUE(asked.insert(x).second);
      box.tell(x, agreement(x));
    }
  }
  EXPECT_EQ(asked.size(), 160U);
  const BlackBoxAnswer answer = box.answer();
  ASSERT_TRUE(answer.best);
  EXPECT_NEAR(answer.best->log_density, 20.0, 1e-9);
  EXPECT_EQ(answer.approximation, nullptr);
  EXPECT_FALSE(answer.is_exact);
}

TEST(BestSearch, EverythingAskedIsExact) {
  BlackBox box(Domain{.num_states = {2, 3, 2}}, {.wants_best = true, .looks_for_noise = false});
  int count = 0;
  for (std::vector<Assignment> next = box.ask(5); !next.empty(); next = box.ask(5)) {
    for (const Assignment& x : next) {
      box.tell(x, x[0] + x[1] == 2 ? kNegInf : 0.5 * x[1]);
      ++count;
    }
  }
  EXPECT_EQ(count, 12);
  EXPECT_TRUE(box.answer().is_exact);
  EXPECT_EQ(box.answer().best->log_density, 1.0);
}

TEST(BestSearch, ASavedBoxGoesOnWithTheSameBits) {
  const Domain domain{.num_states = std::vector<int>(22, 2)};
  BlackBox box(domain, {.seed = 3, .wants_best = true}), other(domain, {.seed = 3, .wants_best = true});
  for (int i = 0; i < 15; ++i) {
    for (const Assignment& x : box.ask(3)) box.tell(x, agreement(x));
  }
  other.load(box.save());
  EXPECT_EQ(other.ask(5), box.ask(5));
}

// The means of neighbours, which are computed together, are those of single predictions.
TEST(BestSearch, NeighboursAreWhatTheyAreAlone) {
  const Domain domain{.num_states = {3, 2, 4, 3, 5}, .levels = {{}, {}, {1, 2, 4, 8}, {}, {}}};
  ToldValues told{.width = 5};
  Random random(2);
  for (int i = 0; i < 80; ++i) {
    Assignment x;
    for (const int k : domain.num_states) x.push_back(static_cast<int>(random.below(k)));
    told.add(domain, x, agreement(x) + 0.2 * x[2]);
  }
  const std::vector<std::vector<std::string>> parts{
      {"sparse terms", "forest"}, {"gaussian process", "forest"}, {"sparse terms", "gaussian process"}, {}};
  for (const std::vector<std::string>& without : parts) {
    const std::unique_ptr<Surrogate> surrogate = make_portfolio(domain, {}, without);
    surrogate->fit(told, {});
    const Assignment x{1, 1, 2, 0, 3};
    std::vector<double> means(17);
    surrogate->predict_neighbours(x, means);
    std::size_t place = 0;
    for (std::size_t v = 0; v < x.size(); ++v) {
      for (int a = 0; a < domain.num_states[v]; ++a) {
        Assignment other = x;
        other[v] = a;
        std::vector<Prediction> one(1);
        surrogate->predict(other, one);
        EXPECT_NEAR(means[place++], one[0].mean, 1e-5);
      }
    }
  }
}

// Its values are those of all configurations with the same states, which are told nowhere.
TEST(BestSearch, AFunctionOfFewVariablesIsExactForAllConfigurations) {
  FactorGraph graph;
  for (int v = 0; v < 3; ++v) graph.add_variable(v == 1 ? 3 : 2);
  graph.add_factor(Factor::function({0}, [](std::span<const int> x) { return -2.0 * x[0]; }));
  graph.add_table({1}, {0.0, 1.0, 2.0});
  BlackBox box(graph, {.wants_best = true});
  for (int told = 0; told < 12; ++told) {
    for (const Assignment& x : box.ask(1)) {
      box.tell_function(0, std::vector{x[0]}, -2.0 * x[0]);
      box.tell_done(x);
    }
    const BlackBoxAnswer answer = box.answer();
    const double truth = enumerate(graph).log_z;
    EXPECT_GE(answer.log_upper, truth);
    EXPECT_LE(answer.log_lower, truth);
    if (!answer.is_exact) continue;
    EXPECT_NEAR(answer.log_z, truth, 1e-12);
    ASSERT_TRUE(answer.best);
    EXPECT_EQ(answer.best->log_density, 2.0);
  }
  EXPECT_TRUE(box.answer().is_exact);
}

}  // namespace
}  // namespace treesample
