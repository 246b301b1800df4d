#include "training_units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <utility>

#include "experiment.hpp"
#include "search_share.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/math/random.hpp"

namespace treesample::experiments {
namespace {

constexpr std::int64_t kMaxBlocks = 40;

constexpr double kBellmanWeight = 1.0;
constexpr int kGlobalAfter = 2;

// The mean of the values that were measured; +inf, which cannot be mistaken for a good result, if there were none.
class Mean {
 public:
  void add(const std::optional<double>& value) {
    if (!value) return;
    sum_ += *value;
    ++count_;
  }
  [[nodiscard]] bool is_empty() const { return count_ == 0; }
  [[nodiscard]] double value() const { return count_ > 0 ? sum_ / count_ : std::numeric_limits<double>::infinity(); }

 private:
  double sum_ = 0.0;
  int count_ = 0;
};

struct Means {
  Mean search, phi, telescoped, plain, log_z, residual, loss;
  void add(const EpisodeRecord& record) {
    search.add(record.measured.delta_kl);
    phi.add(record.measured.delta_kl_phi);
    telescoped.add(record.measured.delta_kl_telescoped);
    plain.add(record.measured.delta_kl_plain);
    log_z.add(record.measured.log_z);
    residual.add(record.measured.bellman_residual);
    loss.add(record.loss);
  }
};

// Processor time of this thread, because a unit shares its machine with others.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

bool is_in_window(std::int64_t episode, const TrainingSize& size) { return episode > size.num_episodes / 2; }

// What a gain of the search consists of, in every second measured episode of the window, less the network alone in the
// same episode. A deterministic run measures in the order of its episodes.
struct ShareMeans {
  Mean corrected, uncorrected, samples;
  std::int64_t num_measured = 0;
  std::optional<SearchShare> newest = {};  // of the episode that is being measured

  [[nodiscard]] std::function<void(const treesample::Problem&, const std::shared_ptr<const Network>&, std::uint64_t)>
  hook(const TrainOptions& options, const TrainingSize& size) {
    return [this, episode = options.episode, size](const treesample::Problem& test,
                                                   const std::shared_ptr<const Network>& network, std::uint64_t seed) {
      const std::int64_t number = ++num_measured * size.assess_every();
      if (is_in_window(number, size) && num_measured % 2 == 0) newest = search_share(test, network, episode, seed);
    };
  }
  void add(const EpisodeRecord& record) {
    const std::optional<SearchShare> share = std::exchange(newest, std::nullopt);
    const std::optional<double>& phi = record.measured.delta_kl_phi;
    if (!share || !phi) return;
    corrected.add(share->corrected - *phi);
    uncorrected.add(share->uncorrected - *phi);
    samples.add(share->samples - *phi);
  }
};

std::optional<Numbers> run_network(const TrainingUnit& unit, const TrainingSize& size,
                                   const std::function<bool()>& keep_going) {
  Means window;
  ShareMeans shares;
  std::vector<Means> blocks(num_blocks(size));
  TrainOptions options = train_options(unit, size);
  const bool is_search = unit.trainer->method == InferenceMethod::kTree;
  if (is_search) options.also_measure = shares.hook(options, size);
  const TrainReport report = train(options, [&](const EpisodeRecord& record) {
    if (is_in_window(record.episode, size)) window.add(record);
    shares.add(record);
    blocks[block_of(record.episode, size)].add(record);
    return keep_going();
  });
  if (!report.is_finished) return std::nullopt;
  Numbers numbers = {{"search", window.search.value()}, {"phi", window.phi.value()},
                     {"plain", window.plain.value()},   {"log_z", window.log_z.value()},
                     {"loss", window.loss.value()},     {"residual", window.residual.value()}};
  if (is_search) numbers["telescoped"] = window.telescoped.value();
  if (!shares.corrected.is_empty()) {
    numbers["corrected"] = window.phi.value() + shares.corrected.value();
    numbers["uncorrected"] = window.phi.value() + shares.uncorrected.value();
    numbers["samples"] = window.phi.value() + shares.samples.value();
  }
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const double plain = blocks[b].plain.value();
    numbers[fmt::format("search.{:02}", b)] = blocks[b].search.value() - plain;
    numbers[fmt::format("phi.{:02}", b)] = blocks[b].phi.value() - plain;
    if (is_search) numbers[fmt::format("telescoped.{:02}", b)] = blocks[b].telescoped.value() - plain;
    numbers[fmt::format("loss.{:02}", b)] = blocks[b].loss.value();
  }
  return numbers;
}

// There are as many repetitions as the window of a training run has episodes, each with other random choices.
std::optional<Numbers> run_without_network(const TrainingUnit& unit, const TrainingSize& size,
                                           const std::function<bool()>& keep_going) {
  const TrainOptions options = train_options(unit, size);
  ProblemOptions problems = options.problems;
  problems.seed = options.seed;
  const std::shared_ptr<const treesample::Problem> problem = ProblemSource(problems).problem(0);
  EpisodeOptions search = options.episode;
  search.c = options.plain_c;
  EpisodeOptions smc = options.episode;
  smc.method = InferenceMethod::kSmc;
  Mean plain_mean;
  Mean smc_mean;
  for (std::int64_t i = 1; i <= size.num_episodes; ++i) {
    if (is_in_window(i, size) && i % size.assess_every() == 0) {
      const std::uint64_t seed = Random(options.seed, fmt::format("none/{}", i)).bits();
      plain_mean.add(plain_delta_kl(*problem, search, seed));
      smc_mean.add(run_episode(problem, nullptr, smc, seed).delta_kl);
    }
    if (!keep_going()) return std::nullopt;
  }
  return Numbers{{"plain", plain_mean.value()},
                 {"smc", smc_mean.value()},
                 {"log_z", Elimination(problem->graph, {.threads = 1}).log_z()}};
}

}  // namespace

