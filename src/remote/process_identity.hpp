// Which process this is, and whether another one that said so still lives.
#pragma once

#include <optional>
#include <string>

namespace treesample {

// "host pid start machine": start is the process's start time, and machine tells boots and containers apart, so that
// neither a number that was used again nor a host of the same name can be taken for the process.
struct ProcessIdentity {
  std::string host;
  int pid = 0;
  std::string start;
  std::string machine;  // empty when it cannot be known

  static ProcessIdentity own();
  // Nothing when the text is none.
  static std::optional<ProcessIdentity> parse(const std::string& text);
  [[nodiscard]] std::string text() const;
  // For people, and as the name of a worker: "host:pid".
  [[nodiscard]] std::string name() const;
  // True only when it was a process of this machine and is none any more.
  [[nodiscard]] bool is_surely_dead() const;
};

}  // namespace treesample
