// Figure 1 of the paper: CHAIN, error against budget, and energy against entropy of every instance.
#include <fmt/format.h>

#include <algorithm>

#include "experiment.hpp"
#include "plot.hpp"
#include "statistics.hpp"
#include "treesample/evaluate/divergence.hpp"

namespace treesample::experiments {
namespace {

struct Line {
  Contender method;
  Reading reading;
  const char* name;
  int color;
};
// The constant that the best reading adds to each factor leaves the distribution as it is; of these methods it
// changes only the tree search.
constexpr Line kLines[] = {
    {Contender::kSmc, Reading::kBest, "SMC", 1},
    {Contender::kTree, Reading::kLetter, "TS, paper's text", 6},
    {Contender::kTree, Reading::kBest, "TS, best reading", 0},
    {Contender::kAndOr, Reading::kBest, "ours: andor", 2},
    {Contender::kGraph, Reading::kBest, "ours: graph", 3},
};
constexpr std::int64_t kBudgets[] = {30,    50,     100,    150,     200,     300,      1'000,
                                     3'000, 10'000, 30'000, 100'000, 300'000, 1'000'000};

std::string name_of(const Line& line, std::int64_t budget) {
  return fmt::format("{}.{}.{}", word_of(line.method), to_string(line.reading), budget);
}

std::vector<std::int64_t> budgets_up_to(std::int64_t largest) {
  std::vector<std::int64_t> budgets;
  for (const std::int64_t budget : kBudgets) {
    if (budget < largest) budgets.push_back(budget);
  }
  budgets.push_back(largest);
  return budgets;
}

std::optional<Numbers> run_chain(const ExperimentOptions& options, int instance, const RunControl& control) {
  Numbers numbers;
  for (const Reading reading : kReadings) {
    const FactorGraph graph =
        make_family("chain",
                    {.reading = reading, .seed = options.seed, .instance = static_cast<std::uint64_t>(instance)})
            .graph;
    const TargetMoments target = target_moments(graph);
    for (const Line& line : kLines) {
      if (line.reading != reading) continue;
      const MethodSetting setting = options.hyperparameters.setting({"chain", reading}, line.method);
      for (const std::int64_t budget : budgets_up_to(options.budget)) {
        const std::string name = name_of(line, budget);
        const MethodRun run{.budget = budget,
                            .seed = method_seed(options.seed, fmt::format("{}/{}", name, instance), line.method),
                            .is_interrupted = control.is_interrupted};
        if (!add_outcome(numbers, name, graph, setting, run)) return std::nullopt;
        numbers[name + ".kl"] = target.log_z + numbers[name + ".delta_kl"];
        numbers[name + ".delta_energy"] = target.energy - numbers[name + ".energy"];
        numbers[name + ".delta_entropy"] = numbers[name + ".entropy"] - target.entropy;
      }
    }
  }
  return numbers;
}

// The budget at which the line of points (budget, KL) reaches `kl`, between points on log scales; none when
// the line does not get there.
std::optional<double> budget_for(const std::vector<PlotPoint>& line, double kl) {
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i].y > kl || line[i - 1].y < kl) continue;
    const double part = std::log(line[i - 1].y / kl) / std::log(line[i - 1].y / line[i].y);
    return line[i - 1].x * std::pow(line[i].x / line[i - 1].x, part);
  }
  return std::nullopt;
}

std::vector<Series> error_series(const std::vector<const Numbers*>& instances,
                                 const std::vector<std::int64_t>& budgets) {
  std::vector<Series> all;
  for (const Line& line : kLines) {
    Series series{.name = line.name,
                  .color = line.color,
                  .is_dashed = line.reading == Reading::kLetter || line.method == Contender::kGraph};
    for (const std::int64_t budget : budgets) {
      const Summary kl = summarize(column(instances, name_of(line, budget) + ".kl"));
      series.points.push_back({static_cast<double>(budget), kl.mean, kl.error});
    }
    all.push_back(series);
  }
  return all;
}

