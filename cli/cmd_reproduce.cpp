// treesample reproduce: the paper's tables and figures, with our numbers beside the paper's.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "command.hpp"
#include "experiments/experiment.hpp"
#include "experiments/provenance.hpp"
#include "experiments/tune.hpp"
#include "run_display.hpp"
#include "terminal.hpp"
#include "treesample/error.hpp"
#include "treesample/io/file.hpp"
#include "treesample/model/names.hpp"
#include "treesample/parse_number.hpp"
#include "treesample/text.hpp"

namespace treesample::cli {
namespace {

using experiments::Experiment;

std::vector<std::string> experiment_names() {
  std::vector<std::string> names;
  for (const Experiment& experiment : experiments::all_experiments()) names.push_back(experiment.name);
  return names;
}

std::vector<Reading> parse_readings(const std::string& text) {
  std::vector<Reading> readings;
  for (const std::string& word : split_names(text)) {
    check_argument(word == "letter" || word == "best", "--readings",
                   fmt::format("'{}' is not allowed, allowed are letter and best", word));
    const Reading reading = word == "best" ? Reading::kBest : Reading::kLetter;
    if (std::find(readings.begin(), readings.end(), reading) == readings.end()) readings.push_back(reading);
  }
  return readings;
}

std::vector<double> parse_exploration(const std::string& text) {
  std::vector<double> numbers;
  for (const std::string& word : split_names(text)) {
    const std::optional<double> number = parse_real(word);
    check_argument(number && *number >= 0.0 && std::isfinite(*number), "--c",
                   fmt::format("'{}' is not a number from 0 up", word));
    numbers.push_back(*number);
  }
  return numbers;
}

// The value as one word for a shell.
class ReproduceCommand final : public Command {
 public:
  std::string name() const override { return "reproduce"; }
  std::string summary() const override { return "The paper's tables and figures, our numbers beside the paper's"; }
  std::string examples() const override {
    return "  treesample reproduce table1 --quick                   seconds\n"
           "  treesample reproduce table1 --instances 150           about a minute\n"
           "  treesample reproduce figure1 --out results/figure1    the paper's size; Ctrl-C and go on later\n"
           "  treesample reproduce figure1 --methods smc,tree --c 0.1,0.3,1 --family models/\n"
           "  treesample reproduce table2 --runs 5                  training, hours; Ctrl-C and go on later\n"
           "  treesample reproduce table1 --tune --seed 5           with hyperparameters of its own";
  }
  void declare(CommandLine& line) override;
  int run() override;

 private:
  int run_in_folder(const Experiment& experiment, experiments::ExperimentOptions& options) const;
  bool tune(const Experiment& experiment, experiments::ExperimentOptions& options,
            const experiments::RunControl& control) const;
  [[nodiscard]] std::string command_text(const experiments::ExperimentOptions& options) const;

