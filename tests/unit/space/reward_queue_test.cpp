#include "space/reward_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "treesample/math/log_domain.hpp"
#include "treesample/reduce/evidence.hpp"

namespace treesample {
namespace {

// Answers the newest ticket first, one at a time, by calling the functions of a graph.
class NewestFirst final : public EvaluationQueue {
 public:
  NewestFirst(FactorGraph graph, int num_workers) : graph_(std::move(graph)), num_workers_(num_workers) {}
  [[nodiscard]] bool answers(int factor) const override {
    return factor < graph_.num_factors() && !graph_.factor(factor).is_table();
  }
  [[nodiscard]] int num_workers() const override { return num_workers_; }
  [[nodiscard]] int max_under_way() const override { return num_workers_ * batch_; }
  [[nodiscard]] int num_pending() const override { return static_cast<int>(pending_.size()); }
  Ticket submit(std::vector<OracleQuestion> questions) override {
    pending_.emplace(next_, questions.at(0));
    most_pending_ = std::max(most_pending_, num_pending());
    return next_++;
  }
  std::vector<OracleAnswer> wait_any() override { return {answer(std::prev(pending_.end()))}; }
  OracleAnswer wait(Ticket ticket) override {
    OracleAnswer result = answer(pending_.find(ticket));
    if (result.error) throw Error(*result.error);
    return result;
  }

  std::vector<int> asked_;  // factors, in the order of evaluation
  int most_pending_ = 0;
  int batch_ = 1;

 private:
  OracleAnswer answer(std::map<Ticket, OracleQuestion>::iterator place) {
    const auto [ticket, question] = *place;
    pending_.erase(place);
    asked_.push_back(question.factor);
    OracleAnswer result{ticket, {0.0}, {0.0}, {}};
    try {
      const Factor& factor = graph_.factor(question.factor);
      result.log_values[0] = checked_function_value(graph_, question.factor, question.states);
      result.costs[0] = factor.cost().value_or(0.5);
    } catch (const Error& error) {
      result.error = error;
    }
    return result;
  }

  FactorGraph graph_;
  int num_workers_;
  Ticket next_ = 0;
  std::map<Ticket, OracleQuestion> pending_;
};

// Two variables. Factors of the second: an expensive function, a cheap one, a table, one of unknown cost.
// a = 0 is impossible by the table, a = 1 by the cheap function.
class RewardQueues : public ::testing::Test {
 protected:
  RewardQueues() {
    graph_.add_variable(4);
    graph_.add_variable(3);
    const auto value = [](double scale) {
      return [scale](std::span<const int> s) { return -scale * (s[0] + 4 * s[1]); };
    };
    graph_.add_factor(Factor::function({0, 1}, value(0.1), {}, 8.0));
    graph_.add_factor(Factor::function(
        {0}, [](std::span<const int> s) { return s[0] == 1 ? kNegInf : 0.3 * s[0]; }, {}, 1.0));
    graph_.add_table({0}, {kNegInf, 0.1, 0.2, 0.3});
    graph_.add_factor(Factor::function({1, 0}, value(0.7)));
    space_ = make_search_space(graph_, std::vector<int>{1, 0}, SpaceKind::kTree);
  }
  // The graph with the queue as the one that answers.
  std::shared_ptr<NewestFirst> attach(int num_workers) {
    auto queue = std::make_shared<NewestFirst>(graph_, num_workers);
    graph_.set_evaluation_queue(queue);
    return queue;
  }

