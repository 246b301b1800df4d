// The experiments that `treesample reproduce` can run: one entry per table or figure of the paper, or of docs/methods.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "paper_setup.hpp"
#include "report.hpp"
#include "run_instances.hpp"

namespace treesample::experiments {

struct ExperimentOptions {
  int num_instances = 1000;
  std::int64_t budget = 10'000;   // the largest one, if several are compared
  std::int64_t num_episodes = 0;  // of a training run; used only if something is trained
  std::uint64_t seed = 0;
  Hyperparameters hyperparameters = Hyperparameters::built_in();
  std::vector<std::string> methods = {};  // the methods to compare; empty: all
  std::vector<std::string> columns = {};  // of table2; empty: all
  std::vector<Reading> readings = {Reading::kLetter, Reading::kBest};
  // For figure1. `exploration`: weights of exploration of the tree search, one line each, in place of the tuned one.
  // `family`: one of the paper's families, or a folder of models, in place of CHAIN.
  std::vector<double> exploration = {};
  std::string family = {};
  std::filesystem::path folder;  // must exist; finished instances are stored there
};

struct Experiment {
  std::string name;
  std::string summary;
  int num_instances;  // the size in the paper
  std::int64_t budget;
  int quick_instances;  // takes a few seconds
  std::int64_t quick_budget;
  std::vector<Problem> problems;  // the problems whose hyperparameters it needs
  // None if it was interrupted. The same call then continues where it stopped.
  std::optional<Report> (*run)(const ExperimentOptions&, const RunControl&);
  // Of a training run; 0 if nothing is trained.
  std::int64_t num_episodes = 0;
  std::int64_t quick_episodes = 0;
};

const std::vector<Experiment>& all_experiments();

std::optional<Report> run_table1(const ExperimentOptions& options, const RunControl& control);
std::optional<Report> run_readings(const ExperimentOptions& options, const RunControl& control);
std::optional<Report> run_figure1(const ExperimentOptions& options, const RunControl& control);
std::optional<Report> run_depth(const ExperimentOptions& options, const RunControl& control);
std::optional<Report> run_functions(const ExperimentOptions& options, const RunControl& control);
std::optional<Report> run_beliefs(const ExperimentOptions& options, const RunControl& control);
std::optional<Report> run_memory(const ExperimentOptions& options, const RunControl& control);
std::optional<Report> run_calls(const ExperimentOptions& options, const RunControl& control);
std::optional<Report> run_annealing(const ExperimentOptions& options, const RunControl& control);
std::optional<Report> run_gflownet(const ExperimentOptions& options, const RunControl& control);
std::optional<Report> run_reliability(const ExperimentOptions& options, const RunControl& control);
std::optional<Report> run_table2(const ExperimentOptions& options, const RunControl& control);
std::optional<Report> run_cures(const ExperimentOptions& options, const RunControl& control);
std::optional<Report> run_ablations(const ExperimentOptions& options, const RunControl& control);

// The following are shared by all experiments.

// True if a word is among the chosen ones, or if none was chosen, which means all.
bool is_chosen(const std::vector<std::string>& chosen, const std::string& word);
// The contenders that were chosen. Throws Error (kArgument) for a word that names none.
std::vector<Contender> chosen_contenders(const ExperimentOptions& options);
// Throws Error (kArgument) for a chosen word that is not among the allowed ones.
void check_chosen(const char* option, const std::vector<std::string>& chosen, const std::vector<std::string>& allowed);

// Those of the ascending numbers that are at most the largest one; only the largest one if all are above it.
std::vector<std::int64_t> steps_up_to(std::span<const std::int64_t> steps, std::int64_t largest);
// The budgets below the largest one, and the largest one itself.
std::vector<std::int64_t> budgets_up_to(std::span<const std::int64_t> budgets, std::int64_t largest);

// The run's file in the options' folder. The number of instances is not part of the fingerprint, so that a run can be
// extended.
Fingerprint fingerprint_of(const std::string& experiment, const ExperimentOptions& options);
std::filesystem::path run_file(const ExperimentOptions& options);
// For the report: fingerprint, number of instances, budget unit.
std::vector<std::pair<std::string, std::string>> report_options(const std::string& experiment,
                                                                const ExperimentOptions& options);

// "3 problems: not meaningful. ", as the beginning of an introduction if there are few problems; otherwise empty.
std::string few_text(const ExperimentOptions& options);

// Runs a method and adds its numbers as PREFIX.delta_kl, .energy, .entropy and .seconds. Returns false if it was
// interrupted.
bool add_outcome(Numbers& numbers, const std::string& prefix, const FactorGraph& graph, const MethodSetting& setting,
                 const MethodRun& run);

// The numbers called `name` of the instances.
std::vector<double> column(const std::vector<const Numbers*>& instances, const std::string& name);

// Two digits. A mean such as -3e-13 is shown as 0.00, not -0.00.
std::string mean_text(double mean);

// "12.34 +- 0.56 (0.02)": mean, standard deviation, standard error.
std::string summary_text(const std::vector<double>& values);

}  // namespace treesample::experiments
