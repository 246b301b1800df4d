// Checks the messages about wrong input.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "treesample/error.hpp"

namespace treesample::testing {

// The message of the Error that `action` throws. The test fails if there is none or its code differs.
template <class Action>
std::string message_of(ErrorCode code, const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return "";
}

// Expects such an error, with this text in its message.
template <class Action>
void expect_error(ErrorCode code, const Action& action) {
  message_of(code, action);
}
template <class Action>
void expect_error(ErrorCode code, const std::string& part, const Action& action) {
  const std::string message = message_of(code, action);
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

// A folder of its own for each test, removed at the end.
class TemporaryFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(::testing::TempDir()) /
              (std::string(info->test_suite_name()) + "." + info->name() + std::to_string(getpid()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::filesystem::path in_folder(const std::string& name) const { return folder_ / name; }
  [[nodiscard]] int num_files() const {
    return static_cast<int>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

  std::filesystem::path folder_;
};

}  // namespace treesample::testing
