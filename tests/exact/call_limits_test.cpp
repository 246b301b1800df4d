// Every method and every limit: functions that count say how often they were really called.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "support/random_models.hpp"
#include "treesample/infer/infer.hpp"
#include "treesample/oracle/oracle_set.hpp"

namespace treesample {
namespace {

constexpr int kLimit = 11;

// Two functions, a table between them, and an account of what the functions received.
struct Counted {
  struct Account {
    std::int64_t num_calls = 0;
    std::set<std::vector<int>> different;  // calls: the function, then its states
  };
  std::shared_ptr<Account> account = std::make_shared<Account>();
  FactorGraph graph = testing::variables({2, 3, 2, 3});

  explicit Counted(bool is_monotone = false) {
    graph.add_table({1, 2}, {0.1, -0.4, 0.3, 0.2, -1.0, 0.5});
    const std::vector<Direction> directions =
        is_monotone ? std::vector<Direction>{Direction::kIncreasing, Direction::kIncreasing} : std::vector<Direction>{};
    add({0, 1}, 0.3, directions);
    add({2, 3}, 0.2, directions);
  }
  void add(std::vector<int> scope, double slope, const std::vector<Direction>& directions) {
    const int name = graph.num_factors();
    const auto value = [account = account, name, slope](std::span<const int> x) {
      ++account->num_calls;
      std::vector<int> call{name};
      call.insert(call.end(), x.begin(), x.end());
      account->different.insert(call);
      return slope * x[0] + 2.0 * slope * x[1] - 2.0;
    };
    const Factor factor = Factor::function(std::move(scope), value, /*log_max=*/0.0, /*cost=*/1.0);
    graph.add_factor(directions.empty() ? factor : factor.monotone(directions));
  }
};

struct Way {
  std::string name;
  InferOptions options;
};

std::vector<Way> all_ways() {
  std::vector<Way> ways;
  for (const Method method :
       {Method::kTree, Method::kExact, Method::kCount, Method::kSis, Method::kSmc, Method::kGibbs, Method::kBp,
        Method::kMetropolis, Method::kFrequencies, Method::kLearned, Method::kMonotone, Method::kAis}) {
    ways.push_back({to_string(method), {.method = method}});
  }
  ways.push_back({"auto", {}});
  for (const SelectRule rule : {SelectRule::kQUct, SelectRule::kGap, SelectRule::kMass}) {
    for (const SpaceKind space : {SpaceKind::kTree, SpaceKind::kGraph, SpaceKind::kAndOr}) {
      ways.push_back({std::string("search ") + to_string(rule) + " " + to_string(space),
                      {.method = Method::kSearch, .select = rule, .space = space}});
    }
  }
  ways.push_back({"rejection", {.select = SelectRule::kGap, .sampler = SampleSource::kRejection}});
  ways.push_back({"many samples", {.select = SelectRule::kMass, .importance = 1000}});
  return ways;
}

struct Limited {
  std::string name;
  Limits limits;
  bool counts_cost = false;
};

std::vector<Limited> all_limits() {
  return {{"calls", {.calls = kLimit}},
          {"new calls", {.new_calls = kLimit}},
          {"calls and new calls", {.calls = 5 * kLimit, .new_calls = kLimit}},
          {"new calls and time", {.new_calls = kLimit, .seconds = 5.0}},
          {"cost", {.budget = kLimit}, true}};
}

// Nothing if the request was refused.
std::optional<Answer> answer_of(const Model& model, const Way& way, const Limited& limited, Question question) {
  InferOptions options = way.options;
  if (limited.counts_cost) options.budget_unit = BudgetUnit::kCost;
  try {
    return infer(model, question, limited.limits, options);
  } catch (const Error& error) {
    EXPECT_TRUE(error.code() == ErrorCode::kArgument || error.code() == ErrorCode::kResource) << error.what();
    return {};
  }
}

std::vector<Question> questions() {
  return {{}, {.samples = 3}, {.aim = Aim::kBest}, {.aim = Aim::kLogZ}, {.k_best = 2}, {.query = {{"x0", "x3"}}}};
}

TEST(CallLimits, HoldForFunctionsOfThisProcess) {
  int num_answered = 0;
  for (const Way& way : all_ways()) {
    for (const Limited& limited : all_limits()) {
      for (const Question& question : questions()) {
        const Counted counted(way.options.method == Method::kMonotone);
        const auto answer = answer_of(counted.graph, way, limited, question);
        const std::string what = way.name + ", " + limited.name;
        EXPECT_LE(counted.account->num_calls, kLimit) << what;
        if (!answer) continue;
        ++num_answered;
        EXPECT_EQ(answer->spent.calls, counted.account->num_calls) << what;
      }
    }
  }
  EXPECT_GT(num_answered, 300);
}

// Here what was called is remembered, so that only different calls reach a function.
TEST(CallLimits, HoldForFunctionsOfASet) {
  int num_answered = 0;
  for (const Way& way : all_ways()) {
    for (const Limited& limited : all_limits()) {
      for (const Question& question : questions()) {
        const Counted counted(way.options.method == Method::kMonotone);
        const auto set = std::make_shared<OracleSet>(counted.graph, "1", OracleOptions{});
        Way own = way;
        own.options.noise = "no";  // so that nothing is called twice
        const auto answer = answer_of(Model(set), own, limited, question);
        const std::string what = way.name + ", " + limited.name;
        EXPECT_LE(counted.account->num_calls, kLimit) << what;
        EXPECT_EQ(counted.account->num_calls, std::ssize(counted.account->different)) << what;
        if (!answer) continue;
        ++num_answered;
        EXPECT_GE(answer->spent.calls, counted.account->num_calls) << what;
      }
    }
  }
  EXPECT_GT(num_answered, 300);
}

// The functions have twelve states together, each of which is called for once.
TEST(CallLimits, GibbsGoesOnOnceEverythingIsKnown) {
  const Counted counted;
  const auto set = std::make_shared<OracleSet>(counted.graph, "1", OracleOptions{});
  const Answer answer =
      infer(Model(set), {}, {.budget = 20'000, .new_calls = 12}, {.method = Method::kGibbs, .noise = "no"});
  EXPECT_LE(counted.account->num_calls, 12);
  EXPECT_EQ(answer.spent.calls, counted.account->num_calls);
  EXPECT_GT(answer.spent.factor_evaluations, 1000);
  EXPECT_EQ(answer.marginals.size(), 4);
}

TEST(CallLimits, AnInterruptionEndsCalls) {
  for (const Way& way : all_ways()) {
    for (const Question& question : questions()) {
      const Counted counted(way.options.method == Method::kMonotone);
      const Observer observer{.should_stop = [&] { return counted.account->num_calls >= kLimit; }};
      try {
        infer(counted.graph, question, {.calls = 10'000}, way.options, observer);
      } catch (const Error& error) {
        EXPECT_TRUE(error.code() == ErrorCode::kArgument || error.code() == ErrorCode::kInterrupted) << error.what();
      }
      constexpr int kStep = 2 * (2 + 3 + 2 + 3);  // one sweep of Gibbs sampling: each state of each variable
      EXPECT_LE(counted.account->num_calls, kLimit + kStep) << way.name;
    }
  }
}

// Evidence decides a function, which is called before any method begins.
TEST(CallLimits, CountWhatTheEvidenceDecides) {
  for (const Way& way : all_ways()) {
    for (const Limited& limited : all_limits()) {
      const Counted counted(way.options.method == Method::kMonotone);
      const Model model(counted.graph, {{0, 1}, {1, 2}});
      const auto answer = answer_of(model, way, limited, {});
      EXPECT_LE(counted.account->num_calls, kLimit) << way.name << ", " << limited.name;
      if (!answer) continue;
      EXPECT_EQ(answer->spent.calls, counted.account->num_calls) << way.name << ", " << limited.name;
    }
  }
}

}  // namespace
}  // namespace treesample
