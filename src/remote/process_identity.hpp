// The identity of this process, and whether the process with a given identity is still alive.
#pragma once

#include <optional>
#include <string>

namespace treesample {

// "host pid start machine". `start` is the process's start time, and `machine` tells boots and containers apart. So a
// process with a reused number, or on another host of the same name, is not taken for this process.
struct ProcessIdentity {
  std::string host;
  int pid = 0;
  std::string start;
  std::string machine;  // empty if it cannot be determined

  static ProcessIdentity own();
  // None if the text is not an identity.
  static std::optional<ProcessIdentity> parse(const std::string& text);
  [[nodiscard]] std::string text() const;
  // For people, and as the name of a worker: "host:pid".
  [[nodiscard]] std::string name() const;
  // True only if it was a process of this machine and has ended.
  [[nodiscard]] bool is_surely_dead() const;
};

}  // namespace treesample
