// Random models, options, questions and limits against enumeration: what no list of tests has thought of together.
//
//   mixer [--seed N] [--first N] [--runs N] [--seconds X] [--out FOLDER]
//   mixer --case FILE                                        one case again
//   mixer --print N [--seed N]                               the text of a case, which is not run
//
// Cases have numbers, so that a long run continues with --first. A case that breaks a promise is made smaller, as long
// as it still breaks one, and written to FOLDER. Ends with the table of promises, and 1 if any was broken.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include "mixer/judge.hpp"
#include "treesample/error.hpp"
#include "treesample/io/file.hpp"

namespace treesample::mixer {
namespace {

struct Settings {
  std::uint64_t seed = 1;
  std::int64_t first = 0, runs = 1000, print = -1;
  double seconds = HUGE_VAL;
  std::string out = ".", one_case;
};

Settings settings_of(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    const std::string value = argv[i + 1];
    if (name == "--seed") settings.seed = std::stoull(value);
    if (name == "--first") settings.first = std::stoll(value);
    if (name == "--runs") settings.runs = std::stoll(value);
    if (name == "--print") settings.print = std::stoll(value);
    if (name == "--seconds") settings.seconds = std::stod(value);
    if (name == "--out") settings.out = value;
    if (name == "--case") settings.one_case = value;
  }
  return settings;
}

// The smallest case in reach that breaks the same promise.
MixedCase shrunk(MixedCase broken) {
  const auto promise_of = [](const std::string& line) { return line.substr(0, line.find(':')); };
  Tally ignored;
  const std::vector<std::string> lines = broken_promises(broken, ignored);
  if (lines.empty()) return broken;  // it depends on the clock
  const std::string promise = promise_of(lines[0]);
  for (bool is_smaller = true; is_smaller;) {
    is_smaller = false;
    for (const MixedCase& candidate : smaller_cases(broken)) {
      const std::vector<std::string> left = broken_promises(candidate, ignored);
      if (left.empty() || promise_of(left[0]) != promise) continue;
      broken = candidate;
      is_smaller = true;
      break;
    }
  }
  return broken;
}

// Intervals may miss: 1 - 0.95 of them, and five standard deviations more by chance.
bool misses_too_often(const Tally::Count& count) {
  const auto made = static_cast<double>(count.made);
  return static_cast<double>(count.broken) > 0.05 * made + 5.0 * std::sqrt(0.05 * 0.95 * made) + 2.0;
}

int show(const Tally& tally) {
  fmt::print("{}", tally.text());
  bool is_broken = false;
  for (const auto& [name, count] : tally.promises) {
    const bool may_miss = name.find("covers") != std::string::npos;
    is_broken = is_broken || (may_miss ? misses_too_often(count) : count.broken > 0);
  }
  return is_broken ? 1 : 0;
}

int run(const Settings& settings) {
  if (settings.print >= 0) {
    fmt::print("{}", random_case(settings.seed, settings.print).text());
    return 0;
  }
  Tally tally;
  if (!settings.one_case.empty()) {
    for (const std::string& line : broken_promises(reading_of(read_file(settings.one_case)), tally)) {
      fmt::print("{}\n", line);
    }
    return show(tally);
  }
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  std::int64_t number = settings.first;
  for (; number < settings.first + settings.runs && seconds() < settings.seconds; ++number) {
    const MixedCase asked = random_case(settings.seed, number);
    const std::vector<std::string> lines = broken_promises(asked, tally);
    if (lines.empty()) continue;
    const MixedCase small = shrunk(asked);
    std::string text;
    for (const std::string& line : lines) text += fmt::format("case {}: {}\n", number, line);
    fmt::print("{}", text);
    std::fflush(stdout);
    const std::string file = fmt::format("{}/mixed-{}-{}.case", settings.out, settings.seed, number);
    write_file_atomically(file, small.text());
  }
  fmt::print("{} cases of seed {}, from {} to {}\n", number - settings.first, settings.seed, settings.first,
             number - 1);
  return show(tally);
}

}  // namespace
}  // namespace treesample::mixer

int main(int argc, char** argv) {
  try {
    return treesample::mixer::run(treesample::mixer::settings_of(argc, argv));
  } catch (const std::exception& error) {
    fmt::print(stderr, "mixer: {}\n", error.what());
    return 2;
  }
}
