#include "surrogate/term_regression.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "surrogate/term_features.hpp"

namespace treesample {
namespace {

using Truth = std::function<double(const std::vector<int>&)>;

RegressionData data_of(const std::vector<int>& num_states, int num_points, const Truth& truth, double noise = 0.0) {
  Random random(7, "regression");
  RegressionData data{.num_states = num_states};
  data.values.resize(num_points);
  data.weights = Eigen::VectorXd::Ones(num_points);
  for (int i = 0; i < num_points; ++i) {
    std::vector<int> x;
    for (const int k : num_states) x.push_back(static_cast<int>(random.below(static_cast<std::uint64_t>(k))));
    data.values[i] = truth(x) + noise * random.normal();
    data.states.insert(data.states.end(), x.begin(), x.end());
  }
  return data;
}

std::set<std::vector<int>> larger_terms(const TermRegression& regression) {
  std::set<std::vector<int>> scopes;
  for (const RegressionTerm& term : regression.terms()) {
    if (term.scope.size() > 1) scopes.insert(term.scope);
  }
  return scopes;
}

double predicted(const TermRegression& regression, const std::vector<int>& num_states, const std::vector<int>& x) {
  double sum = regression.constant();
  for (const RegressionTerm& term : regression.terms()) {
    std::size_t cell = 0;
    for (const int v : term.scope) cell = cell * static_cast<std::size_t>(num_states[v]) + x[v];
    sum += term_table(term, num_states)[cell];
  }
  return sum;
}

TEST(TermFeatures, ContrastsAddUpToNothingAndHaveMeanSquareOne) {
  for (const int k : {2, 3, 5}) {
    const Eigen::MatrixXd psi = contrasts(k);
    EXPECT_LT(psi.colwise().sum().cwiseAbs().maxCoeff(), 1e-12);
    const Eigen::MatrixXd products = psi * psi.transpose();
    for (int a = 0; a < k; ++a) {
      for (int b = 0; b < k; ++b) EXPECT_NEAR(products(a, b), a == b ? k - 1.0 : -1.0, 1e-12);
    }
  }
  EXPECT_EQ(contrasts(1).cols(), 0);
}

TEST(TermFeatures, SubsetsAreAllOfThem) {
  EXPECT_EQ(subsets(4, 2).size(), 6U);
  EXPECT_EQ(subsets(5, 3).front(), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(subsets(5, 3).back(), (std::vector<int>{2, 3, 4}));
  EXPECT_TRUE(subsets(2, 3).empty());
}

// 10 variables have 45 pairs with 720 numbers; the three that matter are found by 200 values.
TEST(TermRegression, FindsThePairsOfAFunction) {
  const std::vector<int> num_states(10, 5);
  const Truth truth = [](const std::vector<int>& x) {
    return 0.3 * x[0] - 1.5 * std::abs(x[1] - x[2]) + (x[3] == x[7] ? 2.0 : 0.0) - 0.2 * x[8] * x[9];
  };
  const RegressionData data = data_of(num_states, 200, truth);
  const TermRegression regression(data, {}, {});
  EXPECT_EQ(larger_terms(regression), (std::set<std::vector<int>>{{1, 2}, {3, 7}, {8, 9}}));
  Random random(1, "fresh");
  for (int i = 0; i < 100; ++i) {
    std::vector<int> x;
    for (int v = 0; v < 10; ++v) x.push_back(static_cast<int>(random.below(5)));
    EXPECT_NEAR(predicted(regression, num_states, x), truth(x), 0.01);
  }
}

// The majority of three binary variables has no pairs.
TEST(TermRegression, FindsATermOfThreeVariablesWithoutItsPairs) {
  const std::vector<int> num_states(12, 2);
  const Truth truth = [](const std::vector<int>& x) { return x[2] + x[5] + x[11] >= 2 ? 3.0 : 0.0; };
  const RegressionData data = data_of(num_states, 80, truth);
  EXPECT_EQ(larger_terms(TermRegression(data, {}, {})), (std::set<std::vector<int>>{{2, 5, 11}}));
}

TEST(TermRegression, TakesUpNothingOfNoise) {
  const std::vector<int> num_states(12, 3);
  const RegressionData data = data_of(
      num_states, 150, [](const std::vector<int>&) { return 0.0; }, 1.0);
  const TermRegression regression(data, {}, {});
  EXPECT_LE(larger_terms(regression).size(), 1U);
  double effects = 0.0;
  for (const RegressionTerm& term : regression.terms()) effects += term.coefficients.squaredNorm();
  EXPECT_LT(effects, 0.3);  // of a variance of 1
}

TEST(TermRegression, ValuesThatAreAllEqualAreAConstant) {
  const std::vector<int> num_states = {3, 1, 2};
  const RegressionData data = data_of(num_states, 5, [](const std::vector<int>&) { return -7.5; });
  const TermRegression regression(data, {}, {});
  EXPECT_NEAR(predicted(regression, num_states, {2, 0, 1}), -7.5, 1e-9);
}

TEST(TermRegression, OneValueIsEnoughToBegin) {
  const std::vector<int> num_states(3, 2);
  const RegressionData data = data_of(num_states, 1, [](const std::vector<int>&) { return 2.0; });
  EXPECT_NEAR(predicted(TermRegression(data, {}, {}), num_states, {0, 0, 0}), 2.0, 1e-6);
}

}  // namespace
}  // namespace treesample
