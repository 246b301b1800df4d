// Table 1 of the paper: approximation error of all methods on four families, in both readings.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiment.hpp"
#include "paper_cells.hpp"
#include "plot.hpp"
#include "run_cases.hpp"
#include "statistics.hpp"
#include "treesample/exact/elimination.hpp"

namespace treesample::experiments {
namespace {

constexpr std::int64_t kPaperBudget = 10'000;

// The paper's means are over 1000 instances. By the first criterion, means match if they differ only by chance. The
// second allows 0.15 nats more: so much may an independent implementation differ in details that the text leaves open.
constexpr double kSlack[] = {0.0, 0.15};
bool is_match(const Summary& ours, const PaperCell& paper, double slack) {
  const double paper_error = paper.deviation / std::sqrt(static_cast<double>(kPaperProblems));
  return std::abs(ours.mean - paper.mean) <=
         slack + 3.0 * std::sqrt(ours.error * ours.error + paper_error * paper_error);
}

std::string family_column(const std::string& family) {
  if (family == "chain") return "CHAIN: KL";
  if (family == "permuted-chain") return "PERMUTED CHAIN: KL";
  return family == "factor-graphs-1" ? "FACTOR GRAPHS 1: delta-KL" : "FACTOR GRAPHS 2: delta-KL";
}

// All methods on one problem.
std::optional<Numbers> run_problem(const ExperimentOptions& options, const Problem& problem, int instance,
                                   const RunControl& control) {
  const FactorGraph graph = problem_model(problem, options.seed, instance);
  Numbers numbers;
  numbers["log_z"] = Elimination(graph, {}, {.goal = EliminationGoal::kLogZ}).log_z();
  const std::string key = fmt::format("{}/{}", to_string(problem), instance);
  for (const Contender method : chosen_contenders(options)) {
    const MethodRun run{.budget = options.budget,
                        .seed = method_seed(options.seed, key, method),
                        .is_interrupted = control.is_interrupted};
    const MethodSetting setting = options.hyperparameters.setting(problem, method);
    if (!add_outcome(numbers, word_of(method), graph, setting, run)) return std::nullopt;
    // log Z + delta-KL per instance, because their roundings cancel better than those of the means.
    numbers[fmt::format("{}.kl", word_of(method))] =
        numbers["log_z"] + numbers[fmt::format("{}.delta_kl", word_of(method))];
  }
  return numbers;
}

struct Results {
  std::int64_t budget;
  std::vector<Contender> methods;
  CaseRuns problems;

