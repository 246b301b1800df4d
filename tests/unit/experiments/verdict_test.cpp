#include "experiments/verdict.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace treesample::experiments {
namespace {

TEST(Verdict, NamesTheBestAndTheNext) {
  EXPECT_EQ(verdict({{"ours", {{0.10, 0.11, 0.12}}}, {"chain", {{0.4, 0.5, 0.6}}}, {"random", {{0.9, 0.9}}}}, {300},
                    "calls", "total variation"),
            "Take ours: with 300 calls its total variation is 0.11 +- 0.006, that of chain, the next, 0.5 +- 0.06.");
}

TEST(Verdict, SaysWhatTheRunsDoNotTellApart) {
  EXPECT_EQ(verdict({{"ours", {{0.1, 0.3}}}, {"chain", {{0.2, 0.3}}}, {"random", {{0.9, 0.9}}}}, {300}, "calls", "KL"),
            "With 300 calls these runs do not tell ours, chain apart (KL 0.2 +- 0.1); any of them will do.");
}

TEST(Verdict, SaysWhereAnotherOneIsBetter) {
  const std::string text =
      verdict({{"ours", {{0.5}, {0.1}, {0.0}}}, {"chain", {{0.3}, {0.2}, {0.1}}}}, {100, 300, 1000}, "calls", "KL");
  EXPECT_EQ(text, "Take ours: with 1000 calls its KL is 0, that of chain, the next, 0.1. With 100 calls: chain.");
}

TEST(Verdict, IsSilentWithoutNumbers) {
  EXPECT_EQ(verdict({{"ours", {{}}}, {"chain", {{HUGE_VAL}}}}, {300}, "calls", "KL"), "");
  EXPECT_EQ(verdict({{"ours", {{0.25}}}}, {10}, "calls", "KL"), "Take ours: with 10 calls its KL is 0.25.");
}

}  // namespace
}  // namespace treesample::experiments
