#include "treesample/blackbox/gaussian_process.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "blackbox/depth_warp.hpp"
#include "blackbox/minimise.hpp"
#include "blackbox/process_fit.hpp"
#include "support/black_boxes.hpp"
#include "support/expect_error.hpp"

namespace treesample {
namespace {

using testing::all_rows;
using testing::predictions;
using testing::random_rows;
using testing::told_at;

const Domain kTernary{.num_states = {3, 3, 3, 3, 3, 3}};
double pairs(std::span<const int> x) { return 1.0 * x[0] - 0.7 * x[1] * x[2] + (x[3] == x[4] ? 1.5 : 0.0); }

double worst(const std::vector<Prediction>& found, const Domain& domain, const testing::BlackBoxFunction& function) {
  const std::vector<int> rows = all_rows(domain);
  const std::size_t width = domain.num_states.size();
  double off = 0.0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    off = std::max(off, std::abs(found[i].mean - function({rows.data() + i * width, width})));
  }
  return off;
}

TEST(Minimise, FindsTheMinimumOfRosenbrocksFunction) {
  const auto valley = [](const Eigen::VectorXd& x, Eigen::VectorXd& gradient) {
    const double off = x[1] - x[0] * x[0];
    gradient.resize(2);
    gradient << -400.0 * x[0] * off - 2.0 * (1.0 - x[0]), 200.0 * off;
    return 100.0 * off * off + (1.0 - x[0]) * (1.0 - x[0]);
  };
  const Minimum found = minimise(valley, Eigen::Vector2d(-1.2, 1.0), 300, {});
  EXPECT_NEAR(found.x[0], 1.0, 0.02);
  EXPECT_LT(found.value, 1e-4);
}

TEST(Minimise, BacksOffFromUndefinedPointsAndStopsWhenAsked) {
  const auto barrier = [](const Eigen::VectorXd& x, Eigen::VectorXd& gradient) {
    gradient = Eigen::VectorXd::Constant(1, 1.0 - 1.0 / x[0]);
    return x[0] > 0.0 ? x[0] - std::log(x[0]) : HUGE_VAL;
  };
  EXPECT_NEAR(minimise(barrier, Eigen::VectorXd::Constant(1, 0.01), 50, {}).x[0], 1.0, 1e-2);
  EXPECT_EQ(minimise(barrier, Eigen::VectorXd::Constant(1, 3.0), 50, [] { return true; }).x[0], 3.0);
}

TEST(DepthWarp, KeepsTheOrderAndIsUndone) {
  const std::vector<double> values{3.0, -5.0, -40.0, -1e3, -1e300, -HUGE_VAL};
  const DepthWarp warp(values);
  EXPECT_EQ(warp.warped(3.0), 0.0);
  EXPECT_EQ(warp.warped(-5.0), -8.0);
  for (std::size_t i = 1; i < values.size(); ++i) EXPECT_LT(warp.warped(values[i]), warp.warped(values[i - 1]));
  for (const double y : {3.0, -5.0, -40.0, -300.0}) {
    EXPECT_NEAR(warp.value(warp.warped(y)), y, 1e-9 * (1.0 + std::abs(y)));
    const double at = warp.warped(y), slope = (warp.value(at + 1e-5) - warp.value(at - 1e-5)) / 2e-5;
    EXPECT_NEAR(warp.slope(at), slope, 1e-4 * slope);
  }
  EXPECT_FALSE(DepthWarp(std::vector<double>{-HUGE_VAL}).has_values());
}

TEST(ProcessLoss, GradientAgreesWithDifferences) {
  const Domain domain{.num_states = {3, 2, 4}, .levels = {{}, {}, {1, 2, 3, 4}}};
  MixedKernel kernel(domain, 2.0);
  ProcessData data{.points = kernel.points(random_rows(domain, 15, 1))};
  data.values = Eigen::VectorXd::Random(15);
  data.depths = Eigen::VectorXd::Random(15).cwiseMax(0.0);
  data.counts = Eigen::VectorXd::Ones(15);
  data.spread = Eigen::VectorXd::Zero(15);
  data.counts[3] = 4.0;
  data.spread[3] = 0.7;
  const Eigen::VectorXd at = ProcessParameters::initial(kernel).theta.array() + 0.1;
  Eigen::VectorXd gradient, unused;
  process_loss(kernel, data, at, gradient);
  for (Eigen::Index i = 0; i < at.size(); ++i) {
    Eigen::VectorXd more = at, less = at;
    more[i] += 1e-5;
    less[i] -= 1e-5;
    const double slope = (process_loss(kernel, data, more, unused) - process_loss(kernel, data, less, unused)) / 2e-5;
    EXPECT_NEAR(gradient[i], slope, 1e-4 * (1.0 + std::abs(slope))) << "parameter " << i;
  }
}

TEST(GaussianProcess, LearnsPairsFromAFewValues) {
  GaussianProcess process(kTernary);
  process.fit(told_at(kTernary, random_rows(kTernary, 120, 1), pairs), {});
  const auto found = predictions(process, all_rows(kTernary));
  EXPECT_LT(worst(found, kTernary, pairs), 0.1);
  std::vector<double> means(729);
  process.predict_all(means);
  for (std::size_t i = 0; i < means.size(); ++i) EXPECT_NEAR(means[i], found[i].mean, 1e-3);
}

TEST(GaussianProcess, LearnsASmoothFunctionOfNumbers) {
  const Domain domain{
      .num_states = {9, 9, 9},
      .levels = {{0, 1, 2, 3, 4, 5, 6, 7, 8}, {8, 7, 6, 5, 4, 3, 2, 1, 0}, {1, 2, 4, 8, 16, 32, 64, 128, 256}}};
  const auto smooth = [](std::span<const int> x) {
    return -0.3 * std::pow(x[0] - 3.3, 2) - 0.2 * x[0] * x[1] + std::cos(0.4 * x[2] + 0.1 * x[1]);
  };
  GaussianProcess process(domain);
  process.fit(told_at(domain, random_rows(domain, 60, 2), smooth), {});
  EXPECT_LT(worst(predictions(process, all_rows(domain)), domain, smooth), 0.2);
}

// A fit that is asked to stop at once keeps its parameters; both halves have the same values, and thus the same scale.
TEST(GaussianProcess, AddedValuesPredictAsIfTheyWereFittedWithTheOthers) {
  const auto stop = [] { return true; };
  const std::vector<int> rows = random_rows(kTernary, 60, 3);
  ToldValues first{.width = 6}, all{.width = 6};
  GaussianProcess added(kTernary), at_once(kTernary);
  for (std::size_t i = 0; i < 60; ++i) {
    const std::span<const int> x(rows.data() + 6 * i, 6);
    const double value = std::sin(static_cast<double>(i % 30));
    all.add(kTernary, x, value);
    if (i < 30) first.add(kTernary, x, value);
  }
  added.fit(first, stop);
  for (std::size_t i = 30; i < 60; ++i) added.add(all.row(i), all.values[i]);
  at_once.fit(all, stop);
  const std::vector<Prediction> one = predictions(added, all_rows(kTernary)),
                                other = predictions(at_once, all_rows(kTernary));
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_NEAR(one[i].mean, other[i].mean, 1e-5);
    EXPECT_NEAR(one[i].sd, other[i].sd, 1e-5);
  }
  for (const Prediction& told : predictions(added, rows)) EXPECT_LT(told.sd, 0.1);
}

