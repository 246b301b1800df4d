// Sensitivity against sums over all configurations with 113 bits, whose range has 4,932 decades: also where derivatives
// are beyond all doubles.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "support/configurations.hpp"
#include "support/quad_truth.hpp"
#include "support/trials.hpp"
#include "treesample/infer/infer.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

using testing::below;
using testing::for_each_configuration;
using testing::num_trials;
using testing::Quad;

// A derivative, and the largest of the numbers that it is a difference of.
struct Rate {
  Quad value = 0, most = 0;
};

// The entry of a table that a configuration meets.
std::size_t entry_of(const FactorGraph& graph, int m, const Assignment& x) {
  std::size_t entry = 0;
  for (const int v : graph.factor(m).scope()) {
    entry = entry * static_cast<std::size_t>(graph.num_states(v)) + static_cast<std::size_t>(x[v]);
  }
  return entry;
}

// d P(target | evidence) / d theta, or that of log Z, by the definition of a derivative of a quotient of sums.
std::vector<std::vector<Rate>> true_rates(const FactorGraph& graph, const Evidence& evidence, const Evidence& target) {
  std::vector<std::vector<Quad>> all, both;  // [factor][entry]: sums of the products of all other factors
  for (const Factor& factor : graph.factors()) {
    all.emplace_back(factor.log_values().size(), 0);
    both.emplace_back(factor.log_values().size(), 0);
  }
  Quad z = 0, z_both = 0;
  for_each_configuration(graph, [&](const Assignment& x) {
    const auto holds = [&](const Evidence& states) {
      return std::all_of(states.begin(), states.end(), [&](const Observation& o) { return x[o.variable] == o.state; });
    };
    if (!holds(evidence)) return;
    for (int m = -1; m < graph.num_factors(); ++m) {
      Quad sum = 0;
      for (int other = 0; other < graph.num_factors(); ++other) {
        if (other != m) sum += static_cast<Quad>(graph.factor(other).log_values()[entry_of(graph, other, x)]);
      }
      const Quad product = isinfq(sum) != 0 ? 0 : expq(sum);
      (m < 0 ? z : all[m][entry_of(graph, m, x)]) += product;
      if (holds(target)) (m < 0 ? z_both : both[m][entry_of(graph, m, x)]) += product;
    }
  });
  std::vector<std::vector<Rate>> rates(all.size());
  for (std::size_t m = 0; m < all.size(); ++m) {
    for (std::size_t e = 0; e < all[m].size(); ++e) {
      const Quad log_rate = all[m][e] / z, of_both = both[m][e] / z, share = z_both / z;
      rates[m].push_back(target.empty() ? Rate{log_rate, log_rate}
                                        : Rate{of_both - share * log_rate, fmaxq(of_both, share * log_rate)});
    }
  }
  return rates;
}

// The other entries of a row change in proportion.
void keep_rows(const FactorGraph& graph, std::vector<std::vector<Rate>>& rates) {
  for (int m = 0; m < graph.num_factors(); ++m) {
    const Factor& factor = graph.factor(m);
    const auto width = static_cast<std::size_t>(graph.num_states(factor.scope().back()));
    const std::vector<Rate> free = rates[m];
    for (std::size_t e = 0; e < free.size(); ++e) {
      const std::size_t first = e - e % width;
      Quad rest = 0;
      for (std::size_t j = first; j < first + width; ++j) {
        if (j != e) rest += expq(static_cast<Quad>(factor.log_values()[j]));
      }
      for (std::size_t j = first; j < first + width; ++j) {
        if (j == e) continue;
        const Quad part = rest > 0 ? expq(static_cast<Quad>(factor.log_values()[j])) / rest
                                   : static_cast<Quad>(1) / static_cast<Quad>(width - 1);
        rates[m][e].value -= part * free[j].value;
        rates[m][e].most = fmaxq(rates[m][e].most, part * free[j].most);
      }
    }
  }
}

void expect_near(double found, const Rate& truth, double tolerance, bool& is_beyond) {
  ASSERT_FALSE(std::isnan(found));
  const Quad slack = static_cast<Quad>(tolerance) * truth.most;
  if (fabsq(truth.value) > slack + DBL_MAX) {
    is_beyond = true;
    EXPECT_TRUE(std::isinf(found));
    EXPECT_EQ(std::signbit(found), truth.value < 0);
  } else if (std::isinf(found)) {
    EXPECT_GE(fabsq(truth.value) + slack, static_cast<Quad>(DBL_MAX));
    is_beyond = true;
  } else {
    const Quad off = fabsq(static_cast<Quad>(found) - truth.value);
    EXPECT_LE(off, slack + DBL_MIN) << found << " for " << static_cast<double>(truth.value) << ", of numbers up to "
                                    << static_cast<double>(truth.most);
  }
}

