// The program: its commands, the parser of their arguments, and the exit code for everything that can happen. The only
// file that includes the parser's header.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sysexits.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <deque>
#include <exception>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "command.hpp"
#include "described.hpp"
#include "memory_limit.hpp"
#include "program_end.hpp"
#include "standard_streams.hpp"
#include "terminal.hpp"
#include "treesample/error.hpp"
#include "treesample/io/model_file.hpp"
#include "treesample/parse_number.hpp"
#include "treesample/text.hpp"

namespace treesample::cli {
namespace {

// For values that are malformed or out of range, the message is one line that names the option, the value and what is
// allowed.
template <class T>
std::string parse_number(const std::string& name, const std::string& text, T low, T high, T& value) {
  T parsed{};
  bool is_number = false;
  if constexpr (std::is_integral_v<T>) {
    const std::optional<std::int64_t> integer = parse_integer(text);
    is_number = integer.has_value();
    parsed = integer.value_or(0);
  } else {
    is_number = CLI::detail::lexical_cast(text, parsed);
  }
  if (is_number && parsed >= low && parsed <= high) {
    value = parsed;
    return {};
  }
  if (std::is_integral_v<T>) {
    return fmt::format("{} is '{}', allowed are whole numbers from {} to {}", name, text, low, high);
  }
  if (high == static_cast<T>(HUGE_VAL)) {
    return fmt::format("{} is '{}', allowed are numbers from {} up", name, text, low);
  }
  return fmt::format("{} is '{}', allowed are numbers from {} to {}", name, text, low, high);
}

// Refuses an empty text. It would be taken as no text, and a file would silently not be written. The parser adds the
// option's name in front of the message.
std::function<void(const std::string&)> not_empty(const std::string& meta) {
  return [meta](const std::string& text) {
    if (!text.empty()) return;
    throw CLI::ValidationError(
        fmt::format("the value is '', allowed is a text that is not empty{}", meta.empty() ? "" : " (" + meta + ")"),
        CLI::ExitCodes::ValidationError);
  };
}

class Cli11CommandLine final : public CommandLine {
 public:
  explicit Cli11CommandLine(CLI::App& app) : app_(app) {}

  void section(const std::string&, bool) override {}  // help is made from described.hpp
  void positional(const std::string& name, std::string& value, const std::string& help) override {
    app_.add_option(name, value, help)->required()->type_name("")->each(not_empty(""));
  }
  void optional_positional(const std::string& name, std::string& value, const std::string& help) override {
    app_.add_option(name, value, help)->type_name("")->each(not_empty(""));
  }
  void positionals(const std::string& name, std::vector<std::string>& values, const std::string& help) override {
    app_.add_option(name, values, help)->required()->type_name("")->each(not_empty(""));
  }
  void flag(const std::string& name, bool& value, const std::string& help) override {
    app_.add_flag(name, value, help);
  }
  void option(const std::string& name, std::int64_t& value, std::int64_t low, std::int64_t high,
              const std::string& help) override {
    number(name, value, low, high, "N", help);
  }
  void option(const std::string& name, int& value, int low, int high, const std::string& help) override {
    number<int, std::int64_t>(name, value, low, high, "N", help);
  }
  void option(const std::string& name, double& value, double low, double high, const std::string& help) override {
    number(name, value, low, high, "X", help);
  }
  void option(const std::string& name, std::string& value, const std::string& meta, const std::string& help) override {
    app_.add_option(name, value, help)->type_name(meta)->capture_default_str()->each(not_empty(meta));
  }
  void option(const std::string& name, std::vector<std::string>& values, const std::string& meta,
              const std::string& help) override {
    app_.add_option(name, values, help)->type_name(meta)->allow_extra_args(false)->each(not_empty(meta));
  }
  void option(const std::string& name, const std::string& meta, const std::string& initial, const std::string& help,
              const std::function<void(const std::string&)>& take) override {
    const auto take_or_refuse = [take](const std::string& text) {
      try {
        take(text);
      } catch (const Error& error) {
        throw CLI::ValidationError(error.what(), CLI::ExitCodes::ValidationError);
      }
    };
    CLI::Option* const option = app_.add_option_function<std::string>(name, take_or_refuse, help)->type_name(meta);
    if (!initial.empty()) option->default_str(initial);
    if (meta == "FILE") option->each(not_empty(meta));  // `take` checks other texts
  }
  void old_option(const std::string& name, const std::function<void(const std::string&)>& take) override {
    option(name, "", "", "", take);
  }
  [[nodiscard]] bool is_given(const std::string& name) const override { return app_.count(name) > 0; }
  void choice(const std::string& name, std::string& value, const std::vector<std::string>& allowed,
              const std::string& help) override {
    const std::string words = fmt::format("{}", fmt::join(allowed, "|"));
    CLI::Option* const option = app_.add_option_function<std::string>(
        name,
        [name, allowed, words, &value](const std::string& text) {
          if (std::find(allowed.begin(), allowed.end(), text) == allowed.end()) {
            throw CLI::ValidationError(fmt::format("{} is '{}', allowed are {}", name, text, words),
                                       CLI::ExitCodes::ValidationError);
          }
          value = text;
        },
        help);
    option->type_name(words);
    if (name[0] == '-') {
      option->default_str(value);
    } else {
      option->required();
    }
  }