  FactorGraph graph_;
  SearchSpace space_;
};

TEST_F(RewardQueues, CheapFactorsComeFirstAndNothingAfterTheFirstMinusInfinity) {
  const auto queue = attach(1);
  Reward reward(graph_, space_);
  EXPECT_EQ(reward.price(1).factor_evaluations, 4);
  EXPECT_DOUBLE_EQ(reward.price(1).cost_seconds, 9.0);
  Budget budget(100, BudgetUnit::kCost);
  EXPECT_EQ(reward.evaluate(1, std::vector<int>{0, 2}, budget), kNegInf);
  EXPECT_TRUE(queue->asked_.empty());
  EXPECT_EQ(budget.spent().factor_evaluations, 1);
  EXPECT_EQ(budget.spent().cost_seconds, 0.0);
  EXPECT_EQ(reward.evaluate(1, std::vector<int>{1, 2}, budget), kNegInf);
  EXPECT_EQ(queue->asked_, (std::vector<int>{1}));
  EXPECT_DOUBLE_EQ(budget.spent().cost_seconds, 1.0);
  const std::vector<int> x = {2, 1};
  EXPECT_NEAR(reward.evaluate(1, x, budget), graph_.log_density(x), 1e-12);
  EXPECT_EQ(queue->asked_, (std::vector<int>{1, 1, 0, 3}));
  EXPECT_DOUBLE_EQ(budget.spent().cost_seconds, 1.0 + 1.0 + 8.0 + 0.5);
  EXPECT_EQ(budget.spent().factor_evaluations, 1 + 2 + 4);
}

TEST_F(RewardQueues, ValuesAndChargesAreThoseOfOneByOne) {
  for (const AnswerOrder order : {AnswerOrder::kArrival, AnswerOrder::kSubmission}) {
    for (const int num_workers : {1, 3, 100}) {
      attach(num_workers);
      Budget one_by_one(1000, BudgetUnit::kCost);
      Reward reward(graph_, space_);
      std::vector<double> expected;
      Budget budget(1000, BudgetUnit::kCost);
      RewardQueue rewards(graph_, space_, budget, order);
      std::map<std::int64_t, int> index_of;
      std::vector<double> found(12, 1.0);
      const auto take = [&] {
        for (const RewardAnswer& answer : rewards.wait()) found[index_of.at(answer.id)] = answer.rewards.at(0);
      };
      for (int i = 0; i < 12; ++i) {
        const std::vector<int> x = {i % 4, i / 4};
        expected.push_back(reward.evaluate(1, x, one_by_one));
        while (!rewards.has_room()) take();
        if (const auto answer = rewards.submit({1, i % 4, 1}, std::vector<int>{-1, i / 4})) {
          EXPECT_EQ(i % 4, 0);  // by the table
          found[i] = answer->rewards.at(0);
        } else {
          index_of[rewards.last_id()] = i;
        }
      }
      while (rewards.num_pending() > 0) take();
      EXPECT_EQ(found, expected);
      EXPECT_EQ(budget.spent().reward_evaluations, one_by_one.spent().reward_evaluations);
      EXPECT_EQ(budget.spent().factor_evaluations, one_by_one.spent().factor_evaluations);
      EXPECT_DOUBLE_EQ(budget.spent().cost_seconds, one_by_one.spent().cost_seconds);
    }
  }
}

TEST_F(RewardQueues, AllActionsOfANodeAreOneSubmission) {
  attach(4);
  Budget budget(100, BudgetUnit::kFactor);
  Reward reward(graph_, space_);
  RewardQueue rewards(graph_, space_, budget, AnswerOrder::kArrival);
  EXPECT_FALSE(rewards.submit({1, 0, 4}, std::vector<int>{-1, 2}).has_value());
  EXPECT_TRUE(rewards.has_room());  // three programs are asked
  const std::vector<RewardAnswer> answers = rewards.wait();
  ASSERT_EQ(answers.size(), 1U);
  Budget other(100, BudgetUnit::kFactor);
  for (int a = 0; a < 4; ++a) EXPECT_EQ(answers[0].rewards.at(a), reward.evaluate(1, std::vector<int>{a, 2}, other));
  EXPECT_EQ(budget.spent().factor_evaluations, other.spent().factor_evaluations);
  EXPECT_EQ(budget.spent().reward_evaluations, 4);
}

TEST_F(RewardQueues, TheOrderOfSubmissionIsKeptAndRoomDoesNotDependOnArrivals) {
  attach(2);
  Budget budget(100, BudgetUnit::kReward);
  RewardQueue rewards(graph_, space_, budget, AnswerOrder::kSubmission);
  for (const int a : {2, 3}) EXPECT_FALSE(rewards.submit({1, a, 1}, std::vector<int>{-1, 0}).has_value());
  EXPECT_FALSE(rewards.has_room());
  const std::vector<RewardAnswer> first = rewards.wait();  // the second is known before it
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].id, 0);
  EXPECT_TRUE(rewards.has_room());
  EXPECT_EQ(rewards.wait().at(0).id, 1);
  EXPECT_EQ(rewards.num_pending(), 0);
}

TEST_F(RewardQueues, ThereIsRoomForTheBatchesOfAllWorkers) {
  for (const AnswerOrder order : {AnswerOrder::kArrival, AnswerOrder::kSubmission}) {
    const auto queue = attach(1);
    queue->batch_ = 4;
    Budget budget(100, BudgetUnit::kReward);
    RewardQueue rewards(graph_, space_, budget, order);
    int num_submitted = 0;
    for (; rewards.has_room(); ++num_submitted) rewards.submit({1, 2 + num_submitted % 2, 1}, std::vector<int>{-1, 0});
    EXPECT_EQ(num_submitted, 4);
    EXPECT_EQ(queue->num_pending(), 4);
    while (rewards.num_pending() > 0) rewards.wait();
  }
}

