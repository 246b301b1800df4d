// The paper's families with all factors hidden in one function over all variables, answered with few calls.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiment.hpp"
#include "plot.hpp"
#include "run_cases.hpp"
#include "statistics.hpp"
#include "treesample/evaluate/divergence.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/exact/max_product.hpp"

namespace treesample::experiments {
namespace {

constexpr std::int64_t kCalls[] = {100, 300, 1'000, 3'000};
constexpr int kKlSamples = 10'000;

// One thread, because each problem has its own.
Limits limits_of(std::int64_t calls) { return {.calls = calls, .threads = 1}; }

struct Sampler {
  const char* word;
  const char* title;
  InferOptions options;
};
const std::vector<Sampler>& samplers() {
  static const std::vector<Sampler> list = {{"learned", "learned model", {.method = Method::kLearned}},
                                            {"mass",
                                             "search without one",
                                             {.method = Method::kSearch,
                                              .select = SelectRule::kMass,
                                              .space = SpaceKind::kTree,
                                              .order = OrderKind::kGiven}}};
  return list;
}

struct Optimiser {
  const char* word;
  const char* title;
  Method method;
};
constexpr Optimiser kOptimisers[] = {{"best.learned", "learned model, --question best", Method::kLearned},
                                     {"best.frequencies", "frequencies of the best quarter", Method::kFrequencies},
                                     {"best.metropolis", "Metropolis", Method::kMetropolis}};

std::string name_of(const char* word, std::int64_t calls) { return fmt::format("{}.{}", word, calls); }

FactorGraph hidden(const FactorGraph& model) {
  FactorGraph graph;
  std::vector<int> scope;
  for (int v = 0; v < model.num_variables(); ++v) scope.push_back(graph.add_variable(model.num_states(v)));
  graph.add_factor(Factor::function(scope, [model](std::span<const int> x) { return model.log_density(x); }));
  return graph;
}

void add_answer(Numbers& numbers, const std::string& name, const Answer& answer, const FactorGraph& graph,
                double log_z) {
  Random random(answer.plan.request.options.seed, "evaluate");
  numbers[name + ".kl"] = log_z + sampled_divergence(graph, *answer.approximation, kKlSamples, random).delta_kl;
  numbers[name + ".seconds"] = answer.seconds;
  numbers[name + ".log_z_error"] = std::abs(*answer.log_z - log_z);
  const bool has_error = answer.sampled_interval.has_value();
  numbers[name + ".has_error"] = has_error ? 1.0 : 0.0;
  const bool is_covered =
      has_error && answer.sampled_interval->log_z.lower <= log_z && log_z <= answer.sampled_interval->log_z.upper;
  numbers[name + ".covers"] = is_covered ? 1.0 : 0.0;
}

std::optional<Numbers> run_problem(const ExperimentOptions& options, const std::string& family, int instance,
                                   const RunControl& control) {
  const FactorGraph model = problem_model({family, Reading::kLetter}, options.seed, instance);
  const FactorGraph graph = hidden(model);
  const double log_z = Elimination(model, {}, {.goal = EliminationGoal::kLogZ}).log_z();
  const double best = most_probable(model)->configuration.log_density;
  const auto seed = static_cast<std::uint64_t>(instance);
  Numbers numbers;
  for (const std::int64_t calls : steps_up_to(kCalls, options.budget)) {
    for (const Sampler& sampler : samplers()) {
      InferOptions chosen = sampler.options;
      chosen.seed = seed;
      chosen.importance = 0;
      const Answer answer =
          infer(graph, {.best = false}, limits_of(calls), chosen, {.should_stop = control.is_interrupted});
      if (answer.stop == StopReason::kInterrupted) return std::nullopt;
      add_answer(numbers, name_of(sampler.word, calls), answer, graph, log_z);
    }
    for (const Optimiser& optimiser : kOptimisers) {
      const Answer answer = infer(graph, {.aim = Aim::kBest}, limits_of(calls),
                                  {.method = optimiser.method, .seed = seed}, {.should_stop = control.is_interrupted});
      if (answer.stop == StopReason::kInterrupted) return std::nullopt;
      numbers[name_of(optimiser.word, calls)] = best - (answer.best ? answer.best->log_density : -HUGE_VAL);
    }
  }
  return numbers;
}

// One row for each family and each way of choosing calls.
Table table_of(const CaseRuns& results, const std::vector<std::int64_t>& calls, const std::string& title,
               const std::vector<std::pair<std::string, std::string>>& ways, const std::string& what) {
  Table table{.title = title, .header = {"family", "method"}};
  for (const std::int64_t count : calls) table.header.push_back(fmt::format("{} calls", count));
  for (const std::string& family : kPaperFamilies) {
    for (const auto& [word, way] : ways) {
      std::vector<std::string> row{family, way};
      for (const std::int64_t count : calls) {
        const Summary summary = summarize(column(results.at(family), name_of(word.c_str(), count) + what));
        row.push_back(fmt::format("{:.3f} ({:.3f})", summary.mean, summary.error));
      }
      table.rows.push_back(row);
    }
  }
  table.remark = "Mean (standard error).";
  return table;
}

// How often there is a standard error, and how often the interval covers the truth.
Table coverage_table(const CaseRuns& results, const std::vector<std::int64_t>& calls) {
  Table table{.title = "Intervals of log Z with confidence 0.95", .header = {"family"}};
  for (const std::int64_t count : calls) table.header.push_back(fmt::format("{} calls", count));
  for (const std::string& family : kPaperFamilies) {
    std::vector<std::string> row{family};
    for (const std::int64_t count : calls) {
      const std::string name = name_of("learned", count);
      double given = 0.0, covering = 0.0;
      for (const double value : column(results.at(family), name + ".has_error")) given += value;
      for (const double value : column(results.at(family), name + ".covers")) covering += value;
      row.push_back(fmt::format("{:.0f} of {:.0f}", covering, given));
    }
    table.rows.push_back(row);
  }
  table.remark =
      "Intervals that have the true log Z in them, of those that were given; otherwise the answer says that it "
      "is a guess.";
  return table;
}

CsvFile csv_of(const CaseRuns& results, const std::vector<std::int64_t>& calls) {
  CsvFile csv{"calls", "family,method,calls,quantity,mean,standard_deviation,standard_error\n"};
  const auto add = [&](const std::string& family, const std::string& word, std::int64_t count,
                       const std::string& what) {
    const std::string name = name_of(word.c_str(), count) + (what == "gap" ? "" : "." + what);
    const Summary summary = summarize(column(results.at(family), name));
    csv.text += fmt::format("{},{},{},{},{},{},{}\n", family, word, count, what, summary.mean, summary.deviation,
                            summary.error);
  };
  for (const std::string& family : kPaperFamilies) {
    for (const std::int64_t count : calls) {
      for (const Sampler& sampler : samplers()) {
        for (const char* const what : {"kl", "log_z_error", "seconds", "has_error", "covers"}) {
          add(family, sampler.word, count, what);
        }
      }
      for (const Optimiser& optimiser : kOptimisers) add(family, optimiser.word, count, "gap");
    }
  }
  return csv;
}

Figure figure_of(const CaseRuns& results, const ExperimentOptions& options, const std::vector<std::int64_t>& calls) {
  constexpr double kLeast = 1e-4;  // smaller numbers are shown as this
  Plot plot{
      .title = fmt::format("Mean of {} problems; dashed: the search without a learned model", options.num_instances),
      .x_label = "calls of the function",
      .y_label = "KL to the target (nats)",
      .is_x_log = true,
      .is_y_log = true};
  for (std::size_t f = 0; f < kPaperFamilies.size(); ++f) {
    for (const Sampler& sampler : samplers()) {
      Series series{.name = fmt::format("{}, {}", kPaperFamilies[f], sampler.title),
                    .color = static_cast<int>(f),
                    .is_dashed = sampler.options.method != Method::kLearned};
      for (const std::int64_t count : calls) {
        const Summary kl = summarize(column(results.at(kPaperFamilies[f]), name_of(sampler.word, count) + ".kl"));
        series.points.push_back({static_cast<double>(count), std::max(kl.mean, kLeast), kl.error});
      }
      plot.series.push_back(series);
    }
  }
  return {.name = "calls",
          .title = "Error against calls",
          .caption = "Mean KL with standard errors; below 0.0001 as 0.0001.",
          .script = plot_script(plot)};
}

}  // namespace

std::optional<Report> run_calls(const ExperimentOptions& options, const RunControl& control) {
  const auto runs = run_cases(
      "calls", kPaperFamilies, options,
      [&](int f, int i) { return run_problem(options, kPaperFamilies[f], i, control); }, control);
  if (!runs) return std::nullopt;
  const std::vector<std::int64_t> calls = steps_up_to(kCalls, options.budget);
  std::vector<std::pair<std::string, std::string>> ways, optimisers;
  for (const Sampler& sampler : samplers()) ways.emplace_back(sampler.word, sampler.title);
  for (const Optimiser& optimiser : kOptimisers) optimisers.emplace_back(optimiser.word, optimiser.title);
  Report report{.title = "One function over all variables, by few calls"};
  report.introduction =
      fmt::format("The paper's families, {} problems each, with all factors hidden in one function of all variables.",
                  options.num_instances);
  report.options = report_options("calls", options);
  report.figures.push_back(figure_of(*runs, options, calls));
  report.tables.push_back(table_of(*runs, calls, "KL[P_X || P*]", ways, ".kl"));
  report.tables.push_back(coverage_table(*runs, calls));
  report.tables.push_back(table_of(*runs, calls, "Best found, nats below the optimum", optimisers, ""));
  report.csv_files.push_back(csv_of(*runs, calls));
  return report;
}

}  // namespace treesample::experiments
