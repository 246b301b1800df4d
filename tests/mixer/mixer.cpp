// Random models, options, questions and limits against enumeration: what no list of tests has thought of together.
//
//   mixer [--seed N] [--first N] [--runs N] [--seconds X] [--threads N] [--out FOLDER] [--table FILE]
//   mixer --resume FILE [...]      goes on where the run that wrote this table ended
//   mixer --case FILE              one case again
//   mixer --print N [--seed N]     the text of a case, which is not run
//
// Cases have numbers, and depend on nothing else. A case that breaks a promise is made smaller, as long as it still
// breaks one, and written to FOLDER. Ends with the table of promises, and 1 if any was broken, 3 if a case does not
// end.
#include <fmt/format.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>

#include "mixer/mixing.hpp"
#include "treesample/io/file.hpp"

namespace treesample::mixer {
namespace {

struct Settings {
  MixSettings mix;
  std::string one_case;
  std::int64_t print = -1;
};

Settings settings_of(int argc, char** argv) {
  Settings settings;
  MixSettings& mix = settings.mix;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    if (i + 1 == argc) throw std::invalid_argument(fmt::format("{} has no value", name));
    const std::string value = argv[i + 1];
    if (name == "--seed") {
      mix.seed = std::stoull(value);
    } else if (name == "--first") {
      mix.first = std::stoll(value);
    } else if (name == "--runs") {
      mix.runs = std::stoll(value);
    } else if (name == "--seconds") {
      mix.seconds = std::stod(value);
    } else if (name == "--threads") {
      mix.threads = std::stoi(value);
    } else if (name == "--out") {
      mix.out = value;
    } else if (name == "--table" || name == "--resume") {
      mix.table = value;
      mix.resumes = name == "--resume";
    } else if (name == "--case") {
      settings.one_case = value;
    } else if (name == "--print") {
      settings.print = std::stoll(value);
    } else {
      throw std::invalid_argument(fmt::format("there is no option {}", name));
    }
  }
  return settings;
}

int run(const Settings& settings) {
  if (settings.print >= 0) {
    fmt::print("{}", random_case(settings.mix.seed, settings.print).text());
    return 0;
  }
  Tally tally;
  if (settings.one_case.empty()) {
    tally = mix(settings.mix);
  } else {
    for (const std::string& line : broken_promises(reading_of(read_file(settings.one_case)), tally)) {
      fmt::print("{}\n", line);
    }
  }
  fmt::print("{}", tally.text());
  return is_broken(tally) ? 1 : 0;
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
