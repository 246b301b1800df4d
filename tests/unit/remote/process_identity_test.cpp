#include "remote/process_identity.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace treesample {
namespace {

TEST(ProcessIdentity, TextGivesItBack) {
  const ProcessIdentity own = ProcessIdentity::own();
  EXPECT_EQ(own.pid, getpid());
  const std::optional<ProcessIdentity> back = ProcessIdentity::parse(own.text());
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->name(), own.name());
  EXPECT_EQ(back->text(), own.text());
  for (const char* text : {"", "host", "host x", "host -3", "host 0"}) {
    EXPECT_FALSE(ProcessIdentity::parse(text).has_value()) << text;
  }
  EXPECT_EQ(ProcessIdentity::parse("a\033[31mb 7")->name(), "a?[31mb:7");
}

// Only a process that was of this machine and has gone is dead for sure.
TEST(ProcessIdentity, KnowsWhoIsSurelyDead) {
  const ProcessIdentity own = ProcessIdentity::own();
  if (own.machine.empty()) GTEST_SKIP() << "the machine cannot be told apart from others";
  EXPECT_FALSE(own.is_surely_dead());
  ProcessIdentity elsewhere = own;
  elsewhere.machine = "another";
  elsewhere.pid = 1 << 22;
  EXPECT_FALSE(elsewhere.is_surely_dead());
  ProcessIdentity reused = own;
  reused.start += "1";
  EXPECT_TRUE(reused.is_surely_dead());
  const pid_t child = fork();
  if (child == 0) _exit(0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  ProcessIdentity gone = own;
  gone.pid = child;
  EXPECT_TRUE(gone.is_surely_dead());
  ProcessIdentity unknown = own;
  unknown.start.clear();
  unknown.pid = child;
  EXPECT_FALSE(unknown.is_surely_dead());
}

}  // namespace
}  // namespace treesample
