// The contenders of `reproduce gflownet` on its smallest tasks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "experiments/gflownet/contenders.hpp"

namespace treesample::experiments {
namespace {

const FlowTask& task_of(const std::string& word) {
  return *std::find_if(flow_tasks().begin(), flow_tasks().end(), [&](const FlowTask& t) { return t.word == word; });
}

Numbers run(const FlowContender& contender, const std::string& task, const std::vector<std::int64_t>& budgets) {
  Numbers numbers;
  EXPECT_TRUE(contender.run(
      contender, task_of(task), 3, budgets, [] { return false; }, numbers));
  return numbers;
}

const FlowContender& contender_of(const std::string& word) {
  return *std::find_if(flow_contenders().begin(), flow_contenders().end(),
                       [&](const FlowContender& c) { return c.word == word; });
}

TEST(Gflownet, TasksHaveAsManyObjectsAsTheySay) {
  for (const char* const word :
       {"hypergrid-8", "dag-5", "chain-6", "permuted-chain-6", "factor-graphs-1-6", "factor-graphs-2-6", "ising-4"}) {
    const FlowTask& task = task_of(word);
    const auto program = task.make(1);
    const FlowTruth truth(program->states());
    EXPECT_EQ(static_cast<double>(truth.ends().size()), task.size) << word;
    for (const double log_reward : truth.log_rewards()) ASSERT_LE(log_reward, task.log_largest) << word;
    const StateId some = truth.ends()[truth.ends().size() / 3];
    EXPECT_EQ(truth.find(program->states().encode(some)), some) << word;
  }
}

TEST(Gflownet, TheHypergridOfSearchesHasTheSameObjects) {
  const FlowTask& task = task_of("hypergrid-8");
  const FlowTruth walks(task.make(1)->states()), words(task.make_tree(1)->states());
  EXPECT_EQ(walks.ends().size(), words.ends().size());
  EXPECT_NEAR(walks.log_z(), words.log_z(), 1e-12);
}

TEST(Gflownet, TheTruthIsJudgedToBeExact) {
  const auto program = task_of("factor-graphs-2-6").make(1);
  const FlowTruth truth(program->states());
  const Judged exact = judge(truth, truth.log_rewards(), truth.log_z());
  EXPECT_NEAR(exact.total_variation, 0.0, 1e-12);
  EXPECT_NEAR(exact.kl, 0.0, 1e-12);
  EXPECT_EQ(exact.log_z_error, 0.0);
  // One object alone: what is missing is all the others.
  std::vector<double> one(truth.ends().size(), -HUGE_VAL);
  one[5] = 2.0;
  const double share = std::exp(truth.log_rewards()[5] - truth.log_z());
  const Judged judged = judge(truth, one, 2.0);
  EXPECT_NEAR(judged.total_variation, 1.0 - share, 1e-12);
  EXPECT_NEAR(judged.kl, -std::log(share), 1e-12);
}

// Samples of a distribution p over two objects against the target q.
TEST(Gflownet, SamplesAreJudgedByTheirRatios) {
  const double p = 0.75, q = 0.5;
  std::vector<std::pair<double, double>> samples(4, {std::log(p), std::log(q) + 3.0});
  samples[3] = {std::log(1.0 - p), std::log(1.0 - q) + 3.0};
  const Judged judged = judge_samples(samples, 3.0, 3.5);
  EXPECT_NEAR(judged.total_variation, p - q, 1e-12);
  EXPECT_NEAR(judged.kl, p * std::log(p / q) + (1.0 - p) * std::log((1.0 - p) / (1.0 - q)), 1e-12);
  EXPECT_NEAR(judged.log_z_error, 0.5, 1e-12);
}

TEST(Gflownet, WhoRemembersAllObjectsIsExact) {
  for (const char* const word : {"black-box", "tree", "uniform", "metropolis"}) {
    const Numbers numbers = run(contender_of(word), "factor-graphs-2-6", {20, 64});
    const std::string name = word;
    EXPECT_EQ(numbers.at(name + ".20.calls"), 20.0) << word;
    EXPECT_GT(numbers.at(name + ".20.log_z_error"), 1e-6) << word << ": 20 of 64 objects are not all";
    EXPECT_EQ(numbers.at(name + ".64.calls"), 64.0) << word;
    EXPECT_LT(numbers.at(name + ".64.tv"), 1e-9) << word;
    EXPECT_LT(numbers.at(name + ".64.kl"), 1e-9) << word;
    EXPECT_LT(numbers.at(name + ".64.log_z_error"), 1e-9) << word;
  }
}

TEST(Gflownet, NetworksAreNearAndWithMemoryNearer) {
  for (const char* const word : {"tb", "subtb", "dqn"}) {
    const Numbers numbers = run(contender_of(word), "factor-graphs-2-6", {20, 64});
    const std::string name = word;
    EXPECT_LE(numbers.at(name + ".64.calls"), 64.0) << word;
    EXPECT_LT(numbers.at(name + ".64.tv"), 0.1) << word;
    EXPECT_LT(numbers.at(name + ".memory.64.tv"), 0.02) << word;
    EXPECT_GT(numbers.at(name + ".20.tv"), numbers.at(name + ".64.tv")) << word;
  }
}

TEST(Gflownet, BoundsOfTheSearchHold) {
  const Numbers numbers = run(contender_of("search"), "hypergrid-8", {100, 1'000, 4'096});
  for (const char* const budget : {"100", "1000", "4096"})
    EXPECT_EQ(numbers.at("search." + std::string(budget) + ".holds"), 1.0);
  EXPECT_LT(numbers.at("search.4096.gap"), 1e-6);
  EXPECT_GT(numbers.at("search.100.gap"), 0.1);
  EXPECT_LT(numbers.at("search.4096.tv"), 1e-9);
}

TEST(Gflownet, TasksThatCannotBeListedAreJudgedBySamples) {
  const Numbers numbers = run(contender_of("metropolis"), "ising-10", {50});
  EXPECT_EQ(numbers.at("metropolis.50.calls"), 50.0);
  EXPECT_GT(numbers.at("metropolis.50.kl"), 1.0);
  const Numbers learned = run(contender_of("black-box"), "ising-10", {50});
  EXPECT_EQ(learned.at("black-box.50.calls"), 50.0);
  EXPECT_GT(learned.at("black-box.50.kl"), 1.0);
  EXPECT_FALSE(contender_of("uniform").takes(task_of("ising-10")));
  EXPECT_FALSE(contender_of("search").takes(task_of("chain-6")));
}

}  // namespace
}  // namespace treesample::experiments
