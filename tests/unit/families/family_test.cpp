#include "treesample/families/family.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/expect_error.hpp"
#include "treesample/error.hpp"
#include "unit/families/log_z.hpp"

namespace treesample {
namespace {

using testing::expect_error;
using testing::message_of;

bool are_equal(const FamilyInstance& a, const FamilyInstance& b) {
  if (a.factor_kinds != b.factor_kinds || a.graph.num_factors() != b.graph.num_factors()) return false;
  for (int m = 0; m < a.graph.num_factors(); ++m) {
    if (a.graph.factor(m).scope() != b.graph.factor(m).scope()) return false;
    if (a.graph.factor(m).log_values() != b.graph.factor(m).log_values()) return false;
  }
  return a.graph.num_variables() == b.graph.num_variables();
}

double mean_log_z(const std::string& name, Reading reading) {
  constexpr int kInstances = 400;
  double sum = 0.0;
  for (std::uint64_t i = 0; i < kInstances; ++i) {
    sum += testing::log_z(make_family(name, {.reading = reading, .seed = 11, .instance = i}).graph);
  }
  return sum / kInstances;
}

TEST(Family, NamesAreThoseOfTheCommandLine) {
  EXPECT_EQ(family_names(),
            (std::vector<std::string>{"chain", "permuted-chain", "factor-graphs-1", "factor-graphs-2", "ising"}));
}

TEST(Family, EveryFactorIsATableWithAKind) {
  for (const std::string& name : family_names()) {
    const FamilyInstance model = make_family(name);
    EXPECT_TRUE(model.graph.has_only_tables()) << name;
    EXPECT_GT(model.graph.num_factors(), 0) << name;
    EXPECT_EQ(model.factor_kinds.size(), model.graph.factors().size()) << name;
  }
}

TEST(Family, SameSeedAndInstanceGiveTheSameBits) {
  for (const std::string& name : family_names()) {
    const FamilyInstance model = make_family(name, {.seed = 3, .instance = 5});
    EXPECT_TRUE(are_equal(model, make_family(name, {.seed = 3, .instance = 5}))) << name;
    EXPECT_FALSE(are_equal(model, make_family(name, {.seed = 4, .instance = 5}))) << name;
    EXPECT_FALSE(are_equal(model, make_family(name, {.seed = 3, .instance = 6}))) << name;
  }
}

// Means of an independent implementation over 150 instances. Tolerance: four standard errors of the difference to
// our mean over 400, with the standard deviations 1.7 (chain), 1.0 (FG1), 2.9 and 2.2 (FG2) of log Z.
TEST(Family, MeanLogZIsThatOfAnIndependentImplementation) {
  EXPECT_NEAR(mean_log_z("chain", Reading::kLetter), 4.4, 0.65);
  EXPECT_NEAR(mean_log_z("factor-graphs-1", Reading::kLetter), 21.3, 0.4);
  EXPECT_NEAR(mean_log_z("factor-graphs-2", Reading::kLetter), 45.0, 1.1);
  EXPECT_NEAR(mean_log_z("factor-graphs-2", Reading::kBest), 40.0, 0.85);
}

TEST(Family, BestReadingOnlyAddsConstantsToChainAndFactorGraphs1) {
  for (std::uint64_t i = 0; i < 20; ++i) {
    const auto difference = [i](const std::string& name) {
      return testing::log_z(make_family(name, {.reading = Reading::kBest, .instance = i}).graph) -
             testing::log_z(make_family(name, {.reading = Reading::kLetter, .instance = i}).graph);
    };
    EXPECT_NEAR(difference("chain"), 9 * 2.5, 1e-9);
    EXPECT_NEAR(difference("permuted-chain"), 0.0, 1e-9);
    EXPECT_NEAR(difference("factor-graphs-1"), make_family("factor-graphs-1", {.instance = i}).graph.num_factors(),
                1e-9);
  }
}

TEST(Family, FieldsListThePresetOfTheReading) {
  const auto value_of = [](const std::string& name, Reading reading, const std::string& field) {
    for (const FamilyField& candidate : family_fields(name, reading)) {
      if (candidate.name == field) return candidate.value;
    }
    ADD_FAILURE() << name << " has no field " << field;
    return std::optional<double>();
  };
  EXPECT_EQ(value_of("chain", Reading::kLetter, "pair_offset"), 0.0);
  EXPECT_EQ(value_of("chain", Reading::kBest, "pair_offset"), 2.5);
  EXPECT_EQ(value_of("chain", Reading::kLetter, "pair_slope"), -2.5);
  EXPECT_EQ(value_of("factor-graphs-1", Reading::kBest, "entry_mean"), 1.0);
  EXPECT_EQ(value_of("factor-graphs-1", Reading::kLetter, "entry_mean"), 0.0);
  EXPECT_EQ(value_of("factor-graphs-1", Reading::kBest, "edge_probability"), std::nullopt);
  EXPECT_EQ(value_of("factor-graphs-2", Reading::kBest, "strict_majority"), 1.0);
  EXPECT_EQ(value_of("factor-graphs-2", Reading::kLetter, "strict_majority"), 0.0);
}

TEST(Family, EveryListedFieldCanBeSetAndIsBounded) {
  for (const std::string& name : family_names()) {
    for (const FamilyField& field : family_fields(name)) {
      EXPECT_FALSE(field.help.empty()) << name << " " << field.name;
      if (field.value) {
        EXPECT_NO_THROW(make_family(name, {.values = {{field.name, *field.value}}}));
      }
      for (const double bad : {field.low - 1, field.high + 1, std::numeric_limits<double>::quiet_NaN()}) {
        const std::string message = message_of(ErrorCode::kArgument, [&] {
          make_family(name, {.values = {{field.name, bad}}});
        });
        EXPECT_NE(message.find(field.name + " is "), std::string::npos) << message;
      }
    }
  }
}

TEST(Family, SetsFieldsByName) {
  const FamilyInstance model = make_family("chain", {.values = {{"n", 3}, {"k", 4}, {"pair_slope", 1.5}}});
  EXPECT_EQ(model.graph.num_variables(), 3);
  EXPECT_EQ(model.graph.num_states(0), 4);
  EXPECT_EQ(model.graph.factor(3).log_values()[1], 1.5);
}

TEST(Family, ErrorsNameWhatIsAllowed) {
  std::string message = message_of(ErrorCode::kArgument, [] { make_family("chains"); });
  EXPECT_NE(message.find("'chains', allowed are chain, permuted-chain"), std::string::npos) << message;
  expect_error(ErrorCode::kArgument, [] { family_fields(""); });
  message = message_of(ErrorCode::kArgument, [] { make_family("factor-graphs-2", {.values = {{"k", 2}}}); });
  EXPECT_NE(message.find("no option k, the family has n, edge_probability"), std::string::npos) << message;
  message = message_of(ErrorCode::kArgument, [] { make_family("chain", {.values = {{"n", 2.5}}}); });
  EXPECT_NE(message.find("n is 2.5, allowed are whole numbers 1 to"), std::string::npos) << message;
  message = message_of(ErrorCode::kResource, [] { make_family("chain", {.values = {{"n", 100'000}, {"k", 1000}}}); });
  EXPECT_NE(message.find("lower n or k"), std::string::npos) << message;
}

// The sum used by these tests, against a plain enumeration.
TEST(Family, TestSumEqualsEnumeration) {
  const FactorGraph graph = make_family("factor-graphs-1", {.seed = 1, .values = {{"n", 6}, {"k", 3}}}).graph;
  double sum = 0.0;
  Assignment x(6);
  for (int code = 0; code < 729; ++code) {
    for (int v = 0, rest = code; v < 6; ++v, rest /= 3) x[v] = rest % 3;
    sum += std::exp(graph.log_density(x));
  }
  EXPECT_NEAR(testing::log_z(graph), std::log(sum), 1e-10);
}

}  // namespace
}  // namespace treesample