TEST(GaussianProcess, HasTheSameBitsEachTime) {
  const ToldValues told = told_at(kTernary, random_rows(kTernary, 50, 4), pairs);
  GaussianProcess one(kTernary), other(kTernary);
  for (GaussianProcess* process : {&one, &other}) {
    process->fit(told, {});
    process->add(told.row(7), 0.25);
  }
  const auto a = predictions(one, all_rows(kTernary)), b = predictions(other, all_rows(kTernary));
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].mean, b[i].mean);
    EXPECT_EQ(a[i].sd, b[i].sd);
  }
}

TEST(GaussianProcess, FindsTheNoiseFromReplicates) {
  Random random(5, "noise");
  std::vector<int> rows = random_rows(kTernary, 60, 5);
  const std::vector<int> again = rows;
  for (int i = 0; i < 2; ++i) rows.insert(rows.end(), again.begin(), again.end());
  const auto noisy = [&](std::span<const int> x) { return pairs(x) + 0.5 * random.normal(); };
  GaussianProcess process(kTernary, {.is_noisy = true});
  process.fit(told_at(kTernary, rows, noisy), {});
  EXPECT_GT(process.noise_sd(), 0.4);
  EXPECT_LT(process.noise_sd(), 0.62);
  for (const Prediction& found : predictions(process, again)) EXPECT_LT(found.sd, 0.4);
}

