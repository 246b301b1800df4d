// A value function in a program: the same answer as the same function in C++, and a clear line for what goes wrong.
#include "treesample/oracle/program_value.hpp"

#include <gtest/gtest.h>

#include "support/oracle_programs.hpp"
#include "treesample/infer/infer.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

using testing::message_of;

class ProgramValue : public testing::OracleFolder {
 protected:
  static FactorGraph small_graph() {
    FactorGraph graph;
    graph.add_variable({2, "pump", {"ok", "failed"}});
    graph.add_variable(3);
    graph.add_variable(2);
    graph.add_table({0, 1}, {0.0, -1.0, 0.5, -0.3, 2.0, kNegInf});
    graph.add_table({1, 2}, {0.1, 0.7, -2.0, 1.0, 0.0, 0.3});
    return graph;
  }

  // Some numbers that depend on everything that is told.
  static void rule(int variable, std::span<const int> prefixes, int count, std::span<double> q) {
    constexpr int kStates[] = {2, 3, 2};
    std::size_t next = 0;
    for (int r = 0; r < count; ++r) {
      const std::span<const int> prefix = prefixes.subspan(static_cast<std::size_t>(r) * 3, 3);
      for (int a = 0; a < kStates[variable]; ++a) {
        q[next++] = variable + 0.5 * a + 0.25 * prefix[0] - 0.125 * prefix[1] + 0.0625 * prefix[2];
      }
    }
  }
  static constexpr const char* kRule = R"(
names = {"pump": 0, "x1": 1, "x2": 2}
def leaf(variable, prefixes):
    v = names[variable]
    return [[v + 0.5 * a + 0.25 * p[0] - 0.125 * p[1] + 0.0625 * p[2] for a in range([2, 3, 2][v])] for p in prefixes]
)";

  [[nodiscard]] std::string file(const std::string& name, const std::string& text) const {
    write_file_atomically(in_folder(name), text);
    std::filesystem::permissions(in_folder(name), std::filesystem::perms::owner_all);
    return in_folder(name);
  }
  [[nodiscard]] std::string failure(const std::string& name, const std::string& text) const {
    return message_of(ErrorCode::kIo, [&] { static_cast<void>(asked(program_value(file(name, text), model_.graph))); });
  }
  static std::vector<double> asked(const ValueFunction& function) {
    std::vector<double> q(6);
    function(1, std::vector<int>{0, -1, -1, 1, -1, 0}, 2, q);
    return q;
  }

  Model model_{small_graph()};
};

TEST_F(ProgramValue, SaysWhatThePythonFunctionSays) {
  std::vector<double> expected(6);
  rule(1, std::vector<int>{0, -1, -1, 1, -1, 0}, 2, expected);
  EXPECT_EQ(asked(program_value(file("mine.py", kRule), model_.graph)), expected);
}

TEST_F(ProgramValue, MakesTheSameAnswerAsTheSameFunctionInTheLibrary) {
  for (const SpaceKind space : {SpaceKind::kTree, SpaceKind::kGraph}) {
    InferOptions options{.method = Method::kSearch, .space = space, .order = OrderKind::kGiven};
    const Limits limits{.budget = 3};
    options.value_function = rule;
    const Answer own = infer(model_, {}, limits, options);
    options.value_function = {};
    options.leaf = LeafChoice{.kind = LeafKind::kProgram, .path = file("mine.py", kRule)};
    const Answer other = infer(model_, {}, limits, options);
    EXPECT_EQ(own.log_z, other.log_z);
    EXPECT_EQ(own.marginals, other.marginals);
    options.leaf = LeafChoice{LeafKind::kUniform};
    EXPECT_NE(own.log_z, infer(model_, {}, limits, options).log_z);
  }
}

TEST_F(ProgramValue, AProgramInAnyLanguageSpeaksTheProtocol) {
  const std::string program = file("mine.sh", R"(#!/bin/sh
read hello
echo '{"ready": true}'
read question
echo '{"id": 0, "log_values": [1, 2, 3, 4, 5, "-inf"]}'
)");
  EXPECT_EQ(asked(program_value(program, model_.graph)), (std::vector<double>{1, 2, 3, 4, 5, kNegInf}));
}

TEST_F(ProgramValue, WhatGoesWrongIsNamed) {
  EXPECT_NE(failure("a.py", "leaf = 3").find("no function 'leaf'"), std::string::npos);
  EXPECT_NE(failure("b.py", "def leaf(v, p):\n    return [[1, 2]]").find("must return 2 rows of 3 numbers"),
            std::string::npos);
  const std::string raised = failure("c.py", "def leaf(v, p):\n    return 1 / 0");
  EXPECT_NE(raised.find("ZeroDivisionError"), std::string::npos) << raised;
  EXPECT_NE(raised.find("c.py, line 2)"), std::string::npos) << raised;
  EXPECT_NE(failure("d.sh", "#!/bin/sh\nexit 3\n").find("exited with status 3"), std::string::npos);
  EXPECT_NE(failure("e.sh", "#!/bin/sh\necho none\nread a\n").find("none"), std::string::npos);
  EXPECT_NE(message_of(ErrorCode::kIo, [&] { static_cast<void>(program_value(in_folder("nowhere.py"), model_.graph)); })
                .find("there is no such file"),
            std::string::npos);
}

TEST_F(ProgramValue, ThatHangsIsLeftWhenTheRunIsAskedToEnd) {
  const std::string program = file("hangs.py", "import time\ndef leaf(v, p):\n    time.sleep(3600)\n");
  InferOptions options{.method = Method::kSearch};
  options.leaf = LeafChoice{.kind = LeafKind::kProgram, .path = program};
  int asked = 0;
  const Answer answer = infer(model_, {}, {}, options, {.should_stop = [&] { return ++asked > 5; }});
  EXPECT_EQ(answer.stop, StopReason::kInterrupted);
}

}  // namespace
}  // namespace treesample
