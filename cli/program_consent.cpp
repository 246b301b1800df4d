#include "program_consent.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "treesample/text.hpp"

namespace treesample::cli {
namespace {

constexpr const char* kVariable = "TREESAMPLE_ALLOW_PROGRAMS";

// Words with blanks or quotes are quoted, so that a reader sees where they end.
std::string shown(const std::string& word) {
  const bool is_plain = !word.empty() && word.find_first_of(" \t\n'\"") == std::string::npos;
  return is_plain ? printable(word) : fmt::format("'{}'", printable(word));
}

std::string command_line(const ProgramDescription& program) {
  if (program.umbridge) return fmt::format("requests to {}", shown(program.umbridge->url));
  std::vector<std::string> words;
  for (const std::string& word : program.command) words.push_back(shown(word));
  return fmt::format("{}", fmt::join(words, " "));
}

bool is_allowed_by_environment() {
  const char* const value = std::getenv(kVariable);
  return value != nullptr && std::string(value) == "1";
}

// Asks a person, provided that there is one who sees the question and can type. Returns true for yes.
bool asks_and_hears_yes() {
  if (isatty(STDIN_FILENO) == 0 || isatty(STDERR_FILENO) == 0) return false;
  fmt::print(stderr, "Run them? [y/N] ");
  std::fflush(stderr);
  std::string answer;
  for (int c = std::getchar(); c != EOF && c != '\n'; c = std::getchar()) answer += static_cast<char>(c);
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace

void declare_consent(CommandLine& line, ProgramUse& use) {
  line.flag(
      "--allow-programs", use.is_allowed,
      fmt::format("Run the programs that a .json model names, with your rights; without this option you are asked at a "
                  "terminal. {}=1 in the environment is the same",
                  kVariable));
}

void require_consent(const JsonModel& model, const ProgramUse& use) {
  if (!use.runs_them || model.programs.empty()) return;
  const bool is_allowed = use.is_allowed || is_allowed_by_environment();
  const bool can_ask = isatty(STDIN_FILENO) != 0 && isatty(STDERR_FILENO) != 0;
  std::vector<std::string> lines;
  for (const ProgramDescription& program : model.programs) lines.push_back(command_line(program));
  if (!is_allowed && !can_ask) {
    throw NoPermission(
        fmt::format("{} runs programs with your rights, and needs your consent: {}; read them, then give "
                    "--allow-programs (or {}=1 in the environment)",
                    shown(model.source_name), fmt::join(lines, "; "), kVariable));
  }
  if (!is_allowed || !use.is_quiet) {
    for (const std::string& line : lines) {
      fmt::print(stderr, "{} runs in {}: {}\n", shown(model.source_name), shown(model.folder.string()), line);
    }
  }
  if (is_allowed || asks_and_hears_yes()) return;
  throw NoPermission("no programs were run");
}

}  // namespace treesample::cli
