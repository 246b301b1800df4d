// Functions drawn from what surrogates believe.
#include <gtest/gtest.h>

#include <cmath>

#include "blackbox/prior_draw.hpp"
#include "blackbox/rescaled.hpp"
#include "support/black_boxes.hpp"
#include "treesample/blackbox/forest.hpp"
#include "treesample/blackbox/gaussian_process.hpp"
#include "treesample/blackbox/portfolio.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

using testing::all_rows;
using testing::predictions;
using testing::random_rows;
using testing::told_at;

const Domain kMixed{.num_states = {3, 2, 4, 5}, .levels = {{}, {}, {1, 2, 3, 4}, {}}};

double hidden(std::span<const int> x) { return x[0] - 0.5 * x[1] * x[2] + (x[3] == x[0] ? 2.0 : 0.0); }

// Variances and covariances of draws are those of the kernel; what A_m B_m has besides pairs is allowed for.
TEST(PriorDraw, HasTheCovarianceOfTheKernel) {
  for (const int part : {0, 1, 2}) {
    MixedKernel kernel(kMixed, 1.0);
    Eigen::VectorXd parameters = kernel.prior_mean();
    parameters.tail(3).setConstant(-30.0);
    parameters[2 * kernel.width() + part] = 0.5;
    kernel.set(parameters);
    Random random(3, "prior");
    const std::vector<int> a{0, 1, 2, 3}, b{0, 0, 2, 3}, c{2, 0, 0, 1};
    double aa = 0.0, ab = 0.0, ac = 0.0;
    constexpr int kDraws = 4000;
    for (int i = 0; i < kDraws; ++i) {
      const PriorDraw drawn(kernel, kMixed.num_states, random);
      const double at_a = drawn.at(a);
      aa += at_a * at_a / kDraws;
      ab += at_a * drawn.at(b) / kDraws;
      ac += at_a * drawn.at(c) / kDraws;
    }
    const KernelPoints points = kernel.points(std::vector<int>{0, 1, 2, 3, 0, 0, 2, 3, 2, 0, 0, 1});
    const Eigen::MatrixXd covariance = kernel.gram(points);
    const double more = part == 1 ? 0.25 : 0.0;  // main effects beside the pairs
    EXPECT_NEAR(aa, covariance(0, 0), 0.4 + more) << part;
    EXPECT_NEAR(ab, covariance(1, 0), 0.4 + more) << part;
    EXPECT_NEAR(ac, covariance(2, 0), 0.4 + more) << part;
  }
}

TEST(PriorDraw, NeighboursAreWhatTheyAreAlone) {
  const MixedKernel kernel(kMixed, 2.0);
  Random random(4, "prior");
  const PriorDraw drawn(kernel, kMixed.num_states, random);
  const std::vector<int> x{2, 1, 0, 4};
  std::vector<double> values(14, 0.0);
  drawn.add_neighbours(x, values);
  std::size_t place = 0;
  for (std::size_t v = 0; v < x.size(); ++v) {
    for (int a = 0; a < kMixed.num_states[v]; ++a) {
      std::vector<int> other = x;
      other[v] = a;
      EXPECT_NEAR(values[place++], drawn.at(other), 1e-9);
    }
  }
}

// Where values are known, all draws agree with them; elsewhere they scatter around the mean as it says itself.
TEST(GaussianProcess, DrawsAgreeWithTheValues) {
  GaussianProcess process(kMixed);
  process.fit(told_at(kMixed, random_rows(kMixed, 25, 1), hidden), {});
  const ToldValues told = told_at(kMixed, random_rows(kMixed, 25, 1), hidden);
  const std::vector<int> rows = all_rows(kMixed);
  const std::vector<Prediction> predicted = predictions(process, rows);
  std::vector<double> out(predicted.size()), sums(out.size(), 0.0), squares(out.size(), 0.0), known(told.size());
  Random random(5, "draw");
  constexpr int kDraws = 400;
  double off = 0.0;
  for (int i = 0; i < kDraws; ++i) {
    const std::unique_ptr<DrawnFunction> drawn = process.draw(random);
    drawn->values(rows, out);
    for (std::size_t k = 0; k < out.size(); ++k) {
      sums[k] += out[k] / kDraws;
      squares[k] += out[k] * out[k] / kDraws;
    }
    drawn->values(told.states, known);
    for (std::size_t k = 0; k < known.size(); ++k) off = std::max(off, std::abs(known[k] - told.values[k]));
  }
  EXPECT_LT(off, 0.3);
  double mean_sd = 0.0, mean_drawn = 0.0;
  for (std::size_t k = 0; k < out.size(); ++k) {
    const double sd = std::sqrt(std::max(0.0, squares[k] - sums[k] * sums[k]));
    EXPECT_NEAR(sums[k], predicted[k].mean, 0.05 + 6.0 * predicted[k].sd / std::sqrt(1.0 * kDraws));
    mean_sd += predicted[k].sd;
    mean_drawn += sd;
  }
  EXPECT_GT(mean_drawn, 0.6 * mean_sd);
  EXPECT_LT(mean_drawn, 1.5 * mean_sd);
}

