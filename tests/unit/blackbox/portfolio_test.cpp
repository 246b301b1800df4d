#include "treesample/blackbox/portfolio.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "treesample/blackbox/forest.hpp"
#include "treesample/blackbox/sparse_terms.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {
namespace {

// A rule of three variables, and the order of a fourth one.
double rule(std::span<const int> x) {
  return (x[0] == 1 && x[2] == 2 && x[4] == 0 ? 4.0 : 0.0) + (x[1] > 2 ? 3.0 : 0.0);
}

const Domain kDomain{.num_states = {3, 6, 3, 2, 2, 3}, .levels = {{}, {5, 1, 9, 7, 3, 8}, {}, {}, {}, {}}};

ToldValues told(int count, double (*function)(std::span<const int>), std::uint64_t seed) {
  ToldValues values{.width = 6};
  Random random(seed);
  for (int i = 0; i < count; ++i) {
    Assignment x;
    for (const int k : kDomain.num_states) x.push_back(static_cast<int>(random.below(k)));
    values.add(kDomain, x, function(x));
  }
  return values;
}

double squared_error(const Surrogate& surrogate, double (*function)(std::span<const int>)) {
  const ToldValues others = told(300, function, 99);
  std::vector<Prediction> predicted(others.size());
  surrogate.predict(others.states, predicted);
  double sum = 0.0;
  for (std::size_t i = 0; i < others.size(); ++i) sum += std::pow(predicted[i].mean - others.values[i], 2);
  return sum / static_cast<double>(others.size());
}

TEST(Forest, LearnsRules) {
  Forest forest(kDomain);
  forest.fit(told(400, rule, 1), {});
  EXPECT_LT(squared_error(forest, rule), 0.4);  // their variance is 3
}

// Variables of many states without an order, half of which act alike.
TEST(Forest, StatesThatActAlikeAreSplitOffTogether) {
  const Domain domain{.num_states = {16, 16, 16}};
  const auto value = [](std::span<const int> x) {
    return std::all_of(x.begin(), x.end(), [](int state) { return state * 7 % 16 < 8; }) ? 4.0 : 0.0;
  };
  Random random(5);
  ToldValues values{.width = 3}, others{.width = 3};
  for (int i = 0; i < 900; ++i) {
    Assignment x;
    for (int v = 0; v < 3; ++v) x.push_back(static_cast<int>(random.below(16)));
    (i < 300 ? values : others).add(domain, x, value(x));
  }
  Forest forest(domain);
  forest.fit(values, {});
  std::vector<Prediction> predicted(others.size());
  forest.predict(others.states, predicted);
  double sum = 0.0;
  for (std::size_t i = 0; i < others.size(); ++i) sum += std::pow(predicted[i].mean - others.values[i], 2);
  EXPECT_LT(sum / static_cast<double>(others.size()), 0.5);  // their variance is 1.75; with single states it was 0.96
}

TEST(Forest, StatesWithoutValuesAreWorthATry) {
  const Domain domain{.num_states = {6, 8}};
  ToldValues values{.width = 2};
  for (int state = 0; state < 4; ++state) {
    for (int other = 0; other < 8; ++other) values.add(domain, std::vector{state, other}, state < 2 ? -5.0 : 0.0);
  }
  Forest forest(domain);
  forest.fit(values, {});
  std::vector<Prediction> predicted(2);
  forest.predict(std::vector{4, 3, 5, 6}, predicted);
  for (const Prediction& one : predicted) EXPECT_GT(one.mean, -1.0);
}

TEST(Forest, HeldOutPredictionsHaveNotSeenTheirValue) {
  Forest forest(kDomain);
  ToldValues values = told(200, rule, 2);
  values.values[7] = 25.0;
  forest.fit(values, {});
  ASSERT_EQ(forest.held_out().size(), 200U);
  EXPECT_LT(*forest.held_out()[7], 15.0);
}

TEST(Forest, NoValuesAndAllEqualOnes) {
  Forest forest(kDomain);
  std::vector<Prediction> out(1);
  forest.predict(Assignment(6, 0), out);
  EXPECT_EQ(out[0].sd, 1.0);
  ToldValues values = told(
      20, [](std::span<const int>) { return 2.5; }, 1);
  values.add(kDomain, Assignment(6, 0), kNegInf);
  forest.fit(values, {});
  forest.predict(Assignment(6, 1), out);
  EXPECT_DOUBLE_EQ(out[0].mean, 2.5);
  EXPECT_EQ(forest.held_out().back(), std::nullopt);
}

TEST(Portfolio, TheBestMemberHasMostOfTheWeight) {
  const auto pairs = [](std::span<const int> x) {
    return (x[0] - 1.0) * (x[2] - 1.0) + 0.7 * (x[3] - 0.5) * (x[5] - 1.0);
  };
  const std::unique_ptr<Surrogate> portfolio = make_portfolio(kDomain, {});
  portfolio->fit(told(250, pairs, 3), {});
  double most = 0.0;
  std::string best;
  for (const auto& [name, weight] : dynamic_cast<Portfolio&>(*portfolio).weights()) {
    if (weight > most) best = name;
    most = std::max(most, weight);
  }
  EXPECT_NE(best, "forest");
  EXPECT_GT(most, 0.9);
  EXPECT_LT(squared_error(*portfolio, pairs), 1e-4);
}

// Where one member is wrong beyond measure, the others answer.
TEST(Portfolio, IsNoWorseThanItsMembersTogether) {
  const std::unique_ptr<Surrogate> portfolio = make_portfolio(kDomain, {}),
                                   terms = make_portfolio(kDomain, {}, {"gaussian process", "forest"});
  portfolio->fit(told(200, rule, 4), {});
  terms->fit(told(200, rule, 4), {});
  EXPECT_LT(squared_error(*portfolio, rule), 1.1 * squared_error(*terms, rule) + 0.01);
}

// Predicts each value with a given error, and the values of other configurations as `constant`.
class OffBy final : public Surrogate {
 public:
  OffBy(std::vector<double> errors, double constant)
      : Surrogate(kDomain), errors_(std::move(errors)), constant_(constant) {}
  [[nodiscard]] std::string name() const override { return "off"; }
  void fit(const ToldValues& told, const ShouldStop& /*should_stop*/) override { values_ = told.values; }
  void add(std::span<const int> /*x*/, double /*value*/) override {}
  void predict(std::span<const int> /*rows*/, std::span<Prediction> out) const override {
    std::fill(out.begin(), out.end(), Prediction{constant_, 1.0});
  }
  [[nodiscard]] std::vector<std::optional<double>> held_out() const override {
    std::vector<std::optional<double>> result;
    for (std::size_t i = 0; i < values_.size(); ++i) result.emplace_back(values_[i] + errors_[i % errors_.size()]);
    return result;
  }