const std::vector<TrainingColumn>& training_columns() {
  static const std::vector<TrainingColumn> columns = {
      {"mlp-single", "MLP, single graph", "mlp", true, 20}, {"gnn-single", "GNN, single graph", "gnn", true, 20},
      {"gnn-20", "GNN, N_train 20", "gnn", false, 20},      {"gnn-12", "GNN, N_train 12", "gnn", false, 12},
      {"gnn-16", "GNN, N_train 16", "gnn", false, 16},      {"gnn-24", "GNN, N_train 24", "gnn", false, 24},
  };
  return columns;
}

const TrainingColumn& training_column(const std::string& word) {
  for (const TrainingColumn& column : training_columns()) {
    if (column.word == word) return column;
  }
  throw_argument("training_column", fmt::format("there is no column '{}'", word));
}

const std::vector<Trainer>& table2_trainers() {
  static const std::vector<Trainer> trainers = {
      {.word = "smc", .title = "SMC", .method = InferenceMethod::kSmc},
      {.word = "ts", .title = "TS"},
      {.word = "exact", .title = "exact values", .targets = TargetKind::kExact},
      {.word = "ts8", .title = "TS, 8 iterations", .iterations = 8, .is_for_mlp = false},
      {.word = "global", .title = "TS, global value", .global_after = kGlobalAfter, .is_for_mlp = false},
  };
  return trainers;
}

const std::vector<Trainer>& ablation_trainers() {
  static const std::vector<Trainer> trainers = {
      {.word = "base", .title = "as in the paper"},
      {.word = "units", .title = "4 layers of 384", .hidden = std::vector<int>(4, 384), .is_for_gnn = false},
      {.word = "layers", .title = "6 layers of 256", .hidden = std::vector<int>(6, 256), .is_for_gnn = false},
      {.word = "iterations-2", .title = "2 iterations", .iterations = 2, .is_for_mlp = false},
      {.word = "iterations-8", .title = "8 iterations", .iterations = 8, .is_for_mlp = false},
      {.word = "policy", .title = "loss policy", .loss = Loss::kPolicy},
      {.word = "bellman", .title = "Bellman residual in the loss", .bellman_weight = kBellmanWeight},
      {.word = "global", .title = "global value", .global_after = kGlobalAfter, .is_for_mlp = false},
      {.word = "global-bellman",
       .title = "global value, Bellman residual in the loss",
       .bellman_weight = kBellmanWeight,
       .global_after = kGlobalAfter,
       .is_for_20_alone = true},
      {.word = "exact", .title = "exact targets", .targets = TargetKind::kExact},
      {.word = "exact-policy",
       .title = "exact targets, loss policy",
       .targets = TargetKind::kExact,
       .loss = Loss::kPolicy,
       .is_for_20_alone = true},
      {.word = "exact-global",
       .title = "exact targets, global value",
       .targets = TargetKind::kExact,
       .global_after = kGlobalAfter,
       .is_for_mlp = false},
      {.word = "exact-global-policy",
       .title = "exact targets, global value, loss policy",
       .targets = TargetKind::kExact,
       .loss = Loss::kPolicy,
       .global_after = kGlobalAfter,
       .is_for_20_alone = true},
      // The values tried in the tuning of section 4.2.
      {.word = "c-0.03", .title = "c = 0.03", .c = 0.03, .is_for_20_alone = true},
      {.word = "c-0.3", .title = "c = 0.3", .c = 0.3, .is_for_20_alone = true},
      {.word = "c-1", .title = "c = 1", .c = 1.0, .is_for_20_alone = true},
      {.word = "steps-4", .title = "4 learner steps per episode", .steps_per_episode = 4, .is_for_20_alone = true},
      {.word = "steps-64", .title = "64 learner steps per episode", .steps_per_episode = 64, .is_for_20_alone = true},
  };
  return trainers;
}

