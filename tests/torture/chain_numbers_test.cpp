// Certified bounds of elimination where buckets are so large that it chains them, against sums over all configurations
// with 64 bits: dense models with zeros, and with penalties of which a product leaves the range of doubles.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/random_models.hpp"
#include "support/trials.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {
namespace {

using testing::num_trials;

constexpr int kNumVariables = 16;  // the message of the first one has 2^15 entries

// All pairs of variables. In a fifth of the tables some entries are penalties; some of them depend on one variable
// only, so that whole blocks of a message have the same one.
struct DenseModel {
  explicit DenseModel(Random& random) : log_densities(std::size_t{1} << kNumVariables, 0.0L) {
    const double zeros = random.uniform() < 0.3 ? 0.05 : 0.0, penalised = 0.05 + 0.3 * random.uniform();
    const double size = 300.0 + 500.0 * random.uniform();
    for (int v = 0; v < kNumVariables; ++v) graph.add_variable(2);
    for (int u = 0; u < kNumVariables; ++u) {
      for (int v = u + 1; v < kNumVariables; ++v) {
        std::vector<double> table(4);
        for (double& value : table) value = 0.1 * random.normal();
        if (random.uniform() < penalised) {
          const double penalty = size * (0.8 + 0.4 * random.uniform());
          const bool is_of_one = random.uniform() < 0.5, is_first = random.uniform() < 0.5;
          for (std::size_t i = is_first ? 0 : 2; i < (is_first ? 2U : 4U); ++i) {
            if (is_of_one || random.uniform() < 0.5) table[i] -= penalty;
          }
        }
        for (double& value : table) value = random.uniform() < zeros ? kNegInf : value;
        graph.add_table({u, v}, table);
        for (std::size_t x = 0; x < log_densities.size(); ++x) {
          log_densities[x] += table[2 * (x >> static_cast<unsigned>(u) & 1U) + (x >> static_cast<unsigned>(v) & 1U)];
        }
      }
    }
  }

  [[nodiscard]] long double log_z() const {
    const long double largest = *std::max_element(log_densities.begin(), log_densities.end());
    if (largest == kNegInf) return kNegInf;
    long double sum = 0.0L;
    for (const long double log_density : log_densities) sum += std::exp(log_density - largest);
    return largest + std::log(sum);
  }

  FactorGraph graph;
  std::vector<long double> log_densities;
};

TEST(Torture, BoundsOfChainsOfBucketsHold) {
  Random random(1, "chain torture");
  const std::vector<int> order = testing::integers(kNumVariables);
  for (int trial = 0; trial < num_trials(25); ++trial) {
    const DenseModel model(random);
    const long double log_z = model.log_z();
    const long double rounding = 1e-15L * (1.0L + (log_z == kNegInf ? 0.0L : std::abs(log_z)));
    for (const bool keeps : {false, true}) {
      const EliminationOptions options{.goal = keeps ? EliminationGoal::kSamples : EliminationGoal::kLogZ};
      const Elimination elimination(model.graph, plan_in_order(model.graph, order), {}, options);
      ASSERT_LE(static_cast<long double>(elimination.bounds().lower), log_z + rounding) << trial << ", kept " << keeps;
      ASSERT_GE(static_cast<long double>(elimination.bounds().upper), log_z - rounding) << trial << ", kept " << keeps;
    }
  }
}

}  // namespace
}  // namespace treesample
