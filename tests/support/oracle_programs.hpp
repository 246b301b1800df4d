// Small programs for the tests of src/oracle, and a way to observe their processes.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "support/expect_error.hpp"
#include "treesample/io/file.hpp"
#include "treesample/io/json_model.hpp"

namespace treesample::testing {

inline std::string python() { return ::access("/usr/bin/python3", X_OK) == 0 ? "/usr/bin/python3" : "python3"; }

// A model over a (2 states) and b (3 states, named) with one factor "f" that program.py computes. `body` runs for each
// request. It can use `request`, `n` (the number of earlier requests), `states` (of the first assignment) and
// value(states), and may change `answer`, which is correct at first.
class OracleFolder : public TemporaryFolder {
 protected:
  void write_program(const std::string& body, const std::string& before_ready = "") const {
    std::string text = R"(import json, os, signal, sys, time
def value(states):
    return -(1 + 3 * states[0] + states[1]) / 7
def say(answer):
    print(answer if isinstance(answer, str) else json.dumps(answer), flush=True)
def paid(states):
    with open('paid.txt', 'a') as file:
        file.write(str(states) + '\n')
hello = json.loads(sys.stdin.readline())
)" + before_ready + R"(
say({"ready": True})
n = 0
for line in sys.stdin:
    request = json.loads(line)
    states = request["assignments"][0]
    for assignment in request["assignments"]:
        paid(assignment)
    answer = {"id": request["id"], "log_values": [value(s) for s in request["assignments"]]}
)";
    text += indented(body) + "    say(answer)\n    n += 1\n";
    write_file_atomically(in_folder("program.py"), text);
  }

  // `fields` are further fields of the program, such as "\"max_batch\": 4".
  [[nodiscard]] JsonModel model(const std::string& fields = "") const {
    const std::string text = fmt::format(
        R"({{"variables": [{{"name": "a", "states": 2}}, {{"name": "b", "states": ["low", "mid", "high"]}}],
            "programs": {{"p": {{"command": ["{}", "-S", "program.py"]{}{}}}}},
            "factors": [{{"scope": ["a"], "values": [1, 2]}},
                        {{"name": "f", "scope": ["a", "b"], "program": "p"}}]}})",
        python(), fields.empty() ? "" : ", ", fields);
    write_file_atomically(in_folder("model.json"), text);
    return read_json_model(in_folder("model.json"));
  }

  static double value(int a, int b) { return -(1 + 3 * a + b) / 7.0; }

  // The number of assignments for which programs of this folder were called, over all runs.
  [[nodiscard]] int num_paid() const {
    if (!std::filesystem::exists(in_folder("paid.txt"))) return 0;
    const std::string text = read_file(in_folder("paid.txt"));
    return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  }

  // The number of processes that run in this folder: programs, and the processes that they started.
  [[nodiscard]] int num_processes() const {
    int count = 0;
    std::error_code ignored;
    const std::filesystem::path folder = std::filesystem::canonical(in_folder(""));
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      if (std::filesystem::read_symlink(entry.path() / "cwd", ignored) == folder) ++count;
    }
    return count;
  }
  // Returns true as soon as there are `count` processes, and false if that takes unreasonably long.
  [[nodiscard]] bool wait_for_processes(int count) const {
    return wait_until([&] { return num_processes() == count; });
  }
  template <class Condition>
  static bool wait_until(const Condition& condition) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > give_up) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }
  // True if this process has no children, running or dead.
  static bool has_no_children() { return ::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD; }

 private:
  static std::string indented(const std::string& body) {
    std::string text;
    bool is_at_start = true;
    for (const char c : body) {
      if (is_at_start) text += "    ";
      is_at_start = c == '\n';
      text += c;
    }
    return text + "\n";
  }
};

}  // namespace treesample::testing
