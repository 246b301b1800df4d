#include "tune.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "experiment.hpp"

namespace treesample::experiments {
namespace {

std::string name_of(const MethodSetting& setting) {
  return fmt::format("{} {}", word_of(setting.contender), setting.tuned_text());
}

// A value with which the budget does not pay for a single sample just counts as bad.
bool is_affordable(const FactorGraph& graph, const MethodSetting& setting, std::int64_t budget) {
  std::int64_t cost = 0;
  if (setting.contender == Contender::kGibbs) {
    for (int v = 0; v < graph.num_variables(); ++v) cost += *setting.options.sweeps * graph.num_states(v);
  } else if (setting.contender == Contender::kBp) {
    cost = *setting.options.messages * graph.num_variables() * graph.num_factors();
  }
  return cost <= budget;
}

// The delta-KL of every value of every grid on one problem; none if it was interrupted.
std::optional<Numbers> try_grids(const TuneOptions& options, const std::string& key, int index,
                                 const RunControl& control) {
  const int num_problems = static_cast<int>(options.problems.size());
  const Problem& problem = options.problems[index % num_problems];
  const std::uint64_t seed = tuning_seed(options.seed);
  const FactorGraph graph = problem_model(problem, seed, index / num_problems);
  Numbers numbers;
  for (const ContenderRow& row : contenders()) {
    const Contender method = row.contender;
    if (row.is_for_functions || !is_chosen(options.methods, row.word)) continue;
    const MethodRun run{
        .budget = options.budget, .seed = method_seed(seed, key, method), .is_interrupted = control.is_interrupted};
    for (const MethodSetting& setting : tuning_grid(problem, method)) {
      if (!is_affordable(graph, setting, options.budget)) {
        numbers[name_of(setting)] = HUGE_VAL;
        continue;
      }
      const std::optional<Outcome> outcome = run_method(graph, setting, run);
      if (!outcome) return std::nullopt;
      numbers[name_of(setting)] = outcome->delta_kl;
    }
  }
  return numbers;
}

// The setting with the lowest mean. Rounding must not decide between values that are all exact.
std::pair<MethodSetting, double> choose(const std::vector<MethodSetting>& grid,
                                        const std::vector<const Numbers*>& tried) {
  std::pair<MethodSetting, double> best{grid.front(), HUGE_VAL};
  for (const MethodSetting& setting : grid) {
    double sum = 0.0;
    for (const Numbers* numbers : tried) sum += numbers->at(name_of(setting));
    const double mean = sum / static_cast<double>(tried.size());
    if (mean < best.second - 1e-9) best = {setting, mean};
  }
  return best;
}

}  // namespace

// Every value of the first tuned option. Of the other tuned options, the literal reading tries only the values that the
// paper names.
std::vector<MethodSetting> tuning_grid(const Problem& problem, Contender method) {
  std::vector<MethodSetting> grid;
  const std::vector<Tuned>& tuned = row_of(method).tuned;
  if (tuned.empty()) return grid;
  grid.push_back(untuned_setting(problem, method));
  for (std::size_t i = 0; i < tuned.size(); ++i) {
    if (i > 0 && problem.reading != Reading::kBest) break;
    std::vector<MethodSetting> wider;
    for (const char* const value : tuned[i].values) {
      for (MethodSetting setting : grid) {
        setting.set_tuned(tuned[i].option, value);
        wider.push_back(setting);
      }
    }
    grid = std::move(wider);
  }
  return grid;
}

std::optional<std::string> tune(const TuneOptions& options, const std::filesystem::path& file,
                                const RunControl& control) {
  std::vector<std::string> keys;
  for (int i = 0; i < options.num_instances; ++i) {
    for (const Problem& problem : options.problems) keys.push_back(fmt::format("{}/{}", to_string(problem), i));
  }
  RunStore store(file, {{"experiment", "tune"},
                        {"budget", fmt::format("{}", options.budget)},
                        {"seed", fmt::format("{}", options.seed)},
                        {"methods", fmt::format("{}", fmt::join(options.methods, ","))},
                        {"version", TREESAMPLE_VERSION}});
  const std::optional<std::vector<Numbers>> results = run_instances(
      store, keys, [&](int index) { return try_grids(options, keys[index], index, control); }, control);
  if (!results) return std::nullopt;

  const int num_problems = static_cast<int>(options.problems.size());
  std::string text = fmt::format(
      "# treesample {} --tune: budget {}, seed {}, {} problems per family and reading; mean delta-KL after #\n",
      TREESAMPLE_VERSION, options.budget, options.seed, options.num_instances);
  for (int p = 0; p < num_problems; ++p) {
    std::vector<const Numbers*> tried;
    for (int i = 0; i < options.num_instances; ++i) tried.push_back(&(*results)[i * num_problems + p]);
    for (const ContenderRow& row : contenders()) {
      if (row.tuned.empty() || !is_chosen(options.methods, row.word)) continue;
      const Contender method = row.contender;
      const auto [setting, mean] = choose(tuning_grid(options.problems[p], method), tried);
      text += fmt::format("{} {} {} {}  # {:.3f}\n", options.problems[p].family, to_string(options.problems[p].reading),
                          word_of(method), setting.tuned_text(), mean);
    }
  }
  return text;
}

}  // namespace treesample::experiments