TEST(DrawnFunction, NeighboursOfAllKindsAreWhatTheyAreAlone) {
  const ToldValues told = told_at(kMixed, random_rows(kMixed, 40, 2), hidden);
  const std::vector<std::vector<std::string>> parts{
      {"sparse terms", "forest"}, {"gaussian process", "forest"}, {"gaussian process", "sparse terms"}};
  for (const std::vector<std::string>& without : parts) {
    Rescaled surrogate(
        kMixed, {}, [&](const Domain& domain, const Noise& noise) { return make_portfolio(domain, noise, without); });
    surrogate.fit(told, {});
    Random random(6, "draw");
    const std::unique_ptr<DrawnFunction> drawn = surrogate.draw(random);
    const std::vector<int> x{2, 1, 0, 4};
    std::vector<double> values(14), one(1);
    drawn->neighbours(x, values);
    std::size_t place = 0;
    for (std::size_t v = 0; v < x.size(); ++v) {
      for (int a = 0; a < kMixed.num_states[v]; ++a) {
        std::vector<int> other = x;
        other[v] = a;
        drawn->values(other, one);
        EXPECT_NEAR(values[place++], one[0], 1e-6) << without[0];
      }
    }
  }
}

TEST(DrawnFunction, BeforeAnyValueItIsTheMean) {
  const std::unique_ptr<Surrogate> surrogate = make_portfolio(kMixed, {});
  Random random(7, "draw");
  std::vector<double> out(1);
  for (int i = 0; i < 10; ++i) {
    surrogate->draw(random)->values(std::vector<int>{0, 0, 0, 0}, out);
    EXPECT_EQ(out[0], 0.0);
  }
}

// A cost in millions and the same in millionths are learned alike.
TEST(Rescaled, TheUnitOfTheValuesDoesNotMatter) {
  const std::vector<int> rows = random_rows(kMixed, 40, 3), all = all_rows(kMixed);
  std::vector<std::vector<Prediction>> found;
  for (const double unit : {1.0, 1e6, 1e-6}) {
    Rescaled surrogate(kMixed, {},
                       [](const Domain& domain, const Noise& noise) { return make_portfolio(domain, noise); });
    surrogate.fit(told_at(kMixed, rows, [&](std::span<const int> x) { return unit * hidden(x); }), {});
    EXPECT_NEAR(surrogate.unit() / unit, 1.0, 0.8);
    found.push_back(predictions(surrogate, all));
    for (Prediction& one : found.back()) one = {one.mean / unit, one.sd / unit};
  }
  for (std::size_t i = 0; i < found[0].size(); ++i) {
    EXPECT_NEAR(found[1][i].mean, found[0][i].mean, 0.5);
    EXPECT_NEAR(found[2][i].mean, found[1][i].mean, 0.02);
    EXPECT_NEAR(found[2][i].sd, found[1][i].sd, 0.02);
  }
}

TEST(Rescaled, SurvivesOddValues) {
  for (const int count : {0, 1, 2, 30}) {
    for (const double value : {0.0, -1e300, 1e300, kNegInf}) {
      Rescaled surrogate(kMixed, {},
                         [](const Domain& domain, const Noise& noise) { return make_portfolio(domain, noise); });
      surrogate.fit(told_at(kMixed, random_rows(kMixed, count, 7), [&](auto) { return value; }), {});
      surrogate.add(std::vector<int>{0, 0, 0, 0}, value);
      for (const Prediction& one : predictions(surrogate, all_rows(kMixed))) {
        EXPECT_FALSE(std::isnan(one.mean)) << count << " times " << value;
        EXPECT_FALSE(std::isnan(one.sd));
      }
      Random random(8, "draw");
      std::vector<double> out(14);
      surrogate.draw(random)->neighbours(std::vector<int>{0, 0, 0, 0}, out);
      for (const double drawn : out) EXPECT_FALSE(std::isnan(drawn));
    }
  }
}

}  // namespace
}  // namespace treesample
