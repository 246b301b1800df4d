// What `treesample reproduce` can run: one entry per table or figure of the paper, or of docs/methods.
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
  std::int64_t budget = 10'000;   // the largest one, where several are compared
  std::int64_t num_episodes = 0;  // of a training run; only where something is trained
  std::uint64_t seed = 0;
  Hyperparameters hyperparameters = Hyperparameters::built_in();
  std::vector<std::string> methods = {};  // those to compare; empty: all
  std::vector<Reading> readings = {Reading::kLetter, Reading::kBest};
  // Of figure1: exploration of the tree search, one line each, in the place of the tuned one; one of the paper's
  // families or a folder of models, in the place of CHAIN.
  std::vector<double> exploration = {};
  std::string family = {};
  std::filesystem::path folder;  // must exist; finished instances are kept there
};

struct Experiment {
  std::string name;
  std::string summary;
  int num_instances;  // the paper's size
  std::int64_t budget;
  int quick_instances;  // a few seconds
  std::int64_t quick_budget;
  std::vector<Problem> problems;  // those whose hyperparameters it needs
  // None when interrupted; the same call goes on where it was.
  std::optional<Report> (*run)(const ExperimentOptions&, const RunControl&);
  // Of a training run; 0 where nothing is trained.
  std::int64_t num_episodes = 0;
  std::int64_t quick_episodes = 0;
};

const std::vector<Experiment>& all_experiments();

std::optional<Report> run_table1(const ExperimentOptions& options, const RunControl& control);
std::optional<Report> run_figure1(const ExperimentOptions& options, const RunControl& control);
std::optional<Report> run_depth(const ExperimentOptions& options, const RunControl& control);
std::optional<Report> run_functions(const ExperimentOptions& options, const RunControl& control);
std::optional<Report> run_memory(const ExperimentOptions& options, const RunControl& control);
std::optional<Report> run_calls(const ExperimentOptions& options, const RunControl& control);
std::optional<Report> run_annealing(const ExperimentOptions& options, const RunControl& control);
std::optional<Report> run_reliability(const ExperimentOptions& options, const RunControl& control);
std::optional<Report> run_table2(const ExperimentOptions& options, const RunControl& control);
std::optional<Report> run_ablations(const ExperimentOptions& options, const RunControl& control);

// What the runners share.

// Is a word among the chosen ones? All are when none is named.
bool is_chosen(const std::vector<std::string>& chosen, const std::string& word);
// The contenders that are chosen. Throws Error (kArgument) for a word that is none.
std::vector<Contender> chosen_contenders(const ExperimentOptions& options);
// Throws Error (kArgument) for a chosen word that is none of the allowed.
void check_chosen(const char* option, const std::vector<std::string>& chosen, const std::vector<std::string>& allowed);

// Those of the ascending numbers that are at most the largest one; the largest one alone where all are above it.
std::vector<std::int64_t> steps_up_to(std::span<const std::int64_t> steps, std::int64_t largest);
// Those below the largest one, and it.
std::vector<std::int64_t> budgets_up_to(std::span<const std::int64_t> budgets, std::int64_t largest);

// The run's file in the options' folder. The number of instances is no part of the fingerprint: a run can be
// extended.
Fingerprint fingerprint_of(const std::string& experiment, const ExperimentOptions& options);
std::filesystem::path run_file(const ExperimentOptions& options);
// For the report: fingerprint, number of instances, budget unit.
std::vector<std::pair<std::string, std::string>> report_options(const std::string& experiment,
                                                                const ExperimentOptions& options);

// "3 problems: not meaningful. " in front of an introduction where there are few, else nothing.
std::string few_text(const ExperimentOptions& options);

// Runs a method and adds its numbers as PREFIX.delta_kl, .energy, .entropy and .seconds; false when
// interrupted.
bool add_outcome(Numbers& numbers, const std::string& prefix, const FactorGraph& graph, const MethodSetting& setting,
                 const MethodRun& run);

// The numbers called `name` of the instances.
std::vector<double> column(const std::vector<const Numbers*>& instances, const std::string& name);

// Two digits; a mean such as -3e-13 is 0.00, not -0.00.
std::string mean_text(double mean);

// "12.34 +- 0.56 (0.02)": mean, standard deviation, standard error.
std::string summary_text(const std::vector<double>& values);

}  // namespace treesample::experiments
