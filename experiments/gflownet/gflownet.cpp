// Error against different rewards on tasks of the GFlowNet literature: ours beside GFlowNets and simple references.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiment.hpp"
#include "experiments/gflownet/contenders.hpp"
#include "plot.hpp"
#include "run_cases.hpp"
#include "statistics.hpp"
#include "treesample/error.hpp"

namespace treesample::experiments {
namespace {

constexpr std::int64_t kBudgets[] = {100, 300, 1'000, 3'000, 10'000, 30'000, 100'000, 1'000'000};

struct FlowCase {
  const FlowTask* task;
  const FlowContender* contender;
  std::vector<std::int64_t> budgets;
  [[nodiscard]] std::string name() const { return task->word + "/" + contender->word; }
};

// All budgets below the size of the task, and then the size itself, up to the largest one that is asked for.
std::vector<std::int64_t> budgets_of(const FlowTask& task, std::int64_t largest) {
  std::vector<std::int64_t> budgets;
  const double most = std::min(task.size, static_cast<double>(largest));
  for (const std::int64_t budget : kBudgets) {
    if (static_cast<double>(budget) < most) budgets.push_back(budget);
  }
  budgets.push_back(static_cast<std::int64_t>(most));
  return budgets;
}

// Of the words, those of tasks choose tasks, and the others methods.
std::vector<FlowCase> chosen_cases(const ExperimentOptions& options) {
  std::vector<std::string> tasks, methods, allowed;
  for (const FlowTask& task : flow_tasks()) allowed.push_back(task.word);
  for (const std::string& word : options.methods) {
    const bool is_task = std::find(allowed.begin(), allowed.end(), word) != allowed.end();
    (is_task ? tasks : methods).push_back(word);
  }
  std::vector<std::string> words;
  for (const FlowContender& contender : flow_contenders()) words.push_back(contender.word);
  check_chosen("--methods", methods, words);
  std::vector<FlowCase> cases;
  for (const FlowTask& task : flow_tasks()) {
    if (!is_chosen(tasks, task.word)) continue;
    for (const FlowContender& contender : flow_contenders()) {
      if (!is_chosen(methods, contender.word) || (methods.empty() && contender.is_for_tuning)) continue;
      if (!contender.takes(task)) continue;
      std::int64_t largest = std::min(options.budget, task.most_calls);
      if (contender.is_learned) largest = std::min(largest, task.most_learned);
      cases.push_back({&task, &contender, budgets_of(task, largest)});
    }
  }
  check_argument(!cases.empty(), "--methods", "names tasks that none of the named methods takes");
  return cases;
}

std::optional<Numbers> run_case(const FlowCase& one, const ExperimentOptions& options, int instance,
                                const RunControl& control) {
  Numbers numbers;
  const std::uint64_t seed = options.seed + static_cast<std::uint64_t>(instance);
  if (!one.contender->run(*one.contender, *one.task, seed, one.budgets, control.is_interrupted, numbers)) {
    return std::nullopt;
  }
  return numbers;
}

// The rows of one case: its contender, and the same with a memory.
std::vector<std::pair<std::string, std::string>> rows_of(const FlowCase& one) {
  std::vector<std::pair<std::string, std::string>> rows = {{one.contender->word, one.contender->title}};
  if (one.contender->has_memory_too && one.task->can_list()) {
    rows.emplace_back(one.contender->word + ".memory", one.contender->title + ", with memory");
  }
  return rows;
}

std::string name_of(const std::string& word, std::int64_t budget, const char* what) {
  return fmt::format("{}.{}.{}", word, budget, what);
}

std::string mean_cell(const std::vector<double>& values) {
  const Summary summary = summarize(values);
  return fmt::format("{:.3f} ({:.3f})", summary.mean, summary.error);
}

Table task_table(const FlowTask& task, const std::vector<FlowCase>& cases, const CaseRuns& results, const char* what,
                 const char* title) {
  Table table{.title = fmt::format("{}: {}", task.title, title), .header = {"method"}};
  std::vector<std::int64_t> budgets;
  for (const FlowCase& one : cases) {
    if (one.task == &task && one.budgets.size() > budgets.size()) budgets = one.budgets;
  }
  for (const std::int64_t budget : budgets) table.header.push_back(fmt::format("{}", budget));
  for (std::size_t c = 0; c < cases.size(); ++c) {
    if (cases[c].task != &task) continue;
    for (const auto& [word, row_title] : rows_of(cases[c])) {
      std::vector<std::string> row{row_title};
      for (const std::int64_t budget : budgets) {
        const auto& has = cases[c].budgets;
        const bool is_run = std::find(has.begin(), has.end(), budget) != has.end();
        row.push_back(is_run ? mean_cell(column(results.of(c), name_of(word, budget, what))) : "");
      }
      table.rows.push_back(row);
    }
  }
  table.remark = "By different rewards; mean (standard error).";
  return table;
}

CsvFile csv_of(const std::vector<FlowCase>& cases, const CaseRuns& results) {
  CsvFile csv{"gflownet", "task,method,runs,budget,quantity,mean,standard_deviation,standard_error\n"};
  for (std::size_t c = 0; c < cases.size(); ++c) {
    for (const auto& [word, title] : rows_of(cases[c])) {
      for (const std::int64_t budget : cases[c].budgets) {
        for (const char* const what : {"tv", "kl", "log_z_error", "calls", "seconds"}) {
          const Summary summary = summarize(column(results.of(c), name_of(word, budget, what)));
          csv.text += fmt::format("{},{},{},{},{},{},{},{}\n", cases[c].task->word, word, results.of(c).size(), budget,
                                  what, summary.mean, summary.deviation, summary.error);
        }
      }
    }
  }
  return csv;
}

Figure figure_of(const FlowTask& task, const std::vector<FlowCase>& cases, const CaseRuns& results) {
  Plot plot{.title = task.title + "; dashed: GFlowNets",
            .x_label = "different rewards",
            .y_label = "total variation to the target",
            .is_x_log = true,
            .is_y_log = true};
  int color = 0;
  for (std::size_t c = 0; c < cases.size(); ++c) {
    if (cases[c].task != &task) continue;
    Series series{.name = cases[c].contender->title, .color = color++, .is_dashed = cases[c].contender->has_memory_too};
    for (const std::int64_t budget : cases[c].budgets) {
      const Summary tv = summarize(column(results.of(c), name_of(cases[c].contender->word, budget, "tv")));
      series.points.push_back({static_cast<double>(budget), tv.mean, tv.error});
    }
    plot.series.push_back(series);
  }
  return {.name = "gflownet_" + task.word,
          .title = task.title,
          .caption = "Mean total variation with standard errors.",
          .script = plot_script(plot)};
}

}  // namespace

std::optional<Report> run_gflownet(const ExperimentOptions& options, const RunControl& control) {
  const std::vector<FlowCase> cases = chosen_cases(options);
  std::vector<std::string> names;
  for (const FlowCase& one : cases) names.push_back(one.name());
  // A case does not depend on the others, so a folder may be extended by further ones.
  ExperimentOptions shared = options;
  shared.methods.clear();
  const auto runs = run_cases(
      "gflownet", names, shared, [&](int c, int i) { return run_case(cases[c], options, i, control); }, control);
  if (!runs) return std::nullopt;
  Report report{.title = "GFlowNets and their tasks: error against different rewards"};
  report.introduction =
      fmt::format("{} runs with different seeds. A reward that was seen before costs nothing, for any method.",
                  options.num_instances);
  report.options = report_options("gflownet", shared);
  for (const FlowTask& task : flow_tasks()) {
    if (std::none_of(cases.begin(), cases.end(), [&](const FlowCase& one) { return one.task == &task; })) continue;
    report.figures.push_back(figure_of(task, cases, *runs));
    report.tables.push_back(task_table(task, cases, *runs, "tv", "total variation"));
    report.tables.push_back(task_table(task, cases, *runs, "kl", "KL[P_X || P*]"));
    report.tables.push_back(task_table(task, cases, *runs, "log_z_error", "error of log Z"));
    report.tables.push_back(task_table(task, cases, *runs, "seconds", "processor seconds"));
  }
  report.csv_files.push_back(csv_of(cases, *runs));
  return report;
}

}  // namespace treesample::experiments
