// Functions that have another value every time: nothing is certified, whatever the method, unless noise was excluded.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "support/random_models.hpp"
#include "treesample/infer/infer.hpp"
#include "treesample/oracle/oracle_set.hpp"

namespace treesample {
namespace {

struct Way {
  std::string name;
  InferOptions options;
};

std::vector<Way> all_ways() {
  std::vector<Way> ways;
  for (const Method method : {Method::kTree, Method::kSis, Method::kSmc, Method::kGibbs, Method::kMetropolis,
                              Method::kFrequencies, Method::kLearned, Method::kMonotone}) {
    ways.push_back({to_string(method), {.method = method}});
  }
  ways.push_back({"auto", {}});
  for (const SelectRule rule : {SelectRule::kQUct, SelectRule::kGap, SelectRule::kMass}) {
    ways.push_back({std::string("search ") + to_string(rule), {.method = Method::kSearch, .select = rule}});
  }
  ways.push_back({"samples", {.select = SelectRule::kMass, .importance = 20}});
  return ways;
}

// Two functions of seven variables with a table between them. Of each value a part changes from call to call.
struct Changing {
  std::shared_ptr<std::map<std::vector<int>, int>> calls = std::make_shared<std::map<std::vector<int>, int>>();
  FactorGraph graph = testing::variables({2, 3, 2, 3, 2, 2, 2});

  Changing(double noise, bool is_monotone) {
    graph.add_table({3, 4}, {0.1, -0.4, 0.3, 0.2, -1.0, 0.5});
    for (const std::vector<int>& scope : {std::vector<int>{0, 1, 2, 3}, {4, 5, 6}}) {
      const auto value = [calls = calls, noise, name = scope.front()](std::span<const int> x) {
        std::vector<int> key{name};
        key.insert(key.end(), x.begin(), x.end());
        const int number = (*calls)[key]++;
        double sum = -6.0 + noise * std::fmod(0.618 * number, 1.0);
        for (const int state : x) sum += 0.3 * state;
        return sum;
      };
      const Factor factor = Factor::function(scope, value, /*log_max=*/0.0);
      const std::vector<Direction> up(scope.size(), Direction::kIncreasing);
      graph.add_factor(is_monotone ? factor.monotone(up) : factor);
    }
  }
  [[nodiscard]] int num_repeated() const {
    int count = 0;
    for (const auto& [key, number] : *calls) count += number - 1;
    return count;
  }
};

void expect_nothing_certified(const Answer& answer, const std::string& what) {
  EXPECT_FALSE(answer.is_exact) << what;
  EXPECT_FALSE(answer.lower && std::isfinite(*answer.lower)) << what;
  EXPECT_FALSE(answer.upper && std::isfinite(*answer.upper)) << what;
  EXPECT_FALSE(answer.is_best_optimal.value_or(false)) << what;
  EXPECT_FALSE(answer.best_gap) << what;
  EXPECT_FALSE(answer.sampled_interval) << what;
  EXPECT_TRUE(answer.marginals.empty() || !answer.marginals_no_error.empty()) << what;
}

TEST(NoiseCheck, NothingIsCertifiedFromValuesThatChange) {
  int num_answered = 0;
  for (const Way& way : all_ways()) {
    for (const std::int64_t calls : {40, 60, 200}) {
      for (const Question& question : {Question{}, {.samples = 5}, {.aim = Aim::kBest}, {.aim = Aim::kLogZ}}) {
        for (const double noise : {1e-3, 0.5}) {
          const std::string what = way.name + ", " + std::to_string(calls) + ", noise " + std::to_string(noise) +
                                   (question.aim == Aim::kBest   ? ", best"
                                    : question.aim == Aim::kLogZ ? ", log Z"
                                    : question.samples > 0       ? ", samples"
                                                                 : "");
          const Changing changing(noise, way.options.method == Method::kMonotone);
          const auto set = std::make_shared<OracleSet>(changing.graph, "1", OracleOptions{});
          try {
            expect_nothing_certified(infer(changing.graph, question, {.calls = calls}, way.options), what);
            expect_nothing_certified(infer(Model(set), question, {.calls = calls}, way.options), what + ", a set");
            ++num_answered;
          } catch (const Error& error) {
            EXPECT_TRUE(error.code() == ErrorCode::kArgument || error.code() == ErrorCode::kNumeric) << error.what();
          }
        }
      }
    }
  }
  EXPECT_GT(num_answered, 120);
}

// More configurations than can be listed, which sparse terms learn.
TEST(NoiseCheck, LargeModelsAreLookedAtAsWell) {
  FactorGraph graph;
  std::vector<int> scope;
  for (int v = 0; v < 24; ++v) scope.push_back(graph.add_variable(2));
  int num_calls = 0;
  graph.add_factor(Factor::function(scope, [&](std::span<const int> x) {
    ++num_calls;
    double sum = 0.01 * std::fmod(0.618 * num_calls, 1.0);
    for (const int state : x) sum += 0.3 * state;
    return sum;
  }));
  expect_nothing_certified(infer(graph, {}, {.calls = 120}), "24 variables");
  EXPECT_EQ(num_calls, 120);
}

TEST(NoiseCheck, ValuesThatStayTheSameAreCertifiedAsBefore) {
  const Changing steady(0.0, false);
  const Answer answer =
      infer(steady.graph, {}, {.calls = 200}, {.method = Method::kSearch, .select = SelectRule::kMass});
  EXPECT_TRUE(answer.is_exact);
  EXPECT_TRUE(answer.is_best_optimal.value_or(false));
  EXPECT_EQ(answer.spent.calls, 36 + 8 + 4);  // every value, and the best one again, twice
}

TEST(NoiseCheck, WhereNoiseIsExcludedNothingIsCalledTwice) {
  for (const Way& way : all_ways()) {
    for (const std::int64_t calls : {5, 30, 200}) {
      const Changing changing(0.5, way.options.method == Method::kMonotone);
      const auto set = std::make_shared<OracleSet>(changing.graph, "1", OracleOptions{});
      InferOptions options = way.options;
      options.noise = "no";
      try {
        static_cast<void>(infer(Model(set), {}, {.calls = calls}, options));
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kArgument) << error.what();
      }
      EXPECT_EQ(changing.num_repeated(), 0) << way.name << ", " << calls;
    }
  }
}

}  // namespace
}  // namespace treesample
