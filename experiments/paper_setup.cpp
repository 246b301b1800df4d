#include "paper_setup.hpp"

#include <fmt/format.h>

#include <sstream>

#include "hyperparameters_text.hpp"
#include "treesample/error.hpp"

namespace treesample::experiments {
namespace {

std::string key_of(const Problem& problem, Contender method) {
  return fmt::format("{} {} {}", problem.family, to_string(problem.reading), word_of(method));
}

}  // namespace

const char* to_string(Reading reading) { return reading == Reading::kLetter ? "letter" : "best"; }

std::vector<Problem> paper_problems() {
  std::vector<Problem> problems;
  for (const std::string& family : kPaperFamilies) {
    for (const Reading reading : kReadings) problems.push_back({family, reading});
  }
  return problems;
}

std::string to_string(const Problem& problem) {
  return fmt::format("{}/{}", problem.family, to_string(problem.reading));
}

FactorGraph problem_model(const Problem& problem, std::uint64_t seed, int instance) {
  return make_family(problem.family,
                     {.reading = problem.reading, .seed = seed, .instance = static_cast<std::uint64_t>(instance)})
      .graph;
}

std::uint64_t tuning_seed(std::uint64_t seed) { return seed | (std::uint64_t{1} << 63); }

std::uint64_t method_seed(std::uint64_t seed, const std::string& key, Contender method) {
  return Random(seed, fmt::format("{}/{}", key, word_of(method))).bits();
}

MethodSetting untuned_setting(const Problem& problem, Contender method) {
  MethodSetting setting(method);
  setting.take({.order = problem.family == "factor-graphs-1" ? OrderKind::kDegree : OrderKind::kGiven,
                .c = 1.0,
                .ties = problem.reading == Reading::kBest ? TieRule::kRandom : TieRule::kLowest,
                .ess_threshold = 0.5,
                .resampling = ResamplingScheme::kMultinomial,
                .sweeps = 10,
                .messages = 5});
  return setting;
}

Hyperparameters::Hyperparameters(std::string_view text, const std::string& source) {
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const auto fail = [&](const std::string& problem) {
      throw Error(ErrorCode::kParse, fmt::format("{}:{}: {}", source, number, problem));
    };
    std::istringstream words(line.substr(0, line.find('#')));
    std::string family, reading, method, token;
    if (!(words >> family)) continue;
    if (!(words >> reading >> method) || (reading != "letter" && reading != "best")) {
      fail("a line is 'FAMILY letter|best METHOD NAME=VALUE ...'");
    }
    const Problem problem{family, reading == "best" ? Reading::kBest : Reading::kLetter};
    MethodSetting setting = untuned_setting(problem, parse_method(fmt::format("{}:{}", source, number), method));
    while (words >> token) {
      const std::size_t equals = token.find('=');
      bool is_good = equals != std::string::npos;
      try {
        if (is_good) setting.set_tuned(token.substr(0, equals), token.substr(equals + 1));
      } catch (const Error&) {
        is_good = false;
      }
      if (!is_good)
        fail(fmt::format("'{}' is not a setting such as c=0.5, ess-threshold=0.5, resampling=systematic", token));
    }
    settings_[key_of(problem, setting.contender)] = setting;
  }
}

Hyperparameters Hyperparameters::built_in() { return {kHyperparametersText, "hyperparameters.txt"}; }

MethodSetting Hyperparameters::setting(const Problem& problem, Contender method) const {
  const bool is_tuned = !untuned_setting(problem, method).tuned_text().empty();
  if (!is_tuned) return untuned_setting(problem, method);
  const auto found = settings_.find(key_of(problem, method));
  check_argument(found != settings_.end(), "hyperparameters",
                 fmt::format("there are none for '{}'; make them with --tune", key_of(problem, method)));
  return found->second;
}

std::string Hyperparameters::text() const {
  std::string text;
  for (const auto& [key, setting] : settings_) text += fmt::format("{} {}\n", key, setting.tuned_text());
  return text;
}

}  // namespace treesample::experiments