  std::string experiment_, out_, methods_, readings_ = "letter,best", exploration_, family_, columns_;
  std::int64_t num_instances_ = 0, budget_ = 0, seed_ = 0, num_threads_ = 0, tune_instances_ = 30;
  std::int64_t num_episodes_ = 0;
  bool is_quick_ = false, is_tuned_ = false, is_quiet_ = false;
};

void ReproduceCommand::declare(CommandLine& line) {
  line.choice("EXPERIMENT", experiment_, experiment_names(), "What to reproduce");
  line.option("--instances", num_instances_, 0, 1'000'000, "Random problems per family; 0 is the paper's number");
  line.option("--runs", num_instances_, 0, 1'000'000, "The same for table2: training runs per cell");
  line.option("--episodes", num_episodes_, 0, 1 << 30, "Episodes of a training run (table2); 0 is the paper's number");
  line.option("--methods", methods_, "LIST",
              "Only these, with commas (table1, figure1: see `compare`; table2: smc,ts,exact,ts8,global; ablations, "
              "gflownet: methods and tasks of its CSV file); default all");
  line.option("--readings", readings_, "LIST",
              "Of the paper (table2, figure1 with --methods or --c): letter, best or both");
  line.option("--columns", columns_, "LIST", "Only these columns of table2, such as gnn-20,gnn-12; default all");
  line.option("--c", exploration_, "LIST",
              "Exploration of the tree search, a line for each (figure1), such as 0.1,0.3,1");
  line.option("--family", family_, "NAME|FOLDER", "One of the paper's, or your own models (figure1)");
  line.option("--budget", budget_, 0, 1'000'000'000,
              "Reward evaluations per problem and method (figure1: the largest); 0 is the paper's");
  line.option("--seed", seed_, 0, INT64_MAX, "Seed of everything random");
  line.option("--out", out_, "DIR",
              "Folder for the results, from which an interrupted run resumes; default reproduce-EXPERIMENT[-quick]");
  line.flag("--quick", is_quick_, "Few problems and a small budget: a look in seconds");
  line.flag("--tune", is_tuned_, "First tune the methods on other problems, instead of using the built-in settings");
  line.option("--tune-instances", tune_instances_, 1, 1'000'000, "Problems per family for --tune");
  line.option("--threads", num_threads_, 0, 4096, "Problems worked on at once; 0 is one per core");
  line.flag("--quiet", is_quiet_, "No progress and no remarks on standard error");
}

int ReproduceCommand::run() {
  const Experiment* experiment = nullptr;
  for (const Experiment& one : experiments::all_experiments()) {
    if (one.name == experiment_) experiment = &one;
  }
  if (experiment == nullptr) throw_argument("reproduce", fmt::format("there is no experiment '{}'", experiment_));
  experiments::ExperimentOptions options;
  options.num_instances = is_quick_ ? experiment->quick_instances : experiment->num_instances;
  if (num_instances_ > 0) options.num_instances = static_cast<int>(num_instances_);
  options.budget = is_quick_ ? experiment->quick_budget : experiment->budget;
  if (budget_ > 0) options.budget = budget_;
  check_argument(num_episodes_ == 0 || experiment->num_episodes > 0, "--episodes",
                 fmt::format("{} trains nothing", experiment->name));
  options.num_episodes = is_quick_ ? experiment->quick_episodes : experiment->num_episodes;
  if (num_episodes_ > 0) options.num_episodes = num_episodes_;
  if (!methods_.empty()) options.methods = split_names(methods_);
  check_argument(experiment->name == "table2" || columns_.empty(), "--columns",
                 fmt::format("goes with table2, not with {}", experiment->name));
  if (!columns_.empty()) options.columns = split_names(columns_);
  options.readings = parse_readings(readings_);
  check_argument(experiment->name == "figure1" || (exploration_.empty() && family_.empty()), "--c, --family",
                 fmt::format("go with figure1, not with {}", experiment->name));
  if (!exploration_.empty()) options.exploration = parse_exploration(exploration_);
  options.family = family_;
  options.seed = static_cast<std::uint64_t>(seed_);
  options.folder = out_.empty() ? fmt::format("reproduce-{}{}", experiment->name, is_quick_ ? "-quick" : "") : out_;
  const bool is_new = !std::filesystem::exists(options.folder);
  make_folder(options.folder);
  try {
    return run_in_folder(*experiment, options);
  } catch (const Error&) {
    std::error_code ignored;
    if (is_new) std::filesystem::remove(options.folder, ignored);  // only if it is empty: the options were refused
    throw;
  }
}

int ReproduceCommand::run_in_folder(const Experiment& experiment, experiments::ExperimentOptions& options) const {
  const Interruption interruption;
  Progress progress(is_quiet_);
  const experiments::RunControl control = run_control(progress, static_cast<int>(num_threads_));
  if (is_tuned_ && !tune(experiment, options, control)) return report_interruption(progress, options.folder);
  std::optional<experiments::Report> report = experiment.run(options, control);
  if (!report) return report_interruption(progress, options.folder);
  progress.clear();
  report->introduction = experiments::few_text(options) + report->introduction;
  report->options.emplace_back("command", command_text(options));
  for (auto& line : experiments::provenance()) report->options.push_back(std::move(line));
  report->csv_files.push_back(experiments::instances_csv(experiments::run_file(options)));
  return show_report(*report, options.folder, is_quiet_);
}

// A command line that yields the same numbers. It has all sizes and all choices, but not the output folder or the
// number of threads.
std::string ReproduceCommand::command_text(const experiments::ExperimentOptions& options) const {
  const bool is_trained = options.num_episodes > 0;
  std::string text = fmt::format("treesample reproduce {} --{} {} --budget {} --seed {}", experiment_,
                                 is_trained ? "runs" : "instances", options.num_instances, options.budget, seed_);
  if (is_trained) text += fmt::format(" --episodes {}", options.num_episodes);
  if (is_tuned_) text += fmt::format(" --tune --tune-instances {}", tune_instances_);
  const auto add = [&](const char* name, const std::string& value) {
    const bool is_plain = value.find_first_of(" \t\n'\"\\$`;&|<>()*?[]#~!") == std::string::npos;
    if (!value.empty()) text += fmt::format(" {} {}", name, printable(is_plain ? value : shell_quoted(value)));
  };
  add("--methods", methods_);
  add("--readings", readings_ == "letter,best" ? "" : readings_);
  add("--columns", columns_);
  add("--c", exploration_);
  add("--family", family_);
  return text;
}

// Tunes, and writes the settings to the folder. Returns false if it was interrupted.
bool ReproduceCommand::tune(const Experiment& experiment, experiments::ExperimentOptions& options,
                            const experiments::RunControl& control) const {
  const std::optional<std::string> text = experiments::tune({.budget = options.budget,
                                                             .seed = options.seed,
                                                             .num_instances = static_cast<int>(tune_instances_),
                                                             .problems = experiment.problems,
                                                             .methods = options.methods},
                                                            options.folder / "tune.sqlite", control);
  if (!text) return false;
  const std::filesystem::path file = options.folder / "hyperparameters.txt";
  write_file_atomically(file, *text);
  options.hyperparameters = experiments::Hyperparameters(*text, file.string());
  return true;
}

}  // namespace

std::unique_ptr<Command> make_reproduce_command() { return std::make_unique<ReproduceCommand>(); }

}  // namespace treesample::cli