  [[nodiscard]] std::vector<const Numbers*> at(const Problem& problem) const { return problems.at(to_string(problem)); }
};

// "yes" or "no"; empty if the paper has no number for this budget.
std::string match_text(const Results& results, const std::optional<PaperCell>& paper, const Summary& ours,
                       double slack = kSlack[1]) {
  if (!paper || results.budget != kPaperBudget) return "";
  return is_match(ours, *paper, slack) ? "yes" : "no";
}

// The number of the paper's cells that match, by both criteria.
Table match_table(const Results& results) {
  Table table{.title = "Cells that match the paper's",
              .header = {"reading", "within 3 standard errors", "within 0.15 nats + 3 standard errors", "of"}};
  for (const Reading reading : kReadings) {
    int counts[2] = {0, 0};
    int num_cells = 0;
    for (const std::string& family : kPaperFamilies) {
      for (const Contender method : results.methods) {
        const std::optional<PaperCell> paper = paper_cell(family, method);
        if (!paper || results.budget != kPaperBudget) continue;
        const std::string word = word_of(method);
        const Summary ours =
            summarize(column(results.at({family, reading}), word + (is_chain(family) ? ".kl" : ".delta_kl")));
        ++num_cells;
        for (int i = 0; i < 2; ++i) counts[i] += is_match(ours, *paper, kSlack[i]) ? 1 : 0;
      }
    }
    table.rows.push_back(
        {to_string(reading), fmt::format("{}", counts[0]), fmt::format("{}", counts[1]), fmt::format("{}", num_cells)});
  }
  table.remark = "The best reading was chosen by these very cells: constants, ties and the resampling scheme.";
  return table;
}

std::vector<std::string> table_row(const Results& results, const std::string& family, Contender method) {
  const std::string word = word_of(method);
  const std::optional<PaperCell> paper = paper_cell(family, method);
  std::vector<std::string> row{title_of(method)};
  row.push_back(paper ? fmt::format("{:.2f} +- {:.2f}", paper->mean, paper->deviation)
                : is_chain(family) && method == Contender::kBp ? "exact"
                                                               : "-");
  for (const Reading reading : kReadings) {
    const std::vector<const Numbers*> instances = results.at({family, reading});
    const std::vector<double> values = column(instances, word + (is_chain(family) ? ".kl" : ".delta_kl"));
    row.push_back(summary_text(values));
    row.push_back(match_text(results, paper, summarize(values)));
    if (!is_chain(family)) row.push_back(mean_text(summarize(column(instances, word + ".kl")).mean));
  }
  return row;
}

Table family_table(const Results& results, const std::string& family) {
  Table table{.title = family_column(family)};
  table.header =
      is_chain(family)
          ? std::vector<std::string>{"method", "paper", "letter", "match", "best reading", "match"}
          : std::vector<std::string>{"method", "paper", "letter", "match", "KL", "best reading", "match", "KL"};
  for (const Contender method : results.methods) table.rows.push_back(table_row(results, family, method));
  if (is_chain(family)) {
    table.remark = "BP: its marginals are exact on chains; the row is what its samples are worth as an approximation.";
  }
  return table;
}

CsvFile table_csv(const Results& results) {
  std::string text =
      "family,reading,method,measure,mean,standard_deviation,standard_error,paper_mean,paper_standard_deviation,"
      "matches_paper,within_3_standard_errors,kl_mean,kl_largest,energy_mean,entropy_mean,log_z_mean\n";
  for (const Problem& problem : paper_problems()) {
    const std::vector<const Numbers*> instances = results.at(problem);
    for (const Contender method : results.methods) {
      const std::string word = word_of(method);
      const std::string measure = is_chain(problem.family) ? "kl" : "delta_kl";
      const Summary summary = summarize(column(instances, fmt::format("{}.{}", word, measure)));
      const std::optional<PaperCell> paper = paper_cell(problem.family, method);
      const std::vector<double> kl = column(instances, word + ".kl");
      text += fmt::format(
          "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", problem.family, to_string(problem.reading), word,
          measure, summary.mean, summary.deviation, summary.error, paper ? fmt::format("{}", paper->mean) : "",
          paper ? fmt::format("{}", paper->deviation) : "", match_text(results, paper, summary),
          match_text(results, paper, summary, kSlack[0]), summarize(kl).mean, *std::max_element(kl.begin(), kl.end()),
          summarize(column(instances, word + ".energy")).mean, summarize(column(instances, word + ".entropy")).mean,
          summarize(column(instances, "log_z")).mean);
    }
  }
  return {"table1", text};
}

// Milliseconds per instance; the only numbers that differ between two equal runs.
Table time_table(const Results& results) {
  Table table{.title = "Median time per instance in milliseconds (best reading)", .header = {"method"}};
  for (const std::string& family : kPaperFamilies) table.header.push_back(family);
  for (const Contender method : results.methods) {
    std::vector<std::string> row{title_of(method)};
    for (const std::string& family : kPaperFamilies) {
      const auto instances = results.at({family, Reading::kBest});
      row.push_back(fmt::format("{:.2f}", 1e3 * median(column(instances, word_of(method) + std::string(".seconds")))));
    }
    table.rows.push_back(row);
  }
  return table;
}

Table setting_table(const ExperimentOptions& options) {
  Table table{.title = "Hyperparameters, tuned on other problems", .header = {"problem"}};
  for (const Contender method : chosen_contenders(options)) {
    if (!untuned_setting({}, method).tuned_text().empty()) table.header.emplace_back(title_of(method));
  }
  for (const Problem& problem : paper_problems()) {
    std::vector<std::string> row{to_string(problem)};
    for (const Contender method : chosen_contenders(options)) {
      const std::string text = options.hyperparameters.setting(problem, method).tuned_text();
      if (!text.empty()) row.push_back(text);
    }
    table.rows.push_back(row);
  }
  return table;
}

// An overview of the best reading. It shows the KL of every method, because delta-KL has a different zero in every
// family.
Figure overview(const Results& results, const ExperimentOptions& options) {
  Plot plot{.title = fmt::format("Best reading, B = {}, mean of {} instances", options.budget, options.num_instances),
            .x_label = "",
            .y_label = "KL to the target (nats)",
            .is_y_log = true};
  plot.extra =
      "set xrange [-0.5:3.5]\nset xtics ('CHAIN' 0, 'PERMUTED CHAIN' 1, 'FACTOR GRAPHS 1' 2, 'FACTOR GRAPHS 2' 3)\n";
  const int num_methods = static_cast<int>(results.methods.size());
  for (int m = 0; m < num_methods; ++m) {
    Series series{
        .name = title_of(results.methods[m]), .kind = SeriesKind::kMarks, .color = color_of(results.methods[m])};
    for (std::size_t f = 0; f < kPaperFamilies.size(); ++f) {
      const auto instances = results.at({kPaperFamilies[f], Reading::kBest});
      const Summary kl = summarize(column(instances, word_of(results.methods[m]) + std::string(".kl")));
      series.points.push_back({static_cast<double>(f) + 0.08 * (m - 0.5 * (num_methods - 1)), kl.mean, kl.error});
    }
    plot.series.push_back(series);
  }
  return {.name = "table1",
          .title = "Error of all methods",
          .caption =
              "Mean KL with standard errors. Every method had the same number of reward evaluations; 'exact' is an "
              "error of rounding alone.",
          .script = plot_script(plot)};
}

}  // namespace

std::optional<Report> run_table1(const ExperimentOptions& options, const RunControl& control) {
  const auto runs = run_problems(
      "table1", options, [&](const Problem& problem, int i) { return run_problem(options, problem, i, control); },
      control);
  if (!runs) return std::nullopt;
  const Results results{.budget = options.budget, .methods = chosen_contenders(options), .problems = *runs};
  Report report{.title = "Table 1: approximation error with a budget of evaluations"};
  report.introduction = fmt::format(
      "Mean +- standard deviation over instances (standard error of the mean), in nats; lower is better. Letter: the "
      "paper's text as it stands, ties to the lowest action, multinomial resampling. Best reading: with constants "
      "fitted "
      "to the paper's numbers (CHAIN, FG 1), MAJORITY as more than half (FG 2), ties at random and a tuned resampling "
      "scheme, none of which its text gives. A cell matches when the means differ by at most 0.15 nats plus three "
      "standard errors. Rows below TS are "
      "not in the paper. {} instances per family, {} reward evaluations each; all values are exact, except that those "
      "of "
      "ELBO leaves are means over 10,000 samples per instance.",
      options.num_instances, options.budget);
  report.options = report_options("table1", options);
  for (const std::string& family : kPaperFamilies) report.tables.push_back(family_table(results, family));
  report.tables.push_back(match_table(results));
  report.tables.push_back(time_table(results));
  report.tables.push_back(setting_table(options));
  report.figures.push_back(overview(results, options));
  report.csv_files.push_back(table_csv(results));
  return report;
}

}  // namespace treesample::experiments
