// Few, many and mixed numbers of states: the engine has different code for them, which must grow the same tree.
#include <gtest/gtest.h>

#include "examples/literal_tree_sample.hpp"
#include "support/random_models.hpp"
#include "support/same_tree.hpp"
#include "treesample/math/random.hpp"
#include "treesample/tree/tree_sample.hpp"

namespace treesample {
namespace {

TEST(TreeSample, NodesOfAnyWidthEqualLiteralTranscription) {
  Random random(1);
  const std::vector<std::vector<int>> all_num_states = {{6, 6, 6, 6, 6},  {8, 8, 8, 8},       {9, 9, 9, 9},
                                                        {2, 9, 1, 7, 12}, {5, 3, 2, 4, 5, 2}, {1, 1, 2, 1, 2, 1},
                                                        {3, 3, 3, 3, 3},  {40, 2, 40},        {2, 2, 2, 2, 2, 2, 2, 2},
                                                        {4, 4, 4, 4, 4},  {5, 5, 5, 5, 5}};
  for (const std::vector<int>& num_states : all_num_states) {
    FactorGraph graph = testing::variables(num_states);
    for (int v = 0; v + 1 < graph.num_variables(); ++v) {
      std::vector<double> values(static_cast<std::size_t>(num_states[v]) * num_states[v + 1]);
      for (double& value : values) value = random.uniform() < 0.1 ? kNegInf : random.normal();
      graph.add_table({v, v + 1}, values);
    }
    const std::vector<int> order = testing::integers(num_states.size());
    const SearchSpace space = make_search_space(graph, order, SpaceKind::kTree);
    for (const std::int64_t budget : {30, 3000, 100'000}) {
      const TreeSearchResult result = tree_sample(graph, space, {}, {.budget = budget});
      literal::TreeSample<> twin(graph, order, {});
      twin.tree_sample(budget);
      ASSERT_EQ(testing::difference(result.approximation.store(), twin.tree()), "") << num_states.size();
    }
  }
}

}  // namespace
}  // namespace treesample
