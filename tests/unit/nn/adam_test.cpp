#include "treesample/nn/adam.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "treesample/error.hpp"

namespace treesample {
namespace {

TEST(Adam, TwoStepsByHand) {
  Adam adam({.learning_rate = 0.1, .beta1 = 0.9, .beta2 = 0.99, .epsilon = 1e-3}, kPanel);
  FloatBuffer w(kPanel, 1.0F);
  FloatBuffer g(kPanel, 0.0F);
  g[0] = 2.0F;
  g[3] = -0.5F;
  adam.step(w, g);
  // Step 1: m_hat = g and v_hat = g^2, whatever the betas.
  EXPECT_NEAR(w[0], 1.0 - 0.1 * 2.0 / (2.0 + 1e-3), 1e-6);
  EXPECT_NEAR(w[3], 1.0 + 0.1 * 0.5 / (0.5 + 1e-3), 1e-6);
  EXPECT_EQ(w[1], 1.0F);
  const double before = w[0];
  g[0] = -1.0F;
  adam.step(w, g);
  // Step 2: m = 0.9 * 0.2 - 0.1 = 0.08, v = 0.99 * 0.04 + 0.01 = 0.0496.
  const double m_hat = 0.08 / (1.0 - 0.81);
  const double v_hat = 0.0496 / (1.0 - 0.9801);
  EXPECT_NEAR(w[0], before - 0.1 * m_hat / (std::sqrt(v_hat) + 1e-3), 1e-6);
  EXPECT_EQ(adam.num_steps, 2);
  EXPECT_NEAR(adam.first_moment[0], 0.08, 1e-7);
  EXPECT_NEAR(adam.second_moment[0], 0.0496, 1e-7);
}

TEST(Adam, RefusesBadOptionsAndSizes) {
  EXPECT_THROW(Adam({.learning_rate = -1.0}, 16), Error);
  EXPECT_THROW(Adam({.learning_rate = NAN}, 16), Error);
  EXPECT_THROW(Adam({.beta1 = 1.0}, 16), Error);
  EXPECT_THROW(Adam({.beta2 = -0.1}, 16), Error);
  Adam adam({}, 16);
  FloatBuffer w(32);
  FloatBuffer g(32);
  EXPECT_THROW(adam.step(w, g), Error);
  EXPECT_THROW(adam.step(std::span(w).subspan(1, 16), std::span(g).first(16)), Error);  // not aligned
  EXPECT_NO_THROW(adam.step(std::span(w).first(16), std::span(g).first(16)));
}

}  // namespace
}  // namespace treesample