Table error_table(const std::vector<Series>& lines, const std::vector<std::int64_t>& budgets) {
  Table table{.title = "CHAIN: mean KL against budget", .header = {"budget"}};
  for (const Series& line : lines) table.header.push_back(line.name);
  table.header.push_back("SMC needs");
  const std::vector<PlotPoint>& smc = lines[0].points;
  for (std::size_t b = 0; b < budgets.size(); ++b) {
    std::vector<std::string> row{fmt::format("{}", budgets[b])};
    for (const Series& line : lines) {
      const PlotPoint& point = line.points[b];
      row.push_back(point.y < kExact ? "exact" : fmt::format("{:.3g} +- {:.1g}", point.y, point.error));
    }
    const std::optional<double> needed = budget_for(smc, lines[2].points[b].y);
    row.push_back(needed ? fmt::format("{:.1f} x", *needed / static_cast<double>(budgets[b])) : "-");
    table.rows.push_back(row);
  }
  table.remark =
      "KL +- standard error of the mean. Last column: how many times the budget SMC needs for the KL of TS in the best "
      "reading; '-' when more than the largest budget here, or less than the smallest. The paper says about 30.";
  return table;
}

// The same errors against what they took: cheap factors favour what has little overhead per evaluation.
void add_time(Report& report, const std::vector<const Numbers*>& instances, const std::vector<std::int64_t>& budgets,
              const std::vector<Series>& lines) {
  Plot plot{.title = "CHAIN: error against time, tables as factors",
            .x_label = "milliseconds per chain, one thread (median)",
            .y_label = "KL to the target (nats)",
            .is_x_log = true,
            .is_y_log = true};
  Table table{.title = "CHAIN: median milliseconds per chain", .header = {"budget"}};
  CsvFile csv{"figure1_time", "method,reading,budget,milliseconds_median,kl_mean\n"};
  std::vector<std::vector<std::string>> rows;
  for (const std::int64_t budget : budgets) rows.push_back({fmt::format("{}", budget)});
  for (std::size_t l = 0; l < lines.size(); ++l) {
    Series series = lines[l];
    table.header.push_back(series.name);
    for (std::size_t b = 0; b < budgets.size(); ++b) {
      const double milliseconds = 1e3 * median(column(instances, name_of(kLines[l], budgets[b]) + ".seconds"));
      series.points[b].x = milliseconds;
      rows[b].push_back(fmt::format("{:.3g}", milliseconds));
      csv.text += fmt::format("{},{},{},{},{}\n", word_of(kLines[l].method), to_string(kLines[l].reading), budgets[b],
                              milliseconds, series.points[b].y);
    }
    plot.series.push_back(series);
  }
  table.rows = std::move(rows);
  table.remark = "Times are of this machine and depend on its load; the errors do not.";
  report.tables.push_back(table);
  report.csv_files.push_back(csv);
  report.figures.push_back({.name = "figure1_time",
                            .title = "Error against time",
                            .caption = "The same runs as above, by the time that they took. Here a factor is a look-up "
                                       "in a table; where it takes longer, the figure above is the one to look at.",
                            .script = plot_script(plot)});
}

