// Compares the searches for factors that can only be evaluated: the search with unresolved mass and calibrated values,
// and the paper's.
#include <fmt/format.h>

#include "experiment.hpp"
#include "plot.hpp"
#include "run_cases.hpp"
#include "statistics.hpp"
#include "treesample/exact/elimination.hpp"

namespace treesample::experiments {
namespace {

constexpr std::int64_t kBudgets[] = {100, 300, 1'000, 3'000, 10'000, 30'000, 100'000};
constexpr Contender kCompared[] = {Contender::kTree, Contender::kMass};

std::string name_of(Contender method, std::int64_t budget) { return fmt::format("{}.{}", word_of(method), budget); }

std::optional<Numbers> run_problem(const ExperimentOptions& options, const Problem& problem, int instance,
                                   const RunControl& control) {
  const FactorGraph graph = problem_model(problem, options.seed, instance);
  const double log_z = Elimination(graph, {}, {.goal = EliminationGoal::kLogZ}).log_z();
  const std::string key = fmt::format("{}/{}", to_string(problem), instance);
  Numbers numbers;
  for (const Contender method : kCompared) {
    const MethodSetting setting = options.hyperparameters.setting(problem, method);
    for (const std::int64_t budget : budgets_up_to(kBudgets, options.budget)) {
      const MethodRun run{
          .budget = budget, .seed = method_seed(options.seed, key, method), .is_interrupted = control.is_interrupted};
      const std::string name = name_of(method, budget);
      if (!add_outcome(numbers, name, graph, setting, run)) return std::nullopt;
      numbers[name + ".kl"] = log_z + numbers[name + ".delta_kl"];
    }
  }
  return numbers;
}

Summary kl_of(const CaseRuns& results, const Problem& problem, Contender method, std::int64_t budget) {
  return summarize(column(results.at(to_string(problem)), name_of(method, budget) + ".kl"));
}

Table kl_table(const CaseRuns& results, const std::vector<std::int64_t>& budgets) {
  Table table{.title = "KL by budget", .header = {"problem", "method"}};
  for (const std::int64_t budget : budgets) table.header.push_back(fmt::format("{}", budget));
  for (const Problem& problem : paper_problems()) {
    for (const Contender method : kCompared) {
      std::vector<std::string> row{to_string(problem), title_of(method)};
      for (const std::int64_t budget : budgets) {
        const Summary kl = kl_of(results, problem, method, budget);
        row.push_back(fmt::format("{:.3f} ({:.3f})", kl.mean, kl.error));
      }
      table.rows.push_back(row);
    }
    std::vector<std::string> ratios{to_string(problem), "ratio"};
    for (const std::int64_t budget : budgets) {
      ratios.push_back(fmt::format("{:.2f}", kl_of(results, problem, Contender::kMass, budget).mean /
                                                 kl_of(results, problem, Contender::kTree, budget).mean));
    }
    table.rows.push_back(ratios);
  }
  table.remark = "Mean (standard error). TS is the paper's search with the tuned c of its family and reading.";
  return table;
}

CsvFile kl_csv(const CaseRuns& results, const std::vector<std::int64_t>& budgets) {
  CsvFile csv{"functions", "family,reading,method,budget,kl_mean,kl_standard_deviation,kl_standard_error\n"};
  for (const Problem& problem : paper_problems()) {
    for (const Contender method : kCompared) {
      for (const std::int64_t budget : budgets) {
        const Summary kl = kl_of(results, problem, method, budget);
        csv.text += fmt::format("{},{},{},{},{},{},{}\n", problem.family, to_string(problem.reading), word_of(method),
                                budget, kl.mean, kl.deviation, kl.error);
      }
    }
  }
  return csv;
}

Figure kl_figure(const CaseRuns& results, const ExperimentOptions& options, const std::vector<std::int64_t>& budgets) {
  Plot plot{
      .title = fmt::format("Best reading, mean of {} instances; dashed: the paper's search", options.num_instances),
      .x_label = "budget: reward evaluations",
      .y_label = "KL to the target (nats)",
      .is_x_log = true,
      .is_y_log = true};
  for (std::size_t f = 0; f < kPaperFamilies.size(); ++f) {
    for (const Contender method : kCompared) {
      Series series{.name = fmt::format("{}, {}", kPaperFamilies[f], title_of(method)),
                    .color = static_cast<int>(f),
                    .is_dashed = method == Contender::kTree};
      for (const std::int64_t budget : budgets) {
        const Summary kl = kl_of(results, {kPaperFamilies[f], Reading::kBest}, method, budget);
        series.points.push_back({static_cast<double>(budget), kl.mean, kl.error});
      }
      plot.series.push_back(series);
    }
  }
  return {.name = "functions",
          .title = "Error against budget",
          .caption = "Mean KL with standard errors. Neither search reads a table.",
          .script = plot_script(plot)};
}

}  // namespace

std::optional<Report> run_functions(const ExperimentOptions& options, const RunControl& control) {
  const auto runs = run_problems(
      "functions", options, [&](const Problem& problem, int i) { return run_problem(options, problem, i, control); },
      control);
  if (!runs) return std::nullopt;

  const std::vector<std::int64_t> budgets = budgets_up_to(kBudgets, options.budget);
  Report report{.title = "Functions and programs as factors: unresolved mass and calibrated values"};
  report.introduction = fmt::format(
      "KL[P_X || P*] in nats, exact, mean of {} instances per family and reading. Both searches walk through the tree "
      "of the paper's order and only ever evaluate factors.",
      options.num_instances);
  report.options = report_options("functions", options);
  report.figures.push_back(kl_figure(*runs, options, budgets));
  report.tables.push_back(kl_table(*runs, budgets));
  report.csv_files.push_back(kl_csv(*runs, budgets));
  return report;
}

}  // namespace treesample::experiments