// True if a derivative is beyond all doubles.
bool check(const FactorGraph& graph, const Evidence& evidence, int target, const std::string& text, double tolerance) {
  const Answer answer = infer(Model(graph, evidence), {.sensitivity = text});
  std::vector<std::vector<Rate>> truth =
      true_rates(graph, evidence, text == "evidence" ? Evidence{} : Evidence{{target, 0}});
  if (!answer.sensitivity) {
    EXPECT_EQ(answer.log_z, kNegInf);
    return false;
  }
  if (answer.sensitivity->is_network) keep_rows(graph, truth);
  bool is_beyond = false;
  for (std::size_t m = 0; m < truth.size(); ++m) {
    for (std::size_t e = 0; e < truth[m].size(); ++e) {
      expect_near(answer.sensitivity->derivatives[m][e], truth[m][e], tolerance, is_beyond);
    }
  }
  // An infinite one is not left out of what matters most.
  if (is_beyond && answer.sensitivity->is_network) {
    EXPECT_FALSE(answer.sensitivity->most_influential.empty());
    if (!answer.sensitivity->most_influential.empty()) {
      EXPECT_TRUE(std::isinf(answer.sensitivity->most_influential[0].derivative));
    }
  }
  return is_beyond;
}

TEST(DerivativeNumbers, OfTablesBeyondAllDoubles) {
  Random random(1, "derivatives beyond");
  int num_beyond = 0;
  for (std::int64_t i = num_trials(100); i > 0; --i) {
    FactorGraph graph;
    const int num_variables = 1 + below(random, 4);
    for (int v = 0; v < num_variables; ++v) graph.add_variable(2 + below(random, 2));
    const double size = std::pow(10.0, 3.3 * random.uniform());
    for (int m = below(random, 4); m >= 0; --m) {
      std::vector<int> scope = random.permutation(num_variables);
      scope.resize(static_cast<std::size_t>(std::min(1 + below(random, 3), num_variables)));
      std::size_t num_entries = 1;
      for (const int v : scope) num_entries *= static_cast<std::size_t>(graph.num_states(v));
      std::vector<double> values;
      const double common = random.uniform() < 0.5 ? -1500.0 * random.uniform() : 0.0;
      for (std::size_t e = 0; e < num_entries; ++e) {
        values.push_back(random.uniform() < 0.1 ? -HUGE_VAL : common + size * random.normal());
      }
      graph.add_table(std::move(scope), std::move(values));
    }
    const bool is_observed = num_variables > 1 && random.uniform() < 0.5;
    const Evidence evidence = is_observed ? Evidence{{1, 1}} : Evidence{};
    const bool is_of_evidence = random.uniform() < 0.3;
    num_beyond += check(graph, evidence, 0, is_of_evidence ? "evidence" : "x0=0", 1e-9) ? 1 : 0;
  }
  EXPECT_GT(num_beyond, 10);
}

// x0 -> x1 -> x2, where what was observed had a probability of 10^-400.
TEST(DerivativeNumbers, OfNetworksBeyondAllDoubles) {
  Random random(1, "networks beyond");
  int num_beyond = 0;
  for (std::int64_t i = num_trials(60); i > 0; --i) {
    FactorGraph graph;
    for (int v = 0; v < 3; ++v) graph.add_variable(2);
    const auto row = [&](std::vector<double>& values) {
      const double rare = -1400.0 * random.uniform() - 0.1;
      values.push_back(rare);
      values.push_back(std::log1p(-std::exp(rare)));
    };
    std::vector<double> first, second, third;
    row(first);
    for (int k = 0; k < 2; ++k) {
      row(second);
      row(third);
    }
    graph.add_table({0}, first);
    graph.add_table({0, 1}, second);
    graph.add_table({1, 2}, third);
    num_beyond += check(graph, {{2, 0}}, 0, i % 3 == 0 ? "evidence" : "x0=0", 1e-9) ? 1 : 0;
  }
  EXPECT_GT(num_beyond, 10);
}

}  // namespace
}  // namespace treesample