 private:
  template <class T, class Parsed = T>
  void number(const std::string& name, T& value, Parsed low, Parsed high, const std::string& meta,
              const std::string& help) {
    app_.add_option_function<std::string>(
            name,
            [name, low, high, &value](const std::string& text) {
              Parsed parsed{};
              const std::string problem = parse_number(name, text, low, high, parsed);
              if (!problem.empty()) throw CLI::ValidationError(problem, CLI::ExitCodes::ValidationError);
              value = static_cast<T>(parsed);
            },
            help)
        ->type_name(meta)
        ->default_str(fmt::format("{}", value));
  }

  CLI::App& app_;
};

constexpr std::size_t kShownWord = 100;

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::kArgument:
      return EX_USAGE;
    case ErrorCode::kParse:
    case ErrorCode::kNumeric:
      return EX_DATAERR;
    case ErrorCode::kIo:
      return EX_NOINPUT;
    case ErrorCode::kWrite:
      return EX_IOERR;
    case ErrorCode::kResource:
      return EX_UNAVAILABLE;
    case ErrorCode::kInterrupted:
      return Interruption::exit_code(EX_TEMPFAIL);
    case ErrorCode::kInternal:
      return EX_SOFTWARE;
  }
  return EX_SOFTWARE;
}

int fail(int code, const std::string& message) {
  say(fmt::format("treesample: {}\n", printable(message)));
  return code;
}

// The words of the line after the program's name. An empty line asks for help, and so does the command `help`, whose
// argument is a command.
std::vector<std::string> words_of(int argc, const char* const* argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (words.empty()) return {"--help"};
  if (words[0] != "help") return words;
  check_argument(words.size() <= 2, "help", fmt::format("takes one command, '{}' is one word too many", words.back()));
  if (words.size() == 1 || words[1] == "help" || words[1] == "--help") return {"--help"};
  return {words[1], "--help"};
}

// Checked here because the parser would say only that a command is missing.
void check_command(const std::string& word, const std::vector<std::unique_ptr<Command>>& commands) {
  if (word.starts_with('-')) return;
  std::vector<std::string> names;
  for (const auto& command : commands) names.push_back(command->name());
  if (std::find(names.begin(), names.end(), word) != names.end()) return;
  const std::string shown = shortened(word, kShownWord);
  const std::filesystem::path file = std::filesystem::path(word).extension() == ".gz"
                                         ? std::filesystem::path(word).stem()
                                         : std::filesystem::path(word);
  std::error_code ignored;
  const bool is_model = is_model_extension(file.extension().string()) || std::filesystem::exists(word, ignored);
  throw Error(
      ErrorCode::kArgument,
      fmt::format("'{}' is no command, allowed are {}{} (see 'treesample --help')", shown, fmt::join(names, "|"),
                  is_model ? fmt::format("; did you mean 'treesample infer {}'?", shown) : did_you_mean(word, names)));
}

