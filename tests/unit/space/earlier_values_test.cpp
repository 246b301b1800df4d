// What a run is told before it asks, and what a run that is taken up is told again.
#include "space/earlier_values.hpp"

#include <gtest/gtest.h>

#include <map>

#include "support/expect_error.hpp"
#include "treesample/oracle/oracle_set.hpp"
#include "treesample/reduce/evidence.hpp"

namespace treesample {
namespace {

constexpr const char* kRun = "a run";

class EarlierValuesOf : public testing::TemporaryFolder, public ::testing::WithParamInterface<bool> {
 protected:
  EarlierValuesOf() {
    graph_.add_variable(4);
    graph_.add_variable(5);
    graph_.add_table({1}, {0.0, 0.0, 0.0, 0.0, 0.0});
    graph_.add_factor(Factor::function({1, 0}, [](std::span<const int> s) { return -1.0 * s[0] - 10.0 * s[1]; }));
  }
  // With a journal each set is another process; without one, all are the same set.
  OracleSet& oracles() {
    if (!GetParam() && oracles_) return *oracles_;
    oracles_.reset();
    const OracleOptions options{.journal = GetParam() ? in_folder("run.journal") : std::filesystem::path()};
    oracles_ = std::make_unique<OracleSet>(graph_, "1", options);
    return *oracles_;
  }
  // Asks as a search does; the numbers of what was due.
  static std::vector<std::int64_t> ask(const FactorGraph& graph, EarlierValues& earlier, std::int64_t num_asked,
                                       const Assignment& x) {
    std::vector<std::int64_t> due;
    for (const KnownValue& value : earlier.due(num_asked)) due.push_back(value.number);
    earlier.note_asked(x);
    const std::pair<int, double> value{1, graph.log_value(1, x)};
    earlier.note_answered(x, {&value, 1});
    return due;
  }
  static std::vector<std::vector<std::int64_t>> ask_all(const FactorGraph& graph, const std::vector<Assignment>& all) {
    EarlierValues earlier(graph, kRun);
    std::vector<std::vector<std::int64_t>> due;
    for (const Assignment& x : all) due.push_back(ask(graph, earlier, std::ssize(due), x));
    return due;
  }

