// One sub-command of the program. Each lives in a file of its own, cmd_<name>.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "treesample/error.hpp"
#include "treesample/parse_number.hpp"

namespace treesample::cli {

// Where a command declares its arguments. Values given on the command line are stored in the variables; otherwise these
// keep their initial values, which --help shows as defaults. Only one file includes the parser that implements this,
// because its header takes seconds to compile.
class CommandLine {
 public:
  virtual ~CommandLine() = default;
  // Begins a section: later declarations appear under this title in --help, or only in --help-all if they are not
  // common.
  virtual void section(const std::string& title, bool is_common = true) = 0;
  // A required word; `help` is shown under "Positionals".
  virtual void positional(const std::string& name, std::string& value, const std::string& help) = 0;
  // A word that may be left out.
  virtual void optional_positional(const std::string& name, std::string& value, const std::string& help) = 0;
  // One or more words.
  virtual void positionals(const std::string& name, std::vector<std::string>& values, const std::string& help) = 0;
  virtual void flag(const std::string& name, bool& value, const std::string& help) = 0;
  virtual void option(const std::string& name, std::int64_t& value, std::int64_t low, std::int64_t high,
                      const std::string& help) = 0;
  virtual void option(const std::string& name, int& value, int low, int high, const std::string& help) = 0;
  virtual void option(const std::string& name, double& value, double low, double high, const std::string& help) = 0;
  virtual void option(const std::string& name, std::string& value, const std::string& meta,
                      const std::string& help) = 0;
  // An option that may be given several times.
  virtual void option(const std::string& name, std::vector<std::string>& values, const std::string& meta,
                      const std::string& help) = 0;
  // An option that takes any text and passes it on if it is given; `initial` is shown as the default.
  virtual void option(const std::string& name, const std::string& meta, const std::string& initial,
                      const std::string& help, const std::function<void(const std::string&)>& take) = 0;
  // The name of an option in earlier versions: it is taken, and no help shows it.
  virtual void old_option(const std::string& name, const std::function<void(const std::string&)>& take) = 0;
  // Seconds, with an optional unit (parse_number.hpp). A finite initial value is shown as the default.
  void seconds(const std::string& name, double& value, const std::string& help) {
    const std::string initial = value > 0.0 && value < 1e9 ? std::to_string(static_cast<std::int64_t>(value)) : "";
    option(name, "SECONDS", initial, help, [&value, name](const std::string& text) {
      const std::optional<double> seconds = parse_seconds(text);
      if (!seconds || *seconds < 0.0) {
        throw Error(ErrorCode::kArgument,
                    name + " is '" + text + "', allowed are numbers from 0 up, also as 500ms, 90s, 10m, 1.5h or 2d");
      }
      value = *seconds;
    });
  }
  // After parsing: was the option given?
  [[nodiscard]] virtual bool is_given(const std::string& name) const = 0;
  // An option that takes one of a fixed set of words; it is required if the name has no dashes.
  virtual void choice(const std::string& name, std::string& value, const std::vector<std::string>& allowed,
                      const std::string& help) = 0;
  // An option whose words stand for values.
  template <class Value>
  void word(const std::string& name, Value& value, const std::vector<std::pair<std::string, Value>>& words,
            const std::string& help) {
    std::string meta, initial;
    for (const auto& [word, meaning] : words) {
      meta += (meta.empty() ? "" : "|") + word;
      if (meaning == value) initial = word;
    }
    option(name, meta, initial, help, [=, &value](const std::string& text) {
      const auto found = std::find_if(words.begin(), words.end(), [&](const auto& row) { return row.first == text; });
      if (found == words.end()) throw Error(ErrorCode::kArgument, name + " is '" + text + "', allowed are " + meta);
      value = found->second;
    });
  }
};

// Thrown if the user has not allowed something that only the user can allow. The exit code is EX_NOPERM.
class NoPermission : public Error {
 public:
  explicit NoPermission(const std::string& message) : Error(ErrorCode::kArgument, message) {}
};

class Command {
 public:
  virtual ~Command() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::string summary() const = 0;
  // Shown at the end of --help, one per line.
  [[nodiscard]] virtual std::string examples() const = 0;
  // The command line stays valid until run() has returned.
  virtual void declare(CommandLine& line) = 0;
  // Does the work and returns the exit code; errors are thrown as treesample::Error.
  virtual int run() = 0;
};

// All sub-commands in the order of --help.
std::vector<std::unique_ptr<Command>> all_commands();
std::unique_ptr<Command> make_infer_command();
std::unique_ptr<Command> make_build_command();
std::unique_ptr<Command> make_info_command();
std::unique_ptr<Command> make_count_command();
std::unique_ptr<Command> make_decide_command();
std::unique_ptr<Command> make_order_command();
std::unique_ptr<Command> make_merge_command();
std::unique_ptr<Command> make_convert_command();
std::unique_ptr<Command> make_generate_command();
std::unique_ptr<Command> make_compare_command();
std::unique_ptr<Command> make_reproduce_command();
std::unique_ptr<Command> make_train_command();
std::unique_ptr<Command> make_worker_command();
std::unique_ptr<Command> make_journal_command();
std::unique_ptr<Command> make_bench_command();
std::unique_ptr<Command> make_docs_command();

}  // namespace treesample::cli