// The message for an option that has no value, or that is given twice.
std::string describe_count(const std::string& message, const CLI::App& parser) {
  const std::string name = message.substr(0, message.find(':'));
  const CLI::Option* const option = parser.get_option_no_throw(name);
  if (option == nullptr) return message;
  const std::size_t count = option->count();
  if (count > 1) return fmt::format("{} is given {} times, allowed is once", name, count);
  return fmt::format("{} needs a value ({})", name, option->get_type_name());
}

// The message for a missing word. It lists the allowed words if there are few.
std::string describe_required(const std::string& message, const CLI::App& parser) {
  const CLI::Option* const option = parser.get_option_no_throw(message.substr(0, message.find(' ')));
  const std::string words = option == nullptr ? "" : option->get_type_name();
  return words.empty() ? message : fmt::format("{}, allowed are {}", message, words);
}

// One line about the first word that was not declared or, if there is none, the parser's message.
std::string describe(const CLI::ParseError& error, const CLI::App& app) {
  const std::vector<CLI::App*> used = app.get_subcommands();
  const CLI::App& parser = used.empty() ? app : *used.front();
  const std::string see =
      fmt::format("see 'treesample {}--help'", used.empty() ? std::string() : parser.get_name() + " ");
  const std::vector<std::string> rest = app.remaining(/*recurse=*/true);
  const auto is_option = [](const std::string& word) { return word.size() > 1 && word[0] == '-'; };
  auto unknown = std::find_if(rest.begin(), rest.end(), is_option);
  if (unknown == rest.end() && dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) unknown = rest.begin();
  if (unknown != rest.end()) {
    if (!is_option(*unknown)) {
      const std::string shown = shortened(*unknown, kShownWord);
      const bool is_observation = parser.get_name() == "infer" && shown.find('=') != std::string::npos;
      return fmt::format("'{}' is one word too many{} ({})", shown,
                         is_observation ? fmt::format("; did you mean --evidence {}?", shown) : "", see);
    }
    const std::string word = unknown->substr(0, unknown->find('='));
    std::vector<std::string> names;
    for (const CLI::Option* option : parser.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    return fmt::format("unknown option '{}'{} ({})", shortened(word, kShownWord), did_you_mean(word, names), see);
  }
  std::string message = error.what();
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) message = describe_required(message, parser);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) message = describe_count(message, parser);
  std::replace(message.begin(), message.end(), '\n', ' ');
  return fmt::format("{} ({})", message, see);
}

// The help that the user asks for; empty if none. A command may come after `help` or before --help.
std::string asked_help(const std::vector<std::string>& words, const std::vector<std::unique_ptr<Command>>& commands) {
  const auto end = std::find(words.begin(), words.end(), "--");
  const bool has_all = std::find(words.begin(), end, "--help-all") != end;
  if (!has_all && std::find(words.begin(), end, "--help") == end && std::find(words.begin(), end, "-h") == end)
    return "";
  for (const auto& command : commands) {
    if (words[0] == command->name()) return help_text(described(*command), has_all);
  }
  std::string text =
      "Answers questions about unnormalised discrete distributions under a budget of evaluations.\n\n"
      "Usage: treesample COMMAND [OPTIONS]\n\nCommands:\n";
  for (const auto& command : commands) text += fmt::format("  {:<12}{}\n", command->name(), command->summary());
  return text +
         "\n'treesample help COMMAND' explains one of them; 'treesample --version' says which program this is.\n"
         "Begin with: treesample infer MODEL\n";
}

