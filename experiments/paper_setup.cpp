#include "paper_setup.hpp"

#include <fmt/format.h>

#include <sstream>

#include "hyperparameters_text.hpp"
#include "treesample/error.hpp"

namespace treesample::experiments {
namespace {

// The rest of a token such as "c=0.5" as a number; throws std::exception.
double number_of(const std::string& text) {
  std::size_t used = 0;
  const double value = std::stod(text, &used);
  if (used != text.size()) throw std::invalid_argument(text);
  return value;
}

// False when the method has no such field or the value is out of range.
bool set_field(MethodSetting& setting, const std::string& name, const std::string& value) {
  if (name == "resampling") {
    for (const ResamplingScheme scheme :
         {ResamplingScheme::kMultinomial, ResamplingScheme::kStratified, ResamplingScheme::kSystematic}) {
      if (value != treesample::to_string(scheme)) continue;
      setting.resampling = scheme;
      return true;
    }
    return false;
  }
  const double number = number_of(value);
  if (name == "c" && number >= 0.0) {
    setting.c = number;
  } else if (name == "t" && number >= 0.0 && number <= 1.0) {
    setting.ess_threshold = number;
  } else if (name == "num_sweeps" && number >= 1.0 && number <= 1e6) {
    setting.num_sweeps = static_cast<int>(number);
  } else if (name == "num_messages" && number >= 1.0 && number <= 1e6) {
    setting.num_messages = static_cast<int>(number);
  } else {
    return false;
  }
  return true;
}

std::string key_of(const Problem& problem, Method method) {
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

std::uint64_t tuning_seed(std::uint64_t seed) { return seed | (std::uint64_t{1} << 63); }

std::uint64_t method_seed(std::uint64_t seed, const std::string& key, Method method) {
  return Random(seed, fmt::format("{}/{}", key, word_of(method))).bits();
}

MethodSetting untuned_setting(const Problem& problem, Method method) {
  MethodSetting setting;
  setting.method = method;
  const bool is_ours = method == Method::kGraph || method == Method::kAndOr;
  setting.order = is_ours                               ? OrderKind::kMinFill
                  : problem.family == "factor-graphs-1" ? OrderKind::kDegree
                                                        : OrderKind::kGiven;
  setting.ties = problem.reading == Reading::kBest ? TieRule::kRandom : TieRule::kLowest;
  setting.resampling = ResamplingScheme::kMultinomial;
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
      bool is_good = false;
      try {
        is_good = equals != std::string::npos && set_field(setting, token.substr(0, equals), token.substr(equals + 1));
      } catch (const std::exception&) {
        is_good = false;  // not a number
      }
      if (!is_good) fail(fmt::format("'{}' is not a setting such as c=0.5, t=0.5, resampling=systematic", token));
    }
    settings_[key_of(problem, setting.method)] = setting;
  }
}

Hyperparameters Hyperparameters::built_in() { return {kHyperparametersText, "hyperparameters.txt"}; }

MethodSetting Hyperparameters::setting(const Problem& problem, Method method) const {
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
