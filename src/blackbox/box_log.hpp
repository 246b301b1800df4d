// What happened to a black box as a JSON text, to continue later or elsewhere: told once more in the same order to a
// box with the same options, it leads to the same state, bit by bit.
//
//   {"format": "treesample black box 1", "states": [2, 3], "events": [["ask", 4], ["tell", 0, [0, 2], -1.5],
//    ["fail", 0, [1, 1], "diverged"], ["done", [0, 2]], ["check", 3], ["answer"]]}
//
// Numbers after "tell" and "fail" are factors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace treesample {

struct BoxEvent {
  enum Kind { kAsk, kCheck, kTell, kFail, kDone, kAnswer };
  Kind kind = kAsk;
  int number = 0;  // of configurations that were asked for, or of the factor
  std::vector<int> states = {};
  double value = 0.0;
  std::string why = {};
};

struct BoxLog {
  std::vector<int> num_states;
  std::vector<BoxEvent> events;
};

std::string log_text(const BoxLog& log);
// Throws Error (kParse) naming the place.
BoxLog read_log(std::string_view text);

}  // namespace treesample