// Parses the command line and runs the command.
int run_command(CLI::App& app, int argc, const char* const* argv,
                const std::vector<std::unique_ptr<Command>>& commands) {
  std::deque<Cli11CommandLine> lines;  // a deque: commands keep references
  std::vector<std::pair<CLI::App*, Command*>> parsers;
  for (const auto& command : commands) {
    CLI::App* const sub = app.add_subcommand(command->name(), command->summary());
    lines.emplace_back(*sub);
    command->declare(lines.back());
    parsers.emplace_back(sub, command.get());
  }
  std::vector<std::string> words = words_of(argc, argv);
  check_command(words[0], commands);
  if (const std::string help = asked_help(words, commands); !help.empty()) {
    fmt::print("{}", help);
    return 0;
  }
  std::reverse(words.begin(), words.end());  // the parser wants them in reverse
  try {
    app.parse(std::move(words));
  } catch (const CLI::Success& help_or_version) {
    std::ostringstream text;
    app.exit(help_or_version, text, text);
    fmt::print("{}", text.str());
    return 0;
  }
  for (const auto& [parser, command] : parsers) {
    if (parser->parsed()) return command->run();
  }
  return EX_USAGE;
}

// Runs the command, and turns everything that may be thrown into an exit code.
int run_guarded(int argc, const char* const* argv, const std::vector<std::unique_ptr<Command>>& commands) {
  CLI::App app("Samples from, and scores, unnormalised discrete distributions under a budget of evaluations.",
               "treesample");
  app.set_version_flag("-V,-v,--version", "treesample " TREESAMPLE_VERSION);
  app.require_subcommand(1);
  try {
    check_output();
    return Interruption::exit_code(run_command(app, argc, argv, commands));
  } catch (const CLI::ParseError& error) {
    return fail(EX_USAGE, describe(error, app));
  } catch (const NoPermission& error) {
    return fail(EX_NOPERM, error.what());
  } catch (const Error& error) {
    return fail(exit_code(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return fail(EX_UNAVAILABLE, refused_memory_text());
  } catch (const std::system_error& error) {
    if (std::ferror(stdout) == 0) return fail(EX_SOFTWARE, fmt::format("unexpected: {}", error.what()));
    return fail(EX_IOERR, fmt::format("standard output: cannot be written: {}", error.code().message()));
  } catch (const std::exception& error) {
    return fail(EX_SOFTWARE, fmt::format("unexpected: {}", error.what()));
  }
}

}  // namespace

std::vector<std::unique_ptr<Command>> all_commands() {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(make_infer_command());
  commands.push_back(make_build_command());
  commands.push_back(make_info_command());
  commands.push_back(make_count_command());
  commands.push_back(make_decide_command());
  commands.push_back(make_order_command());
  commands.push_back(make_merge_command());
  commands.push_back(make_convert_command());
  commands.push_back(make_generate_command());
  commands.push_back(make_compare_command());
  commands.push_back(make_reproduce_command());
  commands.push_back(make_train_command());
  commands.push_back(make_worker_command());
  commands.push_back(make_journal_command());
  commands.push_back(make_bench_command());
  commands.push_back(make_docs_command());
  return commands;
}

// Parses the line, runs the command that it names and returns the exit code (sysexits).
int run_program(int argc, const char* const* argv) {
  open_standard_streams();
  const std::vector<std::unique_ptr<Command>> commands = all_commands();  // lives until the end
  int code = run_guarded(argc, argv, commands);
  try {
    if (code == 0) flush_output();
    flush_early();
  } catch (const Error& error) {
    code = fail(exit_code(error.code()), error.what());
  }
  return end_program(code);
}

}  // namespace treesample::cli

int main(int argc, char** argv) {
  treesample::cli::tell_interruptions();
  std::signal(SIGXFSZ, SIG_IGN);  // a file at its limit is an error with a message, like a full disk
  return treesample::cli::run_program(argc, argv);
}
