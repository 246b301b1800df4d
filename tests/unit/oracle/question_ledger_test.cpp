#include "oracle/question_ledger.hpp"

#include <gtest/gtest.h>

namespace treesample {
namespace {

using Arrival = QuestionLedger::Arrival;

QuestionLedger ledger(std::size_t max_batch, int num_workers) {
  return {[max_batch](int) { return max_batch; }, num_workers};
}

std::vector<std::size_t> sizes(const std::vector<std::vector<Job>>& batches) {
  std::vector<std::size_t> sizes;
  for (const std::vector<Job>& batch : batches) sizes.push_back(batch.size());
  return sizes;
}

TEST(QuestionLedger, PartsOfBatchesAreHeldBackUntilSomebodyWaits) {
  QuestionLedger books = ledger(4, 2);
  for (int i = 0; i < 3; ++i) books.push({0, {i}});
  EXPECT_FALSE(books.has_batch(false));
  EXPECT_TRUE(books.next_batches(false).empty());
  for (int i = 3; i < 9; ++i) books.push({0, {i}});
  EXPECT_TRUE(books.has_batch(false));
  EXPECT_EQ(sizes(books.next_batches(false)), (std::vector<std::size_t>{4, 4}));
  for (int i = 9; i < 12; ++i) books.push({1, {i}});
  EXPECT_TRUE(books.has_batch(true));
  EXPECT_EQ(sizes(books.next_batches(true)), (std::vector<std::size_t>{1, 2, 1})) << "shared by two workers";
  EXPECT_FALSE(books.has_batch(true));
  EXPECT_EQ(books.num_open(), 12U);
  EXPECT_EQ(books.num_batches(), 5U);
}

TEST(QuestionLedger, EveryQuestionCountsOnce) {
  QuestionLedger books = ledger(1, 1);
  books.push({0, {1, 2}});
  EXPECT_EQ(books.arrive({0, {1, 3}}), Arrival::kUnasked);
  EXPECT_EQ(books.arrive({0, {1, 3}}), Arrival::kTwice);
  EXPECT_EQ(books.arrive({1, {1, 2}}), Arrival::kUnasked) << "another factor";
  EXPECT_EQ(books.arrive({0, {1, 2}}), Arrival::kAnswer) << "also before it was sent";
  EXPECT_EQ(books.arrive({0, {1, 2}}), Arrival::kTwice);
  EXPECT_EQ(books.num_open(), 0U);
  EXPECT_TRUE(books.next_batches(true).empty()) << "what was answered is not sent";
  books.push({0, {1, 2}});  // it had failed, and is tried again
  EXPECT_EQ(books.arrive({0, {1, 2}}), Arrival::kAnswer);
}

TEST(QuestionLedger, WhatHasNoAnswerIsAskedAgainInOrder) {
  QuestionLedger books = ledger(1, 1);
  for (int i = 0; i < 5; ++i) books.push({0, {i}});
  EXPECT_EQ(books.next_batches(false).size(), 5U);
  books.arrive({0, {2}});
  EXPECT_EQ(books.num_batches(), 4U);
  books.ask_all_again();
  EXPECT_EQ(books.num_batches(), 0U);
  const std::vector<std::vector<Job>> again = books.next_batches(false);
  ASSERT_EQ(again.size(), 4U);
  EXPECT_EQ(again[0][0].states, std::vector<int>{0});
  EXPECT_EQ(again[2][0].states, std::vector<int>{3});
  EXPECT_EQ(books.num_batches(), 4U);
}

}  // namespace
}  // namespace treesample
