// The paper's families in the space `andor` with the paper's budget: solved where the paper's search has errors.
#include <gtest/gtest.h>

#include "treesample/exact/elimination.hpp"
#include "treesample/families/family.hpp"
#include "treesample/search/q_uct_search.hpp"

namespace treesample {
namespace {

constexpr std::int64_t kPaperBudget = 10'000;

// The number of instances that are solved; these must agree with elimination.
int count_exact(const std::string& family, Reading reading, int num_instances) {
  int num_exact = 0;
  for (int i = 0; i < num_instances; ++i) {
    const FactorGraph graph = make_family(family, {.reading = reading, .seed = 11, .instance = std::uint64_t(i)}).graph;
    const SearchSpace space = make_search_space(graph, search_order(graph, SpaceKind::kAndOr, {}), SpaceKind::kAndOr);
    const QUctResult result = q_uct_search(graph, space, {}, {.budget = kPaperBudget});
    if (!result.approximation->is_exact()) continue;
    ++num_exact;
    EXPECT_NEAR(result.approximation->log_value(), Elimination(graph).log_z(), 1e-9) << family << " " << i;
  }
  return num_exact;
}

TEST(Families, ChainsAndFactorGraphs2AreSolvedWithinThePapersBudget) {
  for (const Reading reading : {Reading::kLetter, Reading::kBest}) {
    EXPECT_EQ(count_exact("chain", reading, 40), 40);
    EXPECT_EQ(count_exact("permuted-chain", reading, 40), 40);
    EXPECT_EQ(count_exact("factor-graphs-2", reading, 40), 40);
  }
}

// About half of all instances are solved.
TEST(Families, ManyFactorGraphs1AreSolvedWithinThePapersBudget) {
  EXPECT_GE(count_exact("factor-graphs-1", Reading::kLetter, 60), 27);
}

}  // namespace
}  // namespace treesample