bool goes_with(const Trainer& trainer, const TrainingColumn& column) {
  if (trainer.is_for_20_alone && column.word != "gnn-20") return false;
  return column.architecture == "mlp" ? trainer.is_for_mlp : trainer.is_for_gnn;
}

std::string key_of(const TrainingUnit& unit) {
  const char* const reading = unit.reading == Reading::kBest ? "best" : "letter";
  if (unit.column == nullptr) return fmt::format("{}/none/{}", reading, unit.run);
  return fmt::format("{}/{}/{}/{}", reading, unit.column->word, unit.trainer->word, unit.run);
}

std::vector<TrainingUnit> training_units(int num_runs, const std::vector<Reading>& readings,
                                         const std::vector<const Trainer*>& trainers,
                                         const std::vector<std::string>& chosen_columns) {
  std::vector<TrainingUnit> units;
  for (int run = 0; run < num_runs; ++run) {
    for (const Reading reading : readings) {
      for (const TrainingColumn& column : training_columns()) {
        for (const Trainer* const trainer : trainers) {
          if (goes_with(*trainer, column) && is_chosen(chosen_columns, column.word))
            units.push_back({&column, trainer, reading, run});
        }
      }
      units.push_back({.reading = reading, .run = run});
    }
  }
  return units;
}

TrainOptions train_options(const TrainingUnit& unit, const TrainingSize& size) {
  TrainOptions options{
      .num_episodes = size.num_episodes, .is_deterministic = true, .assess_every = size.assess_every()};
  options.episode.budget = size.budget;
  options.problems.reading = unit.reading;
  if (unit.trainer != nullptr) {
    options.episode.method = unit.trainer->method;
    options.episode.targets = unit.trainer->targets;
    options.learner.loss = unit.trainer->loss;
    options.learner.bellman_weight = unit.trainer->bellman_weight;
    options.learner.iterations = unit.trainer->iterations;
    options.learner.global_after = unit.trainer->global_after;
    options.learner.hidden = unit.trainer->hidden;
    options.episode.c = unit.trainer->c;
    options.steps_per_episode = unit.trainer->steps_per_episode;
  }
  options.seed = Random(size.seed, fmt::format("table2/{}", unit.run)).bits();
  const int num_variables = unit.column == nullptr ? kTestVariables : unit.column->num_variables;
  options.problems.values["n"] = num_variables;
  options.problems.is_single_graph = unit.column == nullptr || unit.column->is_single_graph;
  if (unit.column != nullptr) options.learner.architecture = unit.column->architecture;
  // If the sizes are equal, every episode's problem is new, and is itself the test problem, as in the paper.
  if (num_variables != kTestVariables) options.test_n = kTestVariables;
  return options;
}

int num_blocks(const TrainingSize& size) { return static_cast<int>(std::min(size.num_episodes, kMaxBlocks)); }

int block_of(std::int64_t episode, const TrainingSize& size) {
  return static_cast<int>((episode - 1) * num_blocks(size) / size.num_episodes);
}

std::optional<Numbers> run_training_unit(const TrainingUnit& unit, const TrainingSize& size,
                                         const std::function<bool()>& keep_going) {
  const double start = cpu_seconds();
  std::optional<Numbers> numbers =
      unit.column == nullptr ? run_without_network(unit, size, keep_going) : run_network(unit, size, keep_going);
  if (numbers) (*numbers)["seconds"] = cpu_seconds() - start;
  return numbers;
}

}  // namespace treesample::experiments
