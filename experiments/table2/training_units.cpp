#include "training_units.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <limits>

#include "treesample/math/random.hpp"

namespace treesample::experiments {
namespace {

constexpr std::int64_t kMaxBlocks = 40;

// Mean of what was measured; +inf, which no comparison mistakes for a good result, when nothing was.
class Mean {
 public:
  void add(const std::optional<double>& value) {
    if (!value) return;
    sum_ += *value;
    ++count_;
  }
  [[nodiscard]] double value() const { return count_ > 0 ? sum_ / count_ : std::numeric_limits<double>::infinity(); }

 private:
  double sum_ = 0.0;
  int count_ = 0;
};

struct Means {
  Mean search, phi, plain;
  void add(const EpisodeRecord& record) {
    search.add(record.measured.delta_kl);
    phi.add(record.measured.delta_kl_phi);
    plain.add(record.measured.delta_kl_plain);
  }
};

// Of this thread: a unit shares its machine with others.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

bool is_in_window(std::int64_t episode, const TrainingSize& size) { return episode > size.num_episodes / 2; }

std::optional<Numbers> run_network(const TrainingUnit& unit, const TrainingSize& size,
                                   const std::function<bool()>& keep_going) {
  Means window;
  std::vector<Means> blocks(num_blocks(size));
  const TrainReport report = train(train_options(unit, size), [&](const EpisodeRecord& record) {
    if (is_in_window(record.episode, size)) window.add(record);
    blocks[block_of(record.episode, size)].add(record);
    return keep_going();
  });
  if (!report.is_finished) return std::nullopt;
  Numbers numbers = {{"search", window.search.value()}, {"phi", window.phi.value()}, {"plain", window.plain.value()}};
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    numbers[fmt::format("search.{:02}", b)] = blocks[b].search.value() - blocks[b].plain.value();
    numbers[fmt::format("phi.{:02}", b)] = blocks[b].phi.value() - blocks[b].plain.value();
  }
  return numbers;
}

// As many repetitions as the window of a training run has episodes, with other random choices each.
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
    if (is_in_window(i, size)) {
      const std::uint64_t seed = Random(options.seed, fmt::format("none/{}", i)).bits();
      plain_mean.add(plain_delta_kl(*problem, search, seed));
      smc_mean.add(run_episode(problem, nullptr, smc, seed).delta_kl);
    }
    if (!keep_going()) return std::nullopt;
  }
  return Numbers{{"plain", plain_mean.value()}, {"smc", smc_mean.value()}};
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

std::string key_of(const TrainingUnit& unit) {
  if (unit.column == nullptr) return fmt::format("none/{}", unit.run);
  return fmt::format("{}/{}/{}", unit.column->word, unit.method == InferenceMethod::kSmc ? "smc" : "ts", unit.run);
}

std::vector<TrainingUnit> training_units(int num_runs) {
  std::vector<TrainingUnit> units;
  for (int run = 0; run < num_runs; ++run) {
    for (const TrainingColumn& column : training_columns()) {
      units.push_back({&column, InferenceMethod::kTreeSample, run});
      units.push_back({&column, InferenceMethod::kSmc, run});
    }
    units.push_back({.run = run});
  }
  return units;
}

TrainOptions train_options(const TrainingUnit& unit, const TrainingSize& size) {
  TrainOptions options;
  options.is_deterministic = true;
  options.num_episodes = size.num_episodes;
  options.episode.budget = size.budget;
  options.episode.method = unit.method;
  options.seed = Random(size.seed, fmt::format("table2/{}", unit.run)).bits();
  const int num_variables = unit.column == nullptr ? kTestVariables : unit.column->num_variables;
  options.problems.values["n"] = num_variables;
  options.problems.is_single_graph = unit.column == nullptr || unit.column->is_single_graph;
  if (unit.column != nullptr) options.learner.architecture = unit.column->architecture;
  // At the same size every episode's problem is new: it is the test problem, as in the paper.
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