  FactorGraph graph_;
  std::unique_ptr<OracleSet> oracles_;
};

using Due = std::vector<std::vector<std::int64_t>>;

TEST_P(EarlierValuesOf, ANewRunIsToldAllThatIsKnown) {
  const FactorGraph& graph = oracles().graph();
  static_cast<void>(graph.log_value(1, std::vector<int>{3, 1}));
  static_cast<void>(graph.log_value(1, std::vector<int>{0, 4}));
  EarlierValues earlier(graph, kRun);
  const std::vector<KnownValue> due = earlier.due(0);
  ASSERT_EQ(due.size(), 2U);
  EXPECT_EQ(due[0].factor, 1);
  EXPECT_EQ(due[0].states, (std::vector<int>{1, 3}));
  EXPECT_EQ(due[0].log_value, -31.0);
  EXPECT_FALSE(due[0].is_missing);
  EXPECT_EQ(due[1].log_value, -4.0);
  EXPECT_TRUE(earlier.due(0).empty());
  EXPECT_TRUE(earlier.due(1).empty());
  EXPECT_EQ(earlier.num_due_so_far(), 2);
}

TEST_P(EarlierValuesOf, ARunThatIsTakenUpIsToldTheSameAtTheSamePoints) {
  const std::vector<Assignment> asked = {{0, 0}, {1, 1}, {2, 2}, {3, 3}};
  static_cast<void>(oracles().graph().log_value(1, std::vector<int>{3, 1}));  // of another method, number 1
  // Killed after two of four: what it has paid for itself is answered again, and never told.
  EXPECT_EQ(ask_all(oracles().graph(), {asked[0], asked[1]}), (Due{{1}, {}}));
  EXPECT_EQ(ask_all(oracles().graph(), asked), (Due{{1}, {}, {}, {}}));
  EXPECT_EQ(ask_all(oracles().graph(), asked), (Due{{1}, {}, {}, {}}));
  // Somebody else adds a value, number 6: it is told after the first value that is new to the run, and so again later.
  static_cast<void>(oracles().graph().log_value(1, std::vector<int>{0, 4}));
  std::vector<Assignment> more = asked;
  for (const Assignment& x : {Assignment{0, 1}, Assignment{0, 2}, Assignment{0, 3}}) more.push_back(x);
  EXPECT_EQ(ask_all(oracles().graph(), more), (Due{{1}, {}, {}, {}, {}, {6}, {}}));
  EXPECT_EQ(ask_all(oracles().graph(), more), (Due{{1}, {}, {}, {}, {}, {6}, {}}));
  // Another run is told everything at once.
  EarlierValues other(oracles().graph(), "another run");
  EXPECT_EQ(other.due(0).size(), 9U);
}

TEST_P(EarlierValuesOf, EvidenceLeavesOutWhatContradictsIt) {
  const FactorGraph& graph = oracles().graph();
  static_cast<void>(graph.log_value(1, std::vector<int>{3, 1}));
  static_cast<void>(graph.log_value(1, std::vector<int>{2, 4}));
  const ReducedModel reduced = condition(graph, {{0, 2}});
  EarlierValues earlier(reduced.graph, kRun);
  const std::vector<KnownValue> due = earlier.due(0);
  ASSERT_EQ(due.size(), 1U);
  EXPECT_EQ(due[0].states, (std::vector<int>{4}));
  EXPECT_EQ(due[0].log_value, -24.0);
  EXPECT_EQ(graph.evaluation_queue()->lessons(kRun).size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutAJournal, EarlierValuesOf, ::testing::Bool());

TEST(EarlierValues, AGraphWithoutAQueueKnowsNothing) {
  FactorGraph graph;
  graph.add_variable(2);
  graph.add_factor(Factor::function({0}, [](std::span<const int>) { return 0.0; }));
  EarlierValues earlier(graph, kRun);
  EXPECT_TRUE(earlier.due(0).empty());
}

class FailedBefore : public testing::TemporaryFolder {
 protected:
  [[nodiscard]] std::vector<KnownValue> known(const FailureRule& rule) const {
    FactorGraph graph;
    graph.add_variable(3);
    graph.add_factor(Factor::function({0}, [](std::span<const int> s) {
      if (s[0] == 1) throw Error(ErrorCode::kNumeric, "diverged");
      return -1.0 * s[0];
    }));
    OracleSet oracles(graph, "1", {.journal = in_folder("run.journal"), .on_failure = {{0, rule}}});
    for (int s = 0; s < 3; ++s) {
      try {
        static_cast<void>(oracles.graph().log_value(0, std::vector<int>{s}));
      } catch (const Error&) {
        EXPECT_EQ(rule.kind, FailureRule::Kind::kStop);
      }
    }
    return oracles.known_values();
  }
};

TEST_F(FailedBefore, CountsAsItsRuleSays) {
  ASSERT_EQ(known({FailureRule::Kind::kValue, -7.5}).size(), 3U);
  const std::vector<KnownValue> values = known({FailureRule::Kind::kValue, -7.5});
  EXPECT_EQ(values[1].log_value, -7.5);
  EXPECT_FALSE(values[1].is_missing);
  EXPECT_EQ(values[1].number, 2);
  EXPECT_EQ(known({FailureRule::Kind::kSkip})[1].log_value, -HUGE_VAL);
  EXPECT_TRUE(known({FailureRule::Kind::kSkip})[1].is_missing);
  EXPECT_FALSE(known({FailureRule::Kind::kImpossible})[1].is_missing);
  EXPECT_EQ(known({FailureRule::Kind::kStop}).size(), 2U);
}

}  // namespace
}  // namespace treesample