 private:
  std::vector<double> errors_;
  double constant_;
  std::vector<double> values_ = {};
};

// One that is exact but for rounding stays alone, however the errors of the others go with its own.
TEST(Portfolio, AnExactMemberIsNeverThrownOut) {
  for (const double rounding : {0.0, 1e-15, 1e-9, 1e-5}) {
    for (const double sign : {-1.0, 0.0, 1.0}) {
      std::vector<std::unique_ptr<Surrogate>> members;
      members.push_back(std::make_unique<OffBy>(std::vector<double>{0.3, -0.1, 0.2}, 1.0));
      members.push_back(std::make_unique<OffBy>(std::vector<double>{rounding, -rounding, 0.4 * rounding}, 2.0));
      members.push_back(std::make_unique<OffBy>(std::vector<double>{sign * 5.0, -sign * 4.0, 3.0}, 3.0));
      Portfolio portfolio(kDomain, std::move(members));
      portfolio.fit(told(100, rule, 6), {});
      EXPECT_EQ(portfolio.weights()[1].second, 1.0) << rounding << " " << sign;
    }
  }
}

// Errors that cancel are worth more than small ones.
TEST(Portfolio, WeightsMinimiseTheSquaredError) {
  std::vector<std::unique_ptr<Surrogate>> members;
  members.push_back(std::make_unique<OffBy>(std::vector<double>{1.0, -1.0}, 0.0));
  members.push_back(std::make_unique<OffBy>(std::vector<double>{-2.0, 2.0}, 0.0));
  Portfolio portfolio(kDomain, std::move(members));
  portfolio.fit(told(100, rule, 7), {});
  // A = [1.2, -2; -2, 4.2] with caution, 0.2 of the smaller one on the diagonal.
  EXPECT_NEAR(portfolio.weights()[0].second, (4.2 + 2.0) / (1.2 + 4.2 + 4.0), 1e-4);
}

TEST(Portfolio, MeansOverTheDomainAreThoseOfSingleConfigurations) {
  const std::unique_ptr<Surrogate> portfolio = make_portfolio(kDomain, {});
  portfolio->fit(told(120, rule, 5), {});
  std::vector<double> all(static_cast<std::size_t>(kDomain.num_configurations()));
  portfolio->predict_all(all);
  std::vector<Prediction> one(1);
  portfolio->predict(Assignment(6, 0), one);
  EXPECT_NEAR(all[0], one[0].mean, 1e-3);
  EXPECT_THROW(make_portfolio(kDomain, {}, {"gaussian process", "sparse terms", "forest"}), Error);
}

}  // namespace
}  // namespace treesample
