#include "blackbox/overshoot.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "treesample/blackbox/black_box.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

TEST(Overshoot, PromisesThatWereKeptAreBelieved) {
  Overshoot overshoot;
  EXPECT_EQ(overshoot.believed(7.0, 3.0), 7.0);
  for (int i = 0; i < 20; ++i) overshoot.note(i + 4.0, i + 4.0, i);
  EXPECT_NEAR(overshoot.believed(27.0, 23.0), 27.0, 1e-9);
  EXPECT_NEAR(overshoot.believed(-5.0, 23.0), -5.0, 1e-9);
}

TEST(Overshoot, PromisesThatWereBrokenAreNot) {
  Overshoot overshoot;
  for (int i = 0; i < 20; ++i) overshoot.note(100.0, i % 2 == 0 ? -50.0 : kNegInf, 0.0);
  EXPECT_LT(overshoot.believed(100.0, 0.0), 5.0);
  EXPECT_LT(overshoot.believed(-1.0, 0.0), -1.0);  // less mass for what was not asked
}

// Sixteen objects, of which more than 35 weigh too much: the sum of the values goes on growing where nothing is
// possible. This once gave all of the mass to loads that are too heavy.
TEST(Overshoot, WhatIsImpossibleHasLittleMassWhereGuessesAreLarge) {
  std::vector<double> weights, values;
  Random random(1);
  for (int i = 0; i < 16; ++i) {
    weights.push_back(1.0 + 9.0 * random.uniform());
    values.push_back(0.3 * weights.back() + 1.5 * random.uniform());
  }
  const auto load = [&](std::span<const int> x, const std::vector<double>& of) {
    double sum = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * of[i];
    return sum;
  };
  BlackBox box(Domain{.num_states = std::vector<int>(16, 2)}, {.seed = 1});
  for (int i = 0; i < 200; ++i) {
    for (const Assignment& x : box.ask(1)) box.tell(x, load(x, weights) > 35.0 ? kNegInf : load(x, values));
  }
  const BlackBoxAnswer answer = box.answer();
  double impossible = 0.0;
  Assignment x(16, 0);
  for (int i = 0; i < 1 << 16; ++i) {
    for (std::size_t v = 0; v < 16; ++v) x[v] = i >> v & 1;
    if (load(x, weights) > 35.0) impossible += std::exp(answer.approximation->log_prob(x));
  }
  EXPECT_LT(impossible, 0.7);
}

}  // namespace
}  // namespace treesample
