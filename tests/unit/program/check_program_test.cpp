// Programs that are wrong, and what is said about them.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "support/sets_program.hpp"
#include "treesample/error.hpp"
#include "treesample/program/infer_program.hpp"

namespace treesample {
namespace {

// What a faulty program does.
enum class Fault { kCycle, kSelf, kEndless, kNan, kInf, kActionNan, kTwoSums, kUpper, kLogPaths, kChanges, kMerge };
template <Fault kFault>
struct Faulty {
  using State = int;
  static constexpr ProgramObjects objects = kFault == Fault::kLogPaths ? ProgramObjects::kPaths : ProgramObjects::kEnds;
  State start() const { return 0; }
  bool is_end(State s) const { return s >= 100 && kFault != Fault::kEndless; }
  void actions(State s, auto&& emit) const {
    if (kFault == Fault::kEndless) return emit(0, s + 1);
    if (kFault == Fault::kChanges) return emit(calls_++ % 2, 100);
    if (s == 0) emit(0, 1);
    if (s == 0) emit(1, 2, kFault == Fault::kActionNan ? std::nan("") : 0.0);
    if (s == 1) emit(2, 100);
    if (s == 2) emit(3, 100, kFault == Fault::kTwoSums ? 0.5 : 0.0);
    if (s == 2 && kFault == Fault::kMerge) emit(4, 101);
    if (s == 2 && kFault == Fault::kCycle) emit(4, 0);
    if (s == 2 && kFault == Fault::kSelf) emit(4, 2);
  }
  State merge(State s) const { return kFault == Fault::kMerge && s == 101 ? 100 : s; }
  double reward(State s) const {
    if (kFault == Fault::kNan) return std::nan("");
    if (kFault == Fault::kInf) return HUGE_VAL;
    return s == 101 ? 2.0 : 1.0;
  }
  double upper(State) const { return kFault == Fault::kUpper ? 0.5 : 10.0; }
  double log_paths(State) const { return kFault == Fault::kLogPaths ? std::log(3.0) : 0.0; }
  mutable int calls_ = 0;
};

template <Fault kFault>
std::string message_of(ProgramMethod method = ProgramMethod::kAuto) {
  HashedProgram<Faulty<kFault>> program;
  try {
    infer_program(program, {.method = method, .max_steps = 1000});
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}
template <Fault kFault>
std::string check_message_of() {
  HashedProgram<Faulty<kFault>> program;
  try {
    check_program(program, 1000, 10);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(InferProgram, FaultsAreShownWithThePathThatLeadsThere) {
  for (const ProgramMethod method : {ProgramMethod::kAuto, ProgramMethod::kSearch}) {
    EXPECT_TRUE(
        has(message_of<Fault::kCycle>(method), "a cycle: action 4 leads from 2 back to 0; the path there: 0 -1-> 2"))
        << message_of<Fault::kCycle>(method);
    EXPECT_TRUE(has(message_of<Fault::kSelf>(method), "a cycle: action 4 leads from 2 back to 2"));
    EXPECT_TRUE(has(message_of<Fault::kNan>(method), "the log reward of an end is nan")) << message_of<Fault::kNan>();
    EXPECT_TRUE(has(message_of<Fault::kInf>(method), "the log reward of an end is inf"));
    EXPECT_TRUE(has(message_of<Fault::kActionNan>(method), "the log reward of action 1 is nan"));
    EXPECT_TRUE(
        has(message_of<Fault::kTwoSums>(method), "two paths lead to the state 100, with log rewards that add up"));
    EXPECT_TRUE(has(message_of<Fault::kEndless>(method), "no end after 1000 actions"));
  }
  EXPECT_TRUE(
      has(message_of<Fault::kUpper>(ProgramMethod::kSearch), "upper is 0.5, but the log reward of this end is 1"));
}

TEST(CheckProgram, FindsWrongDeclarations) {
  EXPECT_TRUE(has(check_message_of<Fault::kLogPaths>(), "log_paths says that 3 paths"))
      << check_message_of<Fault::kLogPaths>();
  EXPECT_TRUE(has(check_message_of<Fault::kChanges>(), "other actions")) << check_message_of<Fault::kChanges>();
  EXPECT_TRUE(has(check_message_of<Fault::kUpper>(), "upper is 0.5"));
  EXPECT_TRUE(has(check_message_of<Fault::kMerge>(), "merge makes 101 the same as 100"));
  EXPECT_TRUE(has(check_message_of<Fault::kCycle>(), "a cycle"));
}

TEST(CheckProgram, AcceptsWhatIsRight) {
  HashedProgram<Sets> sets;
  EXPECT_EQ(check_program(sets, 30, 3), "15 states (the first ones), 3 of 8 ends evaluated: no mistake was found");
  EXPECT_TRUE(has(check_program(sets, 1000, 100), "(all of them)"));
}

}  // namespace
}  // namespace treesample