TEST_F(RewardQueues, AWaitCanEndWhenThereIsRoom) {
  const auto queue = attach(2);
  Budget budget(100, BudgetUnit::kReward);
  RewardQueue rewards(graph_, space_, budget, AnswerOrder::kArrival);
  EXPECT_FALSE(rewards.submit({1, 0, 4}, std::vector<int>{-1, 0}).has_value());
  EXPECT_FALSE(rewards.has_room());  // three programs are asked
  EXPECT_TRUE(rewards.wait(/*or_room=*/true).empty());
  EXPECT_TRUE(rewards.has_room());
  EXPECT_EQ(rewards.num_pending(), 1);
  EXPECT_EQ(rewards.wait().size(), 1U);
}

TEST_F(RewardQueues, WhatIsUnderWayCannotBeSpentAgain) {
  attach(10);
  for (const auto& [unit, limit] :
       {std::pair{BudgetUnit::kReward, 3}, {BudgetUnit::kFactor, 12}, {BudgetUnit::kCost, 30}}) {
    Budget budget(limit, unit);
    RewardQueue rewards(graph_, space_, budget, AnswerOrder::kArrival);
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(rewards.can_pay({1, 0, 1}));
      rewards.submit({1, 1 + i, 1}, std::vector<int>{-1, 0});
    }
    EXPECT_FALSE(rewards.can_pay({1, 0, 1}));
    while (rewards.num_pending() > 0) rewards.wait();
    // One of the three was impossible for the price of a cheap function.
    EXPECT_EQ(rewards.can_pay({1, 0, 1}), unit == BudgetUnit::kCost);
    EXPECT_LE(budget.spent().in(unit), limit + 1.0);  // two evaluations of half a second were not declared
  }
}

TEST_F(RewardQueues, AFailureIsHandedOutAndNotCharged) {
  graph_.add_factor(Factor::function({0, 1}, [](std::span<const int> s) { return s[0] == 3 ? std::nan("") : 0.0; }));
  space_ = make_search_space(graph_, std::vector<int>{1, 0}, SpaceKind::kTree);
  attach(3);
  Budget budget(100, BudgetUnit::kReward);
  RewardQueue rewards(graph_, space_, budget, AnswerOrder::kArrival);
  for (const int a : {2, 3}) rewards.submit({1, a, 1}, std::vector<int>{-1, 0});
  std::set<std::int64_t> failed;
  while (rewards.num_pending() > 0) {
    for (const RewardAnswer& answer : rewards.wait()) {
      if (answer.error) failed.insert(answer.id);
    }
  }
  EXPECT_EQ(failed, (std::set<std::int64_t>{1}));
  EXPECT_EQ(budget.spent().reward_evaluations, 1);
  Reward reward(graph_, space_);
  EXPECT_FALSE(reward.try_evaluate(1, std::vector<int>{3, 0}, budget).has_value());
  EXPECT_EQ(reward.failure()->code(), ErrorCode::kNumeric);
  EXPECT_TRUE(reward.try_evaluate(1, std::vector<int>{2, 0}, budget).has_value());
  EXPECT_FALSE(reward.failure().has_value());
}

TEST_F(RewardQueues, EvidenceAsksTheQueueOfTheWholeModel) {
  const auto queue = attach(2);
  const ReducedModel rest = condition(graph_, {{1, 2}});
  const SearchSpace space = make_search_space(rest.graph, std::vector<int>{0}, SpaceKind::kTree);
  queue->asked_.clear();
  Budget budget(100, BudgetUnit::kReward);
  RewardQueue rewards(rest.graph, space, budget, AnswerOrder::kArrival);
  EXPECT_FALSE(rewards.submit({0, 3, 1}, std::vector<int>{-1}).has_value());
  EXPECT_NEAR(rewards.wait().at(0).rewards.at(0), graph_.log_density(std::vector<int>{3, 2}), 1e-12);
  EXPECT_EQ(queue->asked_, (std::vector<int>{1, 0, 3}));
}

TEST_F(RewardQueues, FunctionsOutsideOfTheQueueAreCalled) {
  Budget budget(100, BudgetUnit::kReward);
  RewardQueue rewards(graph_, space_, budget, AnswerOrder::kArrival);
  const std::vector<int> x = {2, 1};
  const auto answer = rewards.submit({1, 2, 1}, x);
  ASSERT_TRUE(answer.has_value());
  EXPECT_NEAR(answer->rewards.at(0), graph_.log_density(x), 1e-12);
  EXPECT_GE(budget.spent().cost_seconds, 9.0);
}

}  // namespace
}  // namespace treesample
