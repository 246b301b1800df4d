#include "treesample/value/make_leaf_value.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/random_models.hpp"
#include "treesample/error.hpp"

namespace treesample {
namespace {

// Each word makes what its maker makes.
TEST(MakeLeafValue, WordsNameTheMakers) {
  Random random(3);
  const FactorGraph graph = testing::random_model(random, {.num_variables = 5, .num_factors = 7});
  const SearchSpace space = make_search_space(graph, search_order(graph, SpaceKind::kAndOr, {}), SpaceKind::kAndOr);
  const int root = space.roots[0];
  const Assignment x(5, -1);
  const auto value = [&](const std::string& word, const LeafValueOptions& options = {}) {
    return make_leaf_value(parse_leaf_choice(word).value(), graph, space, options)->log_value(root, x);
  };
  EXPECT_EQ(value("uniform"), UniformValue(space).log_value(root, x));
  EXPECT_EQ(value("maxima"), maxima_value(graph, space)->log_value(root, x));
  EXPECT_EQ(value("elbo"), product_value(graph, space, uniform_distributions(graph))->log_value(root, x));
  EXPECT_EQ(value("elbo", {.mean_field_sweeps = 5, .seed = 2}),
            product_value(graph, space, mean_field(graph, 5, 2))->log_value(root, x));
  EXPECT_GT(value("elbo", {.mean_field_sweeps = 5, .seed = 2}), value("elbo"));
  EXPECT_EQ(value("mini-bucket:1"), WeightedMiniBucket(graph, space, {.i_bound = 1}).log_value(root, x));
  EXPECT_EQ(value("mini-bucket"), WeightedMiniBucket(graph, space).log_value(root, x));
  EXPECT_THROW(value("net:/no/such/file"), Error);
}

TEST(MakeLeafValue, RefusesWhatIsNotMadeFromAModel) {
  FactorGraph graph = testing::variables({2});
  const std::vector<int> order = {0};
  const SearchSpace space = make_search_space(graph, order, SpaceKind::kTree);
  for (const LeafKind kind : {LeafKind::kCalibrated, LeafKind::kProgram, LeafKind::kFunction}) {
    testing::expect_error(ErrorCode::kArgument, "from a model alone", [&] { make_leaf_value({kind}, graph, space); });
  }
}

}  // namespace
}  // namespace treesample