TEST(GaussianProcess, SurvivesOddValues) {
  for (const int count : {0, 1, 2, 7, 60}) {
    for (const double value : {0.0, -1e300, 1e300, -HUGE_VAL}) {
      GaussianProcess process(kTernary);
      ToldValues told = told_at(kTernary, random_rows(kTernary, count, 6), [&](auto) { return value; });
      process.fit(told, {});
      process.add(std::vector<int>{0, 0, 0, 0, 0, 0}, value);
      for (const Prediction& found : predictions(process, all_rows(kTernary))) {
        EXPECT_TRUE(std::isfinite(found.mean)) << count << " times " << value;
        EXPECT_GT(found.sd, 0.0);
        const double expected = count > 0 && std::isfinite(value) ? value : 0.0;
        EXPECT_NEAR(found.mean, expected, 1e-9 * std::abs(expected) + 1e-9);
      }
    }
  }
}

TEST(GaussianProcess, SurvivesMixedScales) {
  GaussianProcess process(kTernary);
  int calls = 0;
  const auto wild = [&](std::span<const int> x) {
    const double odd[] = {1e300, -1e300, -HUGE_VAL, 0.0};
    return ++calls % 5 < 4 ? odd[calls % 5] : pairs(x);
  };
  process.fit(told_at(kTernary, random_rows(kTernary, 50, 7), wild), {});
  for (const Prediction& found : predictions(process, all_rows(kTernary))) {
    EXPECT_FALSE(std::isnan(found.mean));
    EXPECT_FALSE(std::isnan(found.sd));
  }
}

TEST(GaussianProcess, HandlesNarrowAndWideDomains) {
  const Domain narrow{.num_states = {64}}, wide{.num_states = std::vector<int>(100, 64)};
  for (const Domain& domain : {narrow, wide}) {
    GaussianProcess process(domain);
    const auto first = [](std::span<const int> x) { return 0.1 * x[0]; };
    const std::vector<int> rows = random_rows(domain, 50, 8);
    process.fit(told_at(domain, rows, first), {});
    for (const Prediction& found : predictions(process, rows)) EXPECT_TRUE(std::isfinite(found.mean));
  }
}

TEST(GaussianProcess, UsesAtMostSoManyPoints) {
  GaussianProcess process(kTernary, {.max_points = 40, .fit_points = 20});
  process.fit(told_at(kTernary, random_rows(kTernary, 400, 9), pairs), {});
  EXPECT_LT(worst(predictions(process, all_rows(kTernary)), kTernary, pairs), 5.0);
  for (int i = 0; i < 100; ++i) process.add(std::vector<int>{0, 1, 2, 0, 1, 2}, pairs(std::vector<int>{0, 1, 2, 0, 1}));
}

TEST(GaussianProcess, SaysWhatIsWrong) {
  testing::expect_error(ErrorCode::kArgument, "fit_points is 1", [] { GaussianProcess(kTernary, {.fit_points = 1}); });
  testing::expect_error(ErrorCode::kArgument, "noise_sd is -1", [] { GaussianProcess(kTernary, {.noise_sd = -1.0}); });
  GaussianProcess process(kTernary);
  std::vector<Prediction> out(2);
  testing::expect_error(ErrorCode::kArgument, "6 states for 2 configurations",
                        [&] { process.predict(std::vector<int>(6, 0), out); });
}

}  // namespace
}  // namespace treesample
