#include "treesample/nn/network_value.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "support/expect_error.hpp"
#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/families/factor_graphs_2.hpp"
#include "treesample/families/family.hpp"
#include "treesample/io/uai.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/nn/network_file.hpp"
#include "treesample/search/q_uct_search.hpp"

namespace treesample {
namespace {

SearchSpace path_space(const FactorGraph& graph, SpaceKind kind = SpaceKind::kTree) {
  std::vector<int> order;
  for (int v = 0; v < graph.num_variables(); ++v) order.push_back(v);
  return make_search_space(graph, order, kind);
}

FamilyInstance small_instance(Reading reading = Reading::kBest) {
  return make_family("factor-graphs-2", {.reading = reading, .seed = 3, .values = {{"n", 8}}});
}

std::shared_ptr<const Network> random_gnn(std::uint64_t seed) {
  Random random(seed);
  return std::make_shared<const Network>(Gnn({.kinds = {"not", "majority"}, .num_states = 2}, random));
}

std::shared_ptr<const Network> random_mlp(int num_variables, int num_states) {
  Random random(9);
  return std::make_shared<const Network>(
      Mlp({.num_variables = num_variables, .num_states = num_states, .hidden = {32}}, random));
}

double total_probability(const FactorGraph& graph, const Approximation& approximation) {
  const std::size_t count = enumerate(graph).log_probs.size();
  double sum = 0.0;
  for (std::size_t i = 0; i < count; ++i) sum += std::exp(approximation.log_prob(configuration_at(graph, i)));
  return sum;
}

TEST(NetworkValue, ProbabilitiesOfASearchWithNetworkSumToOne) {
  const FamilyInstance instance = small_instance();
  const auto network = random_gnn(5);
  for (const SpaceKind kind : {SpaceKind::kTree, SpaceKind::kGraph}) {
    const SearchSpace space = path_space(instance.graph, kind);
    const auto prior = std::make_shared<NetworkValue>(
        network, plan_network(*network, instance.graph, instance.factor_kinds), instance.graph, space);
    for (const int budget : {0, 1, 40}) {
      const QUctResult result = q_uct_search(instance.graph, space, {.estimate = prior}, {.budget = budget});
      EXPECT_NEAR(total_probability(instance.graph, *result.approximation), 1.0, 1e-9) << budget;
    }
  }
}

TEST(NetworkValue, BatchedSamplesHaveTheProbabilitiesOfTheApproximation) {
  const FamilyInstance instance = small_instance();
  const auto network = random_gnn(5);
  const SearchSpace space = path_space(instance.graph);
  const auto prior = std::make_shared<NetworkValue>(
      network, plan_network(*network, instance.graph, instance.factor_kinds), instance.graph, space);
  const TreeSearchResult result = tree_sample(instance.graph, space, {.estimate = prior}, {.budget = 20});
  constexpr int kCount = 20'000;
  Random random(1);
  const auto batch = result.approximation.sample_batch(kCount, random);
  std::vector<double> counts(256, 0.0);
  for (int i = 0; i < kCount; ++i) {
    const std::span<const int> x = std::span(batch.states).subspan(i * 8, 8);
    if (i < 100) {
      EXPECT_NEAR(batch.log_probs[i], result.approximation.log_prob(x), 1e-9);
    }
    counts[configuration_index(instance.graph, x)] += 1.0;
  }
  double chi_squared = 0.0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = kCount * std::exp(result.approximation.log_prob(configuration_at(instance.graph, i)));
    chi_squared += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  EXPECT_LT(chi_squared, 400.0);  // 255 degrees of freedom: 6 standard deviations
}

TEST(NetworkValue, FullBudgetIsExactWhateverTheNetworkSays) {
  const FamilyInstance instance = small_instance();
  const SearchSpace space = path_space(instance.graph);
  const auto network = random_mlp(8, 2);
  const auto prior = std::make_shared<NetworkValue>(network, std::nullopt, instance.graph, space);
  const QUctResult result = q_uct_search(instance.graph, space, {.estimate = prior}, {.budget = 1 << 12});
  EXPECT_TRUE(result.approximation->is_exact());
  EXPECT_NEAR(result.approximation->log_value(), enumerate(instance.graph).log_z, 1e-9);
}

TEST(NetworkValue, IsOffsetPlusNetworkForUnequalNumbersOfStates) {
  Random random(4);
  const FactorGraph graph =
      testing::random_model(random, {.num_variables = 4, .min_states = 2, .max_states = 4, .num_factors = 5});
  const SearchSpace space = path_space(graph);
  const auto network = random_mlp(4, 4);
  const NetworkValue value(network, std::nullopt, graph, space);
  const std::vector<double> offsets = independent_values(graph, space);
  std::vector<int> prefixes = {1, 0, -1, -1, 0, 1, -1, -1};
  const int num_states = graph.num_states(2);
  std::vector<double> q(2 * num_states);
  value.q_values(2, prefixes, 2, q);
  std::vector<float> raw(8);
  MlpScratch scratch;
  std::get<Mlp>(*network).q_values(2, prefixes, scratch, raw);
  for (int r = 0; r < 2; ++r) {
    for (int a = 0; a < num_states; ++a) {
      EXPECT_DOUBLE_EQ(q[r * num_states + a], offsets[2] + static_cast<double>(raw[r * 4 + a]));
    }
  }
}

TEST(NetworkValue, OffsetIsTheValueOfIndependentFactors) {
  FactorGraph graph;  // two variables, one factor each: the factors are independent, so the offset is exact
  graph.add_variable(2);
  graph.add_variable(3);
  graph.add_table({0}, {1.0, 1.0});
  graph.add_table({1}, {0.5, -1.0, kNegInf});
  const SearchSpace space = path_space(graph);
  const std::vector<double> offsets = independent_values(graph, space);
  const double second = std::log((std::exp(0.5) + std::exp(-1.0)) / 3.0);
  EXPECT_NEAR(offsets[1], second, 1e-12);
  EXPECT_NEAR(offsets[0], 1.0 + std::log(3.0) + second, 1e-12);
}

TEST(NetworkValue, RefusesBranchingSpacesAndForeignModels) {
  const FamilyInstance instance = small_instance();
  const auto network = random_mlp(8, 2);
  FactorGraph apart = testing::variables(8, 2);
  EXPECT_THROW(NetworkValue(network, std::nullopt, apart, path_space(apart, SpaceKind::kAndOr)), Error);
  EXPECT_THROW(plan_network(*random_mlp(7, 2), instance.graph, instance.factor_kinds), Error);
  EXPECT_THROW(plan_network(*random_gnn(1), apart, std::vector<std::string>{"not"}), Error);
}

TEST(DetectFactorKinds, FindsThoseOfTheFamilyAfterAUaiFile) {
  for (const Reading reading : {Reading::kLetter, Reading::kBest}) {
    const FamilyInstance instance = make_family("factor-graphs-2", {.reading = reading, .seed = 1});
    const FactorGraph read_back = parse_uai(format_uai(instance.graph), "test");
    EXPECT_EQ(detect_factor_kinds(read_back), instance.factor_kinds);
  }
}

TEST(DetectFactorKinds, OtherTablesAreTables) {
  FactorGraph graph;
  for (int v = 0; v < 3; ++v) graph.add_variable(v == 2 ? 3 : 2);
  graph.add_table({0, 1}, {0.0, 2.0, 2.0, 0.1});          // almost NOT
  graph.add_table({0, 1}, {1.0, 3.0, 3.0, 1.0});          // NOT with a constant
  graph.add_table({0, 1}, {0.0, 0.0, 0.0, 0.0});          // scale 0
  graph.add_table({2}, {0.0, 0.0, 2.0});                  // not binary
  graph.add_table({0, 1}, {kNegInf, 2.0, 2.0, kNegInf});  // infinite
  graph.add_factor(Factor::function({0}, [](std::span<const int>) { return 1.0; }));
  graph.add_table({1, 0}, {0.0, -2.5, -2.5, 0.0});  // NOT of another scale
  const std::vector<std::string> expected = {"table", "table", "table", "table", "table", "table", "not"};
  EXPECT_EQ(detect_factor_kinds(graph), expected);
}

// Values of 1e30, which have no digits left for the logarithm of a sum.
TEST(NetworkValue, ProbabilitiesOfHugeValuesAddUpToOne) {
  const FactorGraph graph = testing::variables(2, 3);
  Random random(1);
  TensorFile file = network_tensors(Mlp({.num_variables = 2, .num_states = 3, .hidden = {16}}, random));
  for (NamedTensor& tensor : file.tensors) {
    std::fill(tensor.values.begin(), tensor.values.end(), tensor.name == "layer1.bias" ? 1e30F : 0.0F);
  }
  const SearchSpace space = path_space(graph);
  const NetworkValue value(std::make_shared<const Network>(parse_network(file, "test").network), {}, graph, space);
  double sum = 0.0;
  for (std::size_t i = 0; i < 9; ++i) sum += std::exp(value.log_prob_below(0, configuration_at(graph, i)));
  EXPECT_NEAR(sum, 1.0, 1e-12);
  Assignment x(2, -1);
  const double drawn = value.sample_below(0, x, random);
  EXPECT_NEAR(drawn, value.log_prob_below(0, x), 1e-12);
}

// One hidden unit is 3e38 + 3e38 where x0 = 1, beyond a float; everywhere else the outputs are 3 and -3.
TEST(NetworkValue, RefusesNumbersThatOverflowWhereverTheyOccur) {
  const FactorGraph graph = testing::variables(2, 2);
  Random random(1);
  Mlp mlp({.num_variables = 2, .num_states = 2, .hidden = {16}}, random);
  TensorFile file = network_tensors(mlp);
  for (NamedTensor& tensor : file.tensors) {
    std::fill(tensor.values.begin(), tensor.values.end(), 0.0F);
    if (tensor.name == "layer0.weight") tensor.values[1 * 16] = 3e38F;  // the input x0 = 1
    if (tensor.name == "layer0.bias") tensor.values[0] = 3e38F;
    if (tensor.name == "layer1.weight") tensor.values[0] = 1e-38F, tensor.values[1] = -1e-38F;
  }
  const auto network = std::make_shared<const Network>(parse_network(file, "test").network);
  const SearchSpace space = path_space(graph);
  const NetworkValue value(network, {}, graph, space);
  EXPECT_TRUE(std::isfinite(value.log_value(1, std::vector{0, -1})));
  const char* const part = "the network gives inf for variable 1 in state 0";
  testing::expect_error(ErrorCode::kNumeric, part, [&] { static_cast<void>(value.log_value(1, std::vector{1, -1})); });
  // A search that has not seen the prefix {1} must not draw samples of probability NaN there.
  const auto prior = std::make_shared<NetworkValue>(network, std::nullopt, graph, space);
  const QUctResult result = q_uct_search(graph, space, {.estimate = prior}, {.budget = 0});
  testing::expect_error(ErrorCode::kNumeric, part, [&] {
    for (int i = 0; i < 1000; ++i)
      EXPECT_FALSE(std::isnan(result.approximation->log_prob(result.approximation->sample(random))));
  });
}

TEST(LoadNetworkValue, GivesTheSameValuesAsTheNetworkThatWasSaved) {
  const FamilyInstance instance = small_instance();
  const SearchSpace space = path_space(instance.graph);
  const auto network = random_gnn(8);
  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / "network_value_test.safetensors";
  save_network(path, network_tensors(std::get<Gnn>(*network)));
  const auto loaded = load_network_value(path, instance.graph, {}, space);
  const NetworkValue original(network, plan_network(*network, instance.graph, instance.factor_kinds), instance.graph,
                              space);
  const std::vector<int> prefix = {1, 0, 1, -1, -1, -1, -1, -1};
  std::vector<double> q(2);
  std::vector<double> expected(2);
  loaded->q_values(3, prefix, 1, q);
  original.q_values(3, prefix, 1, expected);
  EXPECT_EQ(q, expected);

  FactorGraph other;  // a factor of a kind that the network does not know
  for (int v = 0; v < 2; ++v) other.add_variable(2);
  other.add_table({0, 1}, {0.3, 0.1, 0.2, 0.5});
  testing::expect_error(ErrorCode::kArgument, path.string(),
                        [&] { load_network_value(path, other, {}, path_space(other)); });
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace treesample
