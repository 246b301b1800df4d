#include "treesample/blackbox/sparse_terms.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/black_boxes.hpp"

namespace treesample {
namespace {

using testing::all_rows;
using testing::predictions;
using testing::random_rows;
using testing::told_at;

// A function with all 66 pairs of 12 binary variables.
struct AllPairs {
  Domain domain{.num_states = std::vector<int>(12, 2)};
  std::vector<double> strength;

  explicit AllPairs(double size) {
    Random random(11, "pairs");
    for (int i = 0; i < 144; ++i) strength.push_back(size * random.normal());
  }
  double operator()(std::span<const int> x) const {
    double sum = 0.3;
    for (std::size_t i = 0; i < 12; ++i) {
      for (std::size_t j = i; j < 12; ++j) sum += strength[12 * i + j] * (2 * x[i] - 1) * (j == i ? 1 : 2 * x[j] - 1);
    }
    return sum;
  }
};

TEST(SparseTerms, AllPairsAreExactFromThreeHundredValues) {
  for (const double size : {0.01, 1.0, 100.0}) {
    const AllPairs truth(size);
    SparseTerms terms(truth.domain);
    terms.fit(told_at(truth.domain, random_rows(truth.domain, 300, 1), truth), {});
    const std::vector<int> rows = all_rows(truth.domain);
    const auto found = predictions(terms, rows);
    std::vector<double> means(found.size());
    terms.predict_all(means);
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i].mean, truth({rows.data() + 12 * i, 12}), 1e-6 * std::max(1.0, size));
      EXPECT_NEAR(found[i].mean, means[i], 1e-9 * std::max(1.0, size));
    }
  }
}

TEST(SparseTerms, FindsAFewPairsAmongVeryMany) {
  const Domain domain{.num_states = std::vector<int>(30, 3)};
  const auto truth = [](std::span<const int> x) {
    return 0.8 * x[0] - 1.2 * x[3] * x[17] + (x[5] == x[29] ? 2.0 : 0.0);
  };
  SparseTerms terms(domain);
  terms.fit(told_at(domain, random_rows(domain, 300, 2), truth), {});
  const std::vector<int> rows = random_rows(domain, 50, 3);
  const auto found = predictions(terms, rows);
  for (std::size_t i = 0; i < 50; ++i) EXPECT_NEAR(found[i].mean, truth({rows.data() + 30 * i, 30}), 0.01);
}

TEST(SparseTerms, AnAddedValueMovesThePredictionThereAndMakesItSurer) {
  const Domain domain{.num_states = {3, 3, 3, 3}};
  Random random(4, "noise");
  const auto noisy = [&](std::span<const int> x) { return x[0] + 0.3 * random.normal(); };
  SparseTerms terms(domain, {.is_noisy = true});
  terms.fit(told_at(domain, random_rows(domain, 30, 4), noisy), {});
  const std::vector<int> x{2, 2, 2, 2};
  const Prediction before = predictions(terms, x)[0];
  for (int i = 0; i < 20; ++i) terms.add(x, before.mean + 1.0);
  const Prediction after = predictions(terms, x)[0];
  EXPECT_GT(after.mean, before.mean + 0.2);
  EXPECT_LT(after.mean, before.mean + 1.0);
  EXPECT_LT(after.sd, before.sd + 0.1);
}

TEST(SparseTerms, DrawsAreFunctionsAndTheirMeanIsThePrediction) {
  const Domain domain{.num_states = {3, 3, 3, 3}};
  Random noise(5, "noise"), random(6, "draws");
  const auto noisy = [&](std::span<const int> x) { return x[0] * x[1] + noise.normal(); };
  SparseTerms terms(domain, {.is_noisy = true});
  terms.fit(told_at(domain, random_rows(domain, 200, 5), noisy), {});
  std::vector<int> rows{0, 1, 2, 0, 0, 1, 2, 0};
  std::vector<double> out(2);
  double sum = 0.0;
  for (int i = 0; i < 300; ++i) {
    terms.draw(random)->values(rows, out);
    EXPECT_EQ(out[0], out[1]);
    sum += out[0] / 300;
  }
  EXPECT_NEAR(sum, predictions(terms, rows)[0].mean, 0.25);
}

TEST(SparseTerms, SurvivesOddValues) {
  const Domain domain{.num_states = {3, 1, 4, 2}};
  for (const int count : {0, 1, 2, 40}) {
    for (const double value : {0.0, -1e300, 1e300, -HUGE_VAL}) {
      SparseTerms terms(domain);
      terms.fit(told_at(domain, random_rows(domain, count, 7), [&](auto) { return value; }), {});
      terms.add(std::vector<int>{0, 0, 0, 0}, value);
      for (const Prediction& found : predictions(terms, all_rows(domain))) {
        EXPECT_FALSE(std::isnan(found.mean)) << count << " times " << value;
        EXPECT_FALSE(std::isnan(found.sd));
      }
      std::vector<double> means(24);
      terms.predict_all(means);
    }
  }
}

TEST(SparseTerms, HandlesNarrowAndWideDomains) {
  for (const Domain& domain : {Domain{.num_states = {64}}, Domain{.num_states = std::vector<int>(100, 64)}}) {
    const auto first = [](std::span<const int> x) { return 0.1 * x[0]; };
    const std::vector<int> rows = random_rows(domain, 60, 8);
    SparseTerms terms(domain), again(domain);
    terms.fit(told_at(domain, rows, first), {});
    again.fit(told_at(domain, rows, first), {});
    const auto one = predictions(terms, rows), other = predictions(again, rows);
    for (std::size_t i = 0; i < one.size(); ++i) {
      EXPECT_TRUE(std::isfinite(one[i].mean));
      EXPECT_EQ(one[i].mean, other[i].mean);
      EXPECT_EQ(one[i].sd, other[i].sd);
    }
  }
}

}  // namespace
}  // namespace treesample