// Energy and entropy of every instance at the paper's budget, or at the largest one if that is smaller.
void add_scatter(Report& report, const std::vector<const Numbers*>& instances, std::int64_t budget) {
  Plot plot{.title = "CHAIN: every instance",
            .x_label = "energy of the target minus energy (lower is better)",
            .y_label = "entropy minus that of the target (higher is better)"};
  CsvFile csv{"figure1_energy_entropy", "method,reading,instance,delta_energy,delta_entropy,kl\n"};
  Table table{.title = fmt::format("CHAIN: energy and entropy at B = {}", budget),
              .header = {"method", "delta-energy", "delta-entropy", "KL"}};
  for (const Line& line : kLines) {
    if (line.method != Contender::kSmc && line.method != Contender::kTree) continue;
    Series series{.name = line.name, .kind = SeriesKind::kCloud, .color = line.color};
    const std::vector<double> energies = column(instances, name_of(line, budget) + ".delta_energy");
    const std::vector<double> entropies = column(instances, name_of(line, budget) + ".delta_entropy");
    const std::vector<double> divergences = column(instances, name_of(line, budget) + ".kl");
    for (std::size_t i = 0; i < instances.size(); ++i) {
      series.points.push_back({energies[i], entropies[i]});
      csv.text += fmt::format("{},{},{},{},{},{}\n", word_of(line.method), to_string(line.reading), i, energies[i],
                              entropies[i], divergences[i]);
    }
    table.rows.push_back({line.name, summary_text(energies), summary_text(entropies), summary_text(divergences)});
    // The letter's points are far away: they would squeeze the others into a corner.
    if (line.reading == Reading::kBest) plot.series.push_back(series);
  }
  table.remark = "Mean +- standard deviation (standard error). KL = delta-energy - delta-entropy.";
  report.tables.push_back(table);
  report.csv_files.push_back(csv);
  report.figures.push_back({.name = "figure1_energy_entropy",
                            .title = "Energy against entropy",
                            .caption = fmt::format("Each point is one chain, B = {}. The target is at (0, 0).", budget),
                            .script = plot_script(plot)});
}

}  // namespace

std::optional<Report> run_figure1(const ExperimentOptions& options, const RunControl& control) {
  std::vector<std::string> keys;
  for (int i = 0; i < options.num_instances; ++i) keys.push_back(fmt::format("chain/{}", i));
  RunStore store(run_file(options), fingerprint_of("figure1", options));
  const auto all = run_instances(
      store, keys, [&](int k) { return run_chain(options, k, control); }, control);
  if (!all) return std::nullopt;
  std::vector<const Numbers*> instances;
  for (const Numbers& numbers : *all) instances.push_back(&numbers);

  const std::vector<std::int64_t> budgets = budgets_up_to(options.budget);
  const std::vector<Series> lines = error_series(instances, budgets);
  Report report;
  report.title = "Figure 1: error against budget on CHAIN";
  report.introduction =
      fmt::format("{} random chains (N = 10, K = 5). Error is KL[P_X || P*] in nats, exact for every method.",
                  options.num_instances);
  report.options = report_options("figure1", options);
  report.figures.push_back(
      {.name = "chain_error",
       .title = "Error against budget",
       .caption = "Mean KL with standard errors. The two spaces of this library solve a chain exactly with 230 "
                  "evaluations or fewer; SMC and the paper's tree search improve slowly with the budget.",
       .script =
           plot_script({.title = fmt::format("CHAIN (N = 10, K = 5): mean of {} instances", options.num_instances),
                        .x_label = "budget: reward evaluations",
                        .y_label = "KL to the target (nats)",
                        .is_x_log = true,
                        .is_y_log = true,
                        .extra = "set xrange [25:*]\n",
                        .series = lines})});
  report.tables.push_back(error_table(lines, budgets));
  CsvFile csv{"figure1_error", "method,reading,budget,kl_mean,kl_standard_error\n"};
  for (std::size_t l = 0; l < lines.size(); ++l) {
    for (const PlotPoint& point : lines[l].points) {
      csv.text += fmt::format("{},{},{},{},{}\n", word_of(kLines[l].method), to_string(kLines[l].reading), point.x,
                              point.y, point.error);
    }
  }
  report.csv_files.push_back(csv);
  add_time(report, instances, budgets, lines);
  const std::int64_t paper_budget = 10'000;
  const bool has_paper_budget = std::find(budgets.begin(), budgets.end(), paper_budget) != budgets.end();
  add_scatter(report, instances, has_paper_budget ? paper_budget : budgets.back());
  return report;
}

}  // namespace treesample::experiments
