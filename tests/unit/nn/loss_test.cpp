// The loss of a row of Q-values, beside what the gradient tests of both networks check of the squared one.
#include "treesample/nn/loss.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "nn/squared_error.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

struct Row {
  std::vector<float> q, g;
  [[nodiscard]] nn::ErrorRow outputs(int num_states) {
    g.assign(q.size(), 0.0F);
    return {.q = q.data(), .g = g.data(), .rows = 1, .row = 0, .num_states = num_states, .num_samples = 4};
  }
};

TEST(PolicyLoss, GradientEqualsFiniteDifferences) {
  Random random(3);
  for (int repeat = 0; repeat < 20; ++repeat) {
    Row row{std::vector<float>(kPanel, 0.0F), {}};
    std::vector<float> target(5);
    for (int a = 0; a < 5; ++a) row.q[a] = static_cast<float>(2.0 * random.normal());
    for (float& t : target) t = static_cast<float>(2.0 * random.normal());
    if (repeat % 2 == 1) target[2] = -HUGE_VALF;  // nothing is known of this action
    nn::policy_error(row.outputs(5), target);
    const std::vector<float> gradient = row.g;
    for (int a = 0; a < 5; ++a) {
      constexpr float kStep = 1e-2F;
      const float saved = row.q[a];
      row.q[a] = saved + kStep;
      const double above = nn::policy_error(row.outputs(5), target);
      row.q[a] = saved - kStep;
      const double below = nn::policy_error(row.outputs(5), target);
      row.q[a] = saved;
      EXPECT_NEAR(gradient[a], (above - below) / (2.0 * kStep), 1e-4) << a;
    }
  }
}

TEST(PolicyLoss, HardlyAsksForTheValueThatActionsShare) {
  Row row{std::vector<float>(kPanel, 0.0F), {}};
  const std::vector<float> target = {0.5F, -1.0F, 2.0F};
  for (int a = 0; a < 3; ++a) row.q[a] = target[a] + 3.0F;
  EXPECT_NEAR(nn::policy_error(row.outputs(3), target), kValueWeight * 9.0 / 4.0, 1e-6);
  EXPECT_NEAR(nn::squared_error(row.outputs(3), target), 27.0 / 4.0, 1e-6);
  const std::vector<float> unknown(3, -HUGE_VALF);
  EXPECT_EQ(nn::policy_error(row.outputs(3), unknown), 0.0);
}

// Two rows of 4 and 3 states, and the edge between them.
TEST(BellmanLoss, GradientEqualsFiniteDifferences) {
  Random random(5);
  for (const int num_next : {0, 3}) {
    std::vector<float> q(2 * kPanel, 0.0F), g;
    for (int a = 0; a < 4; ++a) q[a] = static_cast<float>(random.normal());
    for (int a = 0; a < 4; ++a) q[kPanel + a] = static_cast<float>(random.normal());
    const BellmanTerm term = {.weight = 0.7, .action = 2, .reward = 0.9, .num_next = num_next};
    const auto error = [&] {
      g.assign(q.size(), 0.0F);
      return nn::bellman_error({.q = q.data(), .g = g.data(), .rows = 2, .row = 0, .num_states = 4, .num_samples = 4},
                               term);
    };
    double value = 0.0;
    for (int a = 0; a < num_next; ++a) value += std::exp(static_cast<double>(q[kPanel + a]));
    const double residual = 0.9 + (num_next > 0 ? std::log(value) : 0.0) - static_cast<double>(q[2]);
    EXPECT_NEAR(error(), 0.7 * residual * residual / 4.0, 1e-6);
    const std::vector<float> gradient = g;
    for (std::size_t i = 0; i < q.size(); ++i) {
      constexpr float kStep = 1e-2F;
      const float saved = q[i];
      q[i] = saved + kStep;
      const double above = error();
      q[i] = saved - kStep;
      const double below = error();
      q[i] = saved;
      EXPECT_NEAR(gradient[i], (above - below) / (2.0 * kStep), 1e-4) << i;
    }
  }
}

}  // namespace
}  // namespace treesample
