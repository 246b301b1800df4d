// Why search on top of a corrected Q_phi adds little, and what was tried against it. On the column gnn-20 of Table 2.
//
// A search with B evaluations knows the true values of the leaves that it reached, and nothing of all others: there P_X
// continues with Q_phi. If these leaves have the share m of Z, and Q_phi elsewhere is KL_q from the target, no values
// of the search's nodes can give less than
//
//   KL >= -log(m + (1 - m) exp(-KL_q))
//
// KL_q is here that of the whole corrected Q_phi at the usual budget, which pays for most of its samples; a larger
// budget pays for all of them, and its bound is then a little too high.
#include <fmt/format.h>

#include <cmath>

#include "experiments/experiment.hpp"
#include "experiments/run_instances.hpp"
#include "experiments/statistics.hpp"
#include "search_share.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/tree/evaluated_mass.hpp"
#include "treesample/value/corrected_value.hpp"
#include "treesample/value/telescoped_value.hpp"
#include "unit_run.hpp"

namespace treesample::experiments {
namespace {

constexpr int kNumTestGraphs = 24;
constexpr int kNumSamples = 512;

using TestProblem = std::shared_ptr<const treesample::Problem>;
using Value = std::shared_ptr<const LeafValue>;

struct Way {
  const char* word;
  const char* title;
  double budgets = 1.0;  // of the usual one
  bool has_search = true;
  int most_samples = 200;
  double correcting = 0.8;
  double c = EpisodeOptions{}.c;
  BonusScale bonus = BonusScale::kQPhi;
  std::optional<double> trust = {};  // in place of the fitted one
  bool is_relearned = false;
};

const Way kWays[] = {
    {.word = "corrected", .title = "corrected by samples, no search", .has_search = false},
    {.word = "telescoped", .title = "the same, and search"},
    {.word = "greedy", .title = "search with c = 0", .c = 0.0},
    {.word = "wide", .title = "search with c = 0.5", .c = 0.5},
    {.word = "level", .title = "c by level: 0.1 (N - n) log K", .bonus = BonusScale::kLogStates},
    {.word = "level-small", .title = "c by level: 0.01 (N - n) log K", .c = 0.01, .bonus = BonusScale::kLogStates},
    {.word = "trust-0", .title = "values between levels: trust 0", .trust = 0.0},
    {.word = "trust-0.1", .title = "values between levels: trust 0.1", .trust = 0.1},
    {.word = "trust-0.5", .title = "values between levels: trust 0.5", .trust = 0.5},
    {.word = "relearned", .title = "corrections learned again from the tree, and a new search", .is_relearned = true},
    {.word = "samples",
     .title = "the whole budget for samples, no search",
     .has_search = false,
     .most_samples = 1 << 16,
     .correcting = 1.0},
    {.word = "telescoped-4", .title = "4 times the budget, all of it for the search", .budgets = 4.0},
    {.word = "samples-4",
     .title = "4 times the budget for samples, no search",
     .budgets = 4.0,
     .has_search = false,
     .most_samples = 1 << 16,
     .correcting = 1.0},
    {.word = "telescoped-16", .title = "16 times the budget, all of it for the search", .budgets = 16.0},
};

double kl_of(const treesample::Problem& problem, const TreeApproximation& approximation, double log_z,
             std::uint64_t seed) {
  Random random(seed, "cures");
  return mean_delta_kl(problem, approximation, kNumSamples, random) + log_z;
}

// Corrections of `of` from samples of the tree, most of which it has evaluated. Their densities are not charged: it is
// more than an implementation could have.
Value relearned(const treesample::Problem& problem, const Value& of, const TreeApproximation& tree,
                std::uint64_t seed) {
  Random random(seed, "relearned");
  const TreeApproximation::SampleBatch batch = tree.sample_batch(kMostCorrectingSamples, random);
  const auto width = static_cast<std::size_t>(problem.graph.num_variables());
  const std::size_t count = batch.log_probs.size();
  std::vector<std::vector<double>> xi(count);
  std::vector<double> log_weights(count);
  std::vector<double> q;
  for (std::size_t i = 0; i < count; ++i) {
    log_weights[i] = problem.graph.log_density(std::span(batch.states).subspan(i * width, width));
  }
  for (int n = 0; n < problem.space.num_levels(); ++n) {
    const Level& level = problem.space.levels[n];
    const auto k = static_cast<std::size_t>(level.num_states);
    q.resize(count * k);
    of->q_values(n, batch.states, static_cast<int>(count), q);
    for (std::size_t i = 0; i < count; ++i) {
      const std::span<double> p = std::span(q).subspan(i * k, k);
      softmax(p, p);
      const int state = batch.states[i * width + static_cast<std::size_t>(level.variable)];
      log_weights[i] -= std::log(p[state]);
      for (std::size_t a = 0; a < k; ++a) xi[i].push_back((static_cast<int>(a) == state ? 1.0 : 0.0) - p[a]);
    }
  }
  std::vector<Innovations> rows;
  for (std::size_t i = 0; i < count; ++i) {
    if (std::isfinite(log_weights[i])) rows.push_back({xi[i], log_weights[i]});
  }
  return std::make_shared<CorrectedValue>(problem.space, of, fit_shifts(problem.space, rows));
}

struct Result {
  double kl = 0.0;
  double share = 0.0;  // of Z: the leaves that were evaluated
};

Result run_way(const treesample::Problem& problem, const Value& network, const Way& way, std::int64_t usual_budget,
               double log_z, std::uint64_t seed) {
  const auto budget = static_cast<std::int64_t>(way.budgets * static_cast<double>(usual_budget));
  RootSamplesOptions samples{.count = way.most_samples, .correcting = way.correcting};
  if (!way.has_search && way.correcting == 1.0) samples.share = 1.0;
  Telescoped made =
      telescope(problem.graph, problem.space, network, Budget(budget, BudgetUnit::kReward), samples, seed);
  if (way.trust) {
    made.calibration.trust = *way.trust;
    made.value = std::make_shared<TelescopedValue>(problem.space, made.value, made.calibration);
  }
  TreeSearchOptions options{.c = way.c, .bonus = way.bonus, .ties = TieRule::kRandom, .seed = seed};
  Limits limits{.budget = 0};
  if (way.has_search) {
    options.known = made.known;
    limits.budget = budget - made.spent.reward_evaluations;
  }
  TreeSearchResult found = tree_sample(problem.graph, problem.space, {.estimate = made.value}, limits, options);
  if (way.is_relearned) {
    const Value again = std::make_shared<TelescopedValue>(
        problem.space, relearned(problem, made.value, found.approximation, seed), made.calibration);
    found = tree_sample(problem.graph, problem.space, {.estimate = again}, limits, options);
  }
  return {kl_of(problem, found.approximation, log_z, seed),
          way.has_search ? std::exp(log_evaluated_mass(found.approximation, problem.graph) - log_z) : 0.0};
}

TrainingUnit unit_of(int run) {
  for (const Trainer& trainer : table2_trainers()) {
    if (trainer.word == "ts") return {&training_column("gnn-20"), &trainer, Reading::kBest, run};
  }
  return {};
}

std::optional<Numbers> run_one(const TrainingSize& size, int run, const RunControl& control) {
  TrainOptions options = train_options(unit_of(run), size);
  options.assess_every = 0;
  const TrainReport report = train(options, [&](const EpisodeRecord&) { return !control.is_interrupted(); });
  if (!report.is_finished) return std::nullopt;
  ProblemOptions problems = options.problems;
  problems.seed = options.seed;
  ProblemSource source(problems);
  source.plan_for(*report.network);
  Numbers numbers;
  for (int i = 0; i < kNumTestGraphs; ++i) {
    if (control.is_interrupted()) return std::nullopt;
    const TestProblem problem = source.problem(kFirstTestProblem + static_cast<std::uint64_t>(i));
    const double log_z = Elimination(problem->graph, {.threads = 1}).log_z();
    const auto network = std::make_shared<NetworkValue>(report.network, problem->plan, problem->graph, problem->space);
    const std::uint64_t seed = Random(options.seed, fmt::format("cures/{}", i)).bits();
    const TreeSearchResult alone = tree_sample(problem->graph, problem->space, {.estimate = network}, {.budget = 0});
    numbers["alone.kl"] += kl_of(*problem, alone.approximation, log_z, seed) / kNumTestGraphs;
    double corrected = 0.0;
    for (const Way& way : kWays) {
      const Result result = run_way(*problem, network, way, size.budget, log_z, seed);
      if (std::string(way.word) == "corrected") corrected = result.kl;
      const double least = -std::log(result.share + (1.0 - result.share) * std::exp(-corrected));
      numbers[fmt::format("{}.kl", way.word)] += result.kl / kNumTestGraphs;
      numbers[fmt::format("{}.share", way.word)] += result.share / kNumTestGraphs;
      numbers[fmt::format("{}.least_kl", way.word)] += least / kNumTestGraphs;
    }
  }
  return numbers;
}

}  // namespace

std::optional<Report> run_cures(const ExperimentOptions& options, const RunControl& control) {
  const TrainingSize size = size_of(options);
  std::vector<std::string> keys;
  for (int run = 0; run < options.num_instances; ++run) keys.push_back(fmt::format("cures/{}", run));
  Fingerprint fingerprint = shown_training("cures", size);
  RunStore store(run_file(options), fingerprint);
  const auto all = run_instances(
      store, keys, [&](int run) { return run_one(size, run, control); }, control);
  if (!all) return std::nullopt;
  std::vector<const Numbers*> runs;
  for (const Numbers& numbers : *all) runs.push_back(&numbers);
  Table table{
      .title = "What search adds to a corrected Q_phi",
      .header = {"", "KL", "less corrected, no search (se)", "share of Z evaluated", "least KL with that share"},
      .remark =
          "Mean over runs, of 24 test graphs each. The least KL is what the share of Z that was evaluated "
          "allows at best, whatever the values of the nodes; Q_phi elsewhere is the corrected one."};
  CsvFile csv{"cures", "way,run,kl,share,least_kl\n"};
  const std::vector<double> base = column(runs, "corrected.kl");
  table.rows.push_back({"Q_phi alone", fmt::format("{:.3f}", summarize(column(runs, "alone.kl")).mean), "", "", ""});
  for (std::size_t r = 0; r < runs.size(); ++r) csv.text += fmt::format("alone,{},{},,\n", r, runs[r]->at("alone.kl"));
  for (const Way& way : kWays) {
    const auto numbers = [&](const char* name) { return column(runs, fmt::format("{}.{}", way.word, name)); };
    const std::vector<double> kl = numbers("kl"), share = numbers("share"), least = numbers("least_kl");
    std::vector<double> less = kl;
    for (std::size_t r = 0; r < less.size(); ++r) less[r] -= base[r];
    const Summary difference = summarize(less);
    table.rows.push_back({way.title, fmt::format("{:.3f}", summarize(kl).mean),
                          fmt::format("{:+.3f} ({:.3f})", difference.mean, difference.error),
                          way.has_search ? fmt::format("{:.3f}", summarize(share).mean) : "-",
                          way.has_search ? fmt::format("{:.3f}", summarize(least).mean) : "-"});
    for (std::size_t r = 0; r < runs.size(); ++r) {
      csv.text += fmt::format("{},{},{},{},{}\n", way.word, r, kl[r], share[r], least[r]);
    }
  }
  Report report{.title = "Table 2: why search adds little to a corrected Q_phi"};
  report.introduction = fmt::format(
      "{} networks of the column gnn-20, best reading, {} episodes each; {} graphs that they were not trained on, {} "
      "reward evaluations.",
      options.num_instances, size.num_episodes, kNumTestGraphs, size.budget);
  report.options = shown_training("cures", size);
  report.options.emplace_back("runs", fmt::format("{}", options.num_instances));
  report.tables = {table};
  report.csv_files = {csv};
  return report;
}

}  // namespace treesample::experiments
