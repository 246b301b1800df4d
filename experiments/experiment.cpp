#include "experiment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "statistics.hpp"
#include "treesample/error.hpp"
#include "treesample/text.hpp"

namespace treesample::experiments {

namespace {

constexpr int kFewInstances = 5;

// A file from an earlier version of the program lacks the numbers of newer methods.
std::string method_words(const ExperimentOptions& options) {
  std::string words;
  for (const Contender method : chosen_contenders(options))
    words += fmt::format("{}{}", words.empty() ? "" : " ", word_of(method));
  return words;
}

}  // namespace

const std::vector<Experiment>& all_experiments() {
  const std::vector<Problem> chain = {{"chain", Reading::kLetter}, {"chain", Reading::kBest}};
  static const std::vector<Experiment> experiments = {
      {"table1", "approximation error of all methods on the four families", 1000, 10'000, 4, 1'000, paper_problems(),
       run_table1},
      {"readings", "Table 1 by likelihood: which reading of the paper's text explains its numbers best", 1000, 10'000,
       2, 1'000, std::vector<Problem>(), run_readings},
      {"figure1", "error against budget on CHAIN; energy against entropy", 1000, 300'000, 4, 3'000, chain, run_figure1},
      {"depth", "chains of different depth N and width K at constant N log K", 200, 10'000, 3, 2'000, chain, run_depth},
      {"functions", "search for factors that are functions against the paper's, budgets from 100 on", 200, 100'000, 3,
       3'000, paper_problems(), run_functions},
      {"beliefs", "rules that choose by expected information gain, beside q-uct, mass and gap", 200, 10'000, 2, 1'000,
       paper_problems(), run_beliefs},
      {"memory", "tree search when its memory is full: stop, collapse, or compile and rebuild", 10, 2'000'000, 1,
       100'000, std::vector<Problem>(), run_memory},
      {"calls", "one function over all variables: a learned model, the search without one, and optimisers", 40, 3'000,
       1, 300, std::vector<Problem>(), run_calls},
      {"reliability", "failures of monotone systems: certified bounds and intervals, beside plain Monte Carlo", 20,
       21'000, 1, 4'000, std::vector<Problem>(), run_reliability},
      {"annealing", "coverage of the limits of annealed importance sampling, on small models", 500, 64, 2, 64,
       std::vector<Problem>(), run_annealing},
      {"gflownet", "tasks of the GFlowNet literature: error against different rewards, beside GFlowNets", 10, 4'096, 1,
       300, std::vector<Problem>(), run_gflownet},
      {"table2", "learned value functions, trained in six ways by TreeSample and by SMC", 20, 2'500, 2, 200,
       std::vector<Problem>(), run_table2, 4'000, 8},
      {"cures", "why search adds little to a corrected value function, and what was tried", 4, 2'500, 1, 200,
       std::vector<Problem>(), run_cures, 800, 8},
      {"ablations", "value networks: units and layers, iterations, targets, and the tuning of training", 10, 2'500, 2,
       200, std::vector<Problem>(), run_ablations, 4'000, 8},
  };
  return experiments;
}

bool is_chosen(const std::vector<std::string>& chosen, const std::string& word) {
  return chosen.empty() || std::find(chosen.begin(), chosen.end(), word) != chosen.end();
}

std::vector<Contender> chosen_contenders(const ExperimentOptions& options) {
  std::vector<Contender> chosen;
  for (const std::string& word : options.methods) {
    check_argument(!row_of(parse_method("--methods", word)).is_beyond_paper, "--methods",
                   fmt::format("'{}' is no part of the paper's experiments", word));
  }
  for (const Contender method : all_contenders()) {
    if (is_chosen(options.methods, word_of(method))) chosen.push_back(method);
  }
  return chosen;
}

void check_chosen(const char* option, const std::vector<std::string>& chosen, const std::vector<std::string>& allowed) {
  for (const std::string& word : chosen) {
    check_argument(is_chosen(allowed, word), option, fmt::format("'{}' is none of {}", word, fmt::join(allowed, ", ")));
  }
}

std::vector<std::int64_t> steps_up_to(std::span<const std::int64_t> steps, std::int64_t largest) {
  const auto end = std::upper_bound(steps.begin(), steps.end(), largest);
  if (end == steps.begin()) return {largest};
  return {steps.begin(), end};
}

std::vector<std::int64_t> budgets_up_to(std::span<const std::int64_t> budgets, std::int64_t largest) {
  std::vector<std::int64_t> chosen(budgets.begin(), std::lower_bound(budgets.begin(), budgets.end(), largest));
  chosen.push_back(largest);
  return chosen;
}

Fingerprint fingerprint_of(const std::string& experiment, const ExperimentOptions& options) {
  Fingerprint fingerprint = {{"experiment", experiment},
                             {"budget", fmt::format("{}", options.budget)},
                             {"seed", fmt::format("{}", options.seed)},
                             {"version", TREESAMPLE_VERSION},
                             {"methods", method_words(options)},
                             {"hyperparameters", options.hyperparameters.text()}};
  if (!options.family.empty()) fingerprint.emplace_back("family", options.family);
  if (!options.exploration.empty())
    fingerprint.emplace_back("c", fmt::format("{}", fmt::join(options.exploration, " ")));
  if (options.readings.size() == 1) fingerprint.emplace_back("readings", to_string(options.readings[0]));
  return fingerprint;
}

std::filesystem::path run_file(const ExperimentOptions& options) { return options.folder / "run.sqlite"; }

std::vector<std::pair<std::string, std::string>> report_options(const std::string& experiment,
                                                                const ExperimentOptions& options) {
  const bool is_few = options.num_instances < kFewInstances;
  return {{"experiment", experiment},
          {"instances", fmt::format("{}{}", options.num_instances, is_few ? " (too few to mean much)" : "")},
          {"budget", fmt::format("{}", options.budget)},
          {"budget unit", "reward evaluations"},
          {"seed", fmt::format("{}", options.seed)},
          {"version", "treesample " TREESAMPLE_VERSION}};
}

std::string few_text(const ExperimentOptions& options) {
  if (options.num_instances >= kFewInstances) return "";
  return fmt::format("{}: not meaningful. ",
                     counted(options.num_instances, options.num_episodes > 0 ? "run" : "problem"));
}

bool add_outcome(Numbers& numbers, const std::string& prefix, const FactorGraph& graph, const MethodSetting& setting,
                 const MethodRun& run) {
  const std::optional<Outcome> outcome = run_method(graph, setting, run);
  if (!outcome) return false;
  numbers[prefix + ".delta_kl"] = outcome->delta_kl;
  numbers[prefix + ".energy"] = outcome->energy;
  numbers[prefix + ".entropy"] = outcome->entropy;
  numbers[prefix + ".seconds"] = outcome->seconds;
  return true;
}

std::vector<double> column(const std::vector<const Numbers*>& instances, const std::string& name) {
  std::vector<double> values;
  values.reserve(instances.size());
  for (const Numbers* numbers : instances) values.push_back(numbers->at(name));
  return values;
}

std::string mean_text(double mean) { return fmt::format("{:.2f}", std::abs(mean) < 0.005 ? 0.0 : mean); }

std::string summary_text(const std::vector<double>& values) {
  const Summary summary = summarize(values);
  return fmt::format("{} +- {:.2f} ({:.2f})", mean_text(summary.mean), summary.deviation, summary.error);
}

}  // namespace treesample::experiments
