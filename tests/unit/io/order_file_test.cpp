#include "treesample/io/order_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "support/expect_error.hpp"
#include "treesample/io/file.hpp"

namespace treesample {
namespace {

class OrderFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::temp_directory_path() / ("treesample_order_" + std::to_string(::getpid()));
    for (const char* const name : {"rain", "", "slice x", "a, b", "7", ""}) graph_.add_variable({2, name});
  }
  void TearDown() override { std::filesystem::remove(path_); }

  OrderFile read(const std::string& text) const {
    write_file_atomically(path_, text);
    return read_order(path_, graph_);
  }
  void expect_refused(const std::string& text, const std::string& part) const {
    testing::expect_error(ErrorCode::kParse, part, [&] { read(text); });
    testing::expect_error(ErrorCode::kParse, path_.filename().string(), [&] { read(text); });
  }

  std::filesystem::path path_;
  FactorGraph graph_;
};

TEST_F(OrderFileTest, WhatIsWrittenIsRead) {
  const OrderFile order{{3, 1, 0, 5, 2, 4}, {2, 0}};
  const std::string text = order_text(order, graph_, {"a remark"});
  EXPECT_EQ(text, "# a remark\nslice \"slice x\"\nslice rain\n\"a, b\"\nx1\nrain\nx5\n\"slice x\"\n7\n");
  const OrderFile found = read(text);
  EXPECT_EQ(found.order, order.order);
  EXPECT_EQ(found.slice_variables, order.slice_variables);
}

TEST_F(OrderFileTest, NumbersAreVariablesUnlessTheyAreNames) {
  const OrderFile found = read("\n  3\r\n1\n0\n# 2\n2\n5\n7");
  EXPECT_EQ(found.order, (std::vector<int>{3, 1, 0, 2, 5, 4}));
  EXPECT_TRUE(found.slice_variables.empty());
}

TEST_F(OrderFileTest, MistakesAreNamed) {
  expect_refused("rain\nfog\n",
                 "line 2: 'fog' is no variable of the model; allowed are names, and numbers from 0 to 5");
  expect_refused("rain\n\nrain\n", "line 3: variable 'rain' is in line 1 already");
  expect_refused("0\n1\n2\n3\n5\n", "variable '7' is missing");
  expect_refused("slice rain\nslice 0\n", "line 2: the model is cut twice at 'rain'");
  expect_refused("rain, x1\n", "line 1: there are several names");
  expect_refused("\"rain\n", "line 1");
  expect_refused("6\n", "'6' is no variable");
  expect_refused("-1\n", "'-1' is no variable");
}

}  // namespace
}  // namespace treesample
