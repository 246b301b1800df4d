// Figure 1 of the paper: CHAIN, error against budget, and energy against entropy of every instance.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "experiment.hpp"
#include "plot.hpp"
#include "run_cases.hpp"
#include "statistics.hpp"
#include "treesample/error.hpp"
#include "treesample/evaluate/divergence.hpp"
#include "treesample/io/model_file.hpp"
#include "treesample/text.hpp"

namespace treesample::experiments {
namespace {

std::string uppercase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

struct Line {
  Contender method;
  Reading reading;
  std::string name;
  int color;
  std::optional<double> c = {};  // in place of the tuned one

  [[nodiscard]] bool is_dashed() const { return reading == Reading::kLetter || method == Contender::kGraph; }
};
constexpr std::int64_t kBudgets[] = {30,    50,     100,    150,     200,     300,      1'000,
                                     3'000, 10'000, 30'000, 100'000, 300'000, 1'000'000};
constexpr std::int64_t kPaperBudget = 10'000;

// What to draw, and on which problems.
struct Setup {
  std::string family = "chain";
  std::vector<std::filesystem::path> models;  // in place of a family
  std::vector<Line> lines;
  bool is_paper = false;  // true if nothing was chosen: the paper's figure

  [[nodiscard]] std::string title() const { return models.empty() ? uppercase(family) : family; }
};

// The constant that the best reading adds to each factor does not change the distribution. Of these methods, it changes
// only the tree search.
std::vector<Line> paper_lines() {
  return {{Contender::kSmc, Reading::kBest, "SMC", 1},
          {Contender::kTree, Reading::kLetter, "TS, paper's text", 6},
          {Contender::kTree, Reading::kBest, "TS, best reading", 0},
          {Contender::kAndOr, Reading::kBest, "ours: andor", 2},
          {Contender::kGraph, Reading::kBest, "ours: graph", 3}};
}

std::vector<Line> chosen_lines(const ExperimentOptions& options, bool has_models) {
  constexpr int kNumColors = 8;
  std::vector<Contender> methods = {Contender::kSmc, Contender::kTree};
  if (!options.methods.empty()) methods = chosen_contenders(options);
  std::vector<Reading> readings = options.readings;
  if (has_models) readings = {Reading::kLetter};
  std::vector<Line> lines;
  for (const Contender method : methods) {
    for (const Reading reading : readings) {
      std::vector<std::optional<double>> values = {std::nullopt};
      if (method == Contender::kTree && !options.exploration.empty()) {
        values.assign(options.exploration.begin(), options.exploration.end());
      }
      for (const std::optional<double>& c : values) {
        std::string name = word_of(method);
        if (readings.size() > 1) name += fmt::format(", {}", to_string(reading));
        if (c) name += fmt::format(", c = {}", *c);
        lines.push_back({method, reading, name, static_cast<int>(lines.size()) % kNumColors, c});
      }
    }
  }
  return lines;
}

Setup setup_of(const ExperimentOptions& options) {
  Setup setup;
  if (!options.family.empty()) setup.family = options.family;
  const auto& known = kPaperFamilies;
  if (std::find(known.begin(), known.end(), setup.family) == known.end()) {
    check_argument(
        std::filesystem::is_directory(setup.family), "--family",
        fmt::format("'{}' is neither one of {} nor a folder with models", setup.family, fmt::join(known, ", ")));
    setup.models = model_files(setup.family, "--family");
  }
  const bool is_chosen = !options.methods.empty() || !options.exploration.empty() || !setup.models.empty();
  setup.lines = is_chosen ? chosen_lines(options, !setup.models.empty()) : paper_lines();
  setup.is_paper = !is_chosen && setup.family == "chain";
  return setup;
}

// A user's own model has no tuned settings. It gets those of the literal reading, and c = 1 unless c is given.
MethodSetting setting_of(const ExperimentOptions& options, const Setup& setup, const Line& line) {
  const Problem problem{setup.family, line.reading};
  MethodSetting setting = setup.models.empty() ? options.hyperparameters.setting(problem, line.method)
                                               : untuned_setting(problem, line.method);
  if (line.c) setting.set_tuned("c", fmt::format("{}", *line.c));
  return setting;
}

std::string name_of(const Line& line, std::int64_t budget) {
  const std::string c = line.c ? fmt::format(".c={}", *line.c) : "";
  return fmt::format("{}.{}{}.{}", word_of(line.method), to_string(line.reading), c, budget);
}

FactorGraph problem(const ExperimentOptions& options, const Setup& setup, Reading reading, int instance) {
  if (!setup.models.empty()) return read_model(setup.models[static_cast<std::size_t>(instance)]);
  return problem_model({setup.family, reading}, options.seed, instance);
}

// A user learns which model cannot be judged, and why.
TargetMoments moments_of(const Setup& setup, const FactorGraph& graph, int instance) {
  try {
    return target_moments(graph);
  } catch (const Error& error) {
    if (setup.models.empty()) throw;
    throw Error(error.code(),
                fmt::format("--family: {}: the errors are measured against the exact answer; {}",
                            printable(setup.models[static_cast<std::size_t>(instance)].string()), error.what()));
  }
}

// A budget may pay for no sample of a method. Its line begins at the first budget that pays for one on all problems.
bool is_paid(const std::vector<const Numbers*>& instances, const std::string& name) {
  return std::all_of(instances.begin(), instances.end(),
                     [&](const Numbers* numbers) { return numbers->contains(name + ".kl"); });
}

// Returns false if it was interrupted. Adds nothing if the budget pays for no sample, unless it is the largest budget.
bool add_errors(Numbers& numbers, const FactorGraph& graph, const TargetMoments& target, const MethodSetting& setting,
                const MethodRun& run, const std::string& name, bool is_largest) {
  try {
    if (!add_outcome(numbers, name, graph, setting, run)) return false;
  } catch (const OptionError& error) {
    if (is_largest || error.option() != "budget") throw;
    return true;
  }
  numbers[name + ".kl"] = target.log_z + numbers[name + ".delta_kl"];
  numbers[name + ".delta_energy"] = target.energy - numbers[name + ".energy"];
  numbers[name + ".delta_entropy"] = numbers[name + ".entropy"] - target.entropy;
  return true;
}

std::optional<Numbers> run_problem(const ExperimentOptions& options, const Setup& setup, int instance,
                                   const RunControl& control) {
  Numbers numbers;
  for (const Reading reading : kReadings) {
    const auto has_reading = [&](const Line& line) { return line.reading == reading; };
    if (std::none_of(setup.lines.begin(), setup.lines.end(), has_reading)) continue;
    const FactorGraph graph = problem(options, setup, reading, instance);
    const TargetMoments target = moments_of(setup, graph, instance);
    for (const Line& line : setup.lines) {
      if (line.reading != reading) continue;
      const MethodSetting setting = setting_of(options, setup, line);
      for (const std::int64_t budget : budgets_up_to(kBudgets, options.budget)) {
        const std::string name = name_of(line, budget);
        const MethodRun run{.budget = budget,
                            .seed = method_seed(options.seed, fmt::format("{}/{}", name, instance), line.method),
                            .is_interrupted = control.is_interrupted};
        const bool is_largest = budget == options.budget;
        if (!add_errors(numbers, graph, target, setting, run, name, is_largest)) return std::nullopt;
      }
    }
  }
  return numbers;
}

// The budget at which the line of points (budget, KL) reaches `kl`, interpolated on log scales; none if the line does
// not reach it.
std::optional<double> budget_for(const std::vector<PlotPoint>& line, double kl) {
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i].y > kl || line[i - 1].y < kl) continue;
    const double part = std::log(line[i - 1].y / kl) / std::log(line[i - 1].y / line[i].y);
    return line[i - 1].x * std::pow(line[i].x / line[i - 1].x, part);
  }
  return std::nullopt;
}

std::vector<Series> error_series(const Setup& setup, const std::vector<const Numbers*>& instances,
                                 const std::vector<std::int64_t>& budgets) {
  std::vector<Series> all;
  for (const Line& line : setup.lines) {
    Series series{.name = line.name, .color = line.color, .is_dashed = setup.is_paper && line.is_dashed()};
    for (const std::int64_t budget : budgets) {
      const std::string name = name_of(line, budget);
      const Summary kl = is_paid(instances, name) ? summarize(column(instances, name + ".kl")) : Summary{.mean = NAN};
      series.points.push_back({static_cast<double>(budget), kl.mean, kl.error});
    }
    all.push_back(series);
  }
  return all;
}

Table error_table(const Setup& setup, const std::vector<Series>& lines, const std::vector<std::int64_t>& budgets) {
  Table table{.title = setup.title() + ": mean KL against budget", .header = {"budget"}};
  for (const Series& line : lines) table.header.push_back(line.name);
  if (setup.is_paper) table.header.emplace_back("SMC needs");
  const std::vector<PlotPoint>& smc = lines[0].points;
  for (std::size_t b = 0; b < budgets.size(); ++b) {
    std::vector<std::string> row{fmt::format("{}", budgets[b])};
    for (const Series& line : lines) {
      const PlotPoint& point = line.points[b];
      const std::string text = point.y < kExact ? "exact" : fmt::format("{:.3g} +- {:.1g}", point.y, point.error);
      row.push_back(std::isnan(point.y) ? "-" : text);
    }
    if (setup.is_paper) {
      const std::optional<double> needed = budget_for(smc, lines[2].points[b].y);
      row.push_back(needed ? fmt::format("{:.1f} x", *needed / static_cast<double>(budgets[b])) : "-");
    }
    table.rows.push_back(row);
  }
  table.remark =
      "KL +- standard error of the mean; '-' where the budget pays for no sample, inf where P_X has impossible "
      "configurations.";
  if (setup.is_paper) {
    table.remark +=
        " Last column: how many times the budget SMC needs for the KL of TS in the best reading, '-' when more than "
        "the largest budget here, or less than the smallest. The paper says about 30.";
  }
  return table;
}

// Method, reading and c; c is empty if it is the tuned one.
std::string csv_key(const Line& line) {
  return fmt::format("{},{},{}", word_of(line.method), to_string(line.reading),
                     line.c ? fmt::format("{}", *line.c) : "");
}

// The same errors against time: with cheap factors, methods with little overhead per evaluation look better.
void add_time(Report& report, const Setup& setup, const std::vector<const Numbers*>& instances,
              const std::vector<std::int64_t>& budgets, const std::vector<Series>& lines) {
  Plot plot{.title = setup.title() + ": error against time, tables as factors",
            .x_label = "milliseconds per problem, one thread (median)",
            .y_label = "KL to the target (nats)",
            .is_x_log = true,
            .is_y_log = true};
  Table table{.title = setup.title() + ": median milliseconds per problem", .header = {"budget"}};
  CsvFile csv{"figure1_time", "method,reading,c,budget,milliseconds_median,kl_mean\n"};
  std::vector<std::vector<std::string>> rows;
  for (const std::int64_t budget : budgets) rows.push_back({fmt::format("{}", budget)});
  for (std::size_t l = 0; l < lines.size(); ++l) {
    Series series = lines[l];
    table.header.push_back(series.name);
    for (std::size_t b = 0; b < budgets.size(); ++b) {
      if (std::isnan(series.points[b].y)) {
        rows[b].emplace_back("-");
        continue;
      }
      const double milliseconds = 1e3 * median(column(instances, name_of(setup.lines[l], budgets[b]) + ".seconds"));
      series.points[b].x = milliseconds;
      rows[b].push_back(fmt::format("{:.3g}", milliseconds));
      csv.text += fmt::format("{},{},{},{}\n", csv_key(setup.lines[l]), budgets[b], milliseconds, series.points[b].y);
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

// The KL in the paper's Table 1 at 10,000 evaluations, for families for which it reports KL itself: chains.
std::optional<double> paper_kl(const std::string& family, Contender method) {
  const bool is_permuted = family == "permuted-chain";
  if (family != "chain" && !is_permuted) return std::nullopt;
  if (method == Contender::kSis) return is_permuted ? 9.23 : 11.61;
  if (method == Contender::kSmc) return is_permuted ? 7.08 : 1.94;
  if (method == Contender::kTree) return is_permuted ? 3.41 : 0.53;
  return std::nullopt;
}

// A mark for each method for which the paper has a number. Its colour is that of the method's last line, which in the
// paper's figure is that of the best reading.
void add_paper_marks(std::vector<Series>& lines, const Setup& setup) {
  for (const Contender method : all_contenders()) {
    const std::optional<double> kl = paper_kl(setup.family, method);
    const auto last =
        std::find_if(setup.lines.rbegin(), setup.lines.rend(), [&](const Line& line) { return line.method == method; });
    if (!kl || last == setup.lines.rend()) continue;
    lines.push_back({.name = fmt::format("the paper's {}", row_of(method).title),
                     .points = {{static_cast<double>(kPaperBudget), *kl}},
                     .kind = SeriesKind::kMarks,
                     .color = last->color});
  }
}

void add_error(Report& report, const Setup& setup, std::vector<Series> lines, int num_instances) {
  add_paper_marks(lines, setup);
  report.figures.push_back(
      {.name = setup.is_paper ? "chain_error" : "figure1_error",
       .title = "Error against budget",
       .caption = setup.is_paper
                      ? "Mean KL with standard errors. The two spaces of this library solve a chain exactly with 230 "
                        "evaluations or fewer; SMC and the paper's tree search improve slowly with the budget."
                      : "Mean KL with standard errors.",
       .script = plot_script({.title = fmt::format("{}: mean of {}", setup.title(), counted(num_instances, "problem")),
                              .x_label = "budget: reward evaluations",
                              .y_label = "KL to the target (nats)",
                              .is_x_log = true,
                              .is_y_log = true,
                              .extra = "set xrange [25:*]\n",
                              .series = lines})});
}

// Energy and entropy of every instance at the paper's budget, or at the largest one if that is smaller.
void add_scatter(Report& report, const Setup& setup, const std::vector<const Numbers*>& instances,
                 std::int64_t budget) {
  Plot plot{.title = setup.title() + ": every instance",
            .x_label = "energy of the target minus energy (lower is better)",
            .y_label = "entropy minus that of the target (higher is better)"};
  CsvFile csv{"figure1_energy_entropy", "method,reading,c,instance,delta_energy,delta_entropy,kl\n"};
  Table table{.title = fmt::format("{}: energy and entropy at B = {}", setup.title(), budget),
              .header = {"method", "delta-energy", "delta-entropy", "KL"}};
  for (const Line& line : setup.lines) {
    if (line.method == Contender::kGraph || line.method == Contender::kAndOr) continue;
    if (!is_paid(instances, name_of(line, budget))) continue;
    Series series{.name = line.name, .kind = SeriesKind::kCloud, .color = line.color};
    const std::vector<double> energies = column(instances, name_of(line, budget) + ".delta_energy");
    const std::vector<double> entropies = column(instances, name_of(line, budget) + ".delta_entropy");
    const std::vector<double> divergences = column(instances, name_of(line, budget) + ".kl");
    for (std::size_t i = 0; i < instances.size(); ++i) {
      series.points.push_back({energies[i], entropies[i]});
      csv.text += fmt::format("{},{},{},{},{}\n", csv_key(line), i, energies[i], entropies[i], divergences[i]);
    }
    table.rows.push_back({line.name, summary_text(energies), summary_text(entropies), summary_text(divergences)});
    // The points of the literal reading are far away and would squeeze the others into a corner.
    if (line.reading == Reading::kBest || !setup.is_paper) plot.series.push_back(series);
  }
  table.remark = "Mean +- standard deviation (standard error). KL = delta-energy - delta-entropy.";
  report.tables.push_back(table);
  report.csv_files.push_back(csv);
  report.figures.push_back(
      {.name = "figure1_energy_entropy",
       .title = "Energy against entropy",
       .caption = fmt::format("Each point is one problem, B = {}. The target is at (0, 0).", budget),
       .script = plot_script(plot)});
}

}  // namespace

std::optional<Report> run_figure1(const ExperimentOptions& options, const RunControl& control) {
  const Setup setup = setup_of(options);
  ExperimentOptions sized = options;
  if (!setup.models.empty())
    sized.num_instances = std::min(options.num_instances, static_cast<int>(setup.models.size()));
  const auto runs = run_cases(
      "figure1", {setup.family}, sized, [&](int, int i) { return run_problem(sized, setup, i, control); }, control);
  if (!runs) return std::nullopt;
  const std::vector<const Numbers*> instances = runs->of(0);

  const std::vector<std::int64_t> budgets = budgets_up_to(kBudgets, sized.budget);
  const std::vector<Series> lines = error_series(setup, instances, budgets);
  Report report;
  report.title = fmt::format("Figure 1: error against budget on {}", setup.title());
  report.introduction =
      fmt::format("{}{}. Error is KL[P_X || P*] in nats, exact for every method.",
                  counted(sized.num_instances, "problem"), setup.is_paper ? ", random chains (N = 10, K = 5)" : "");
  report.options = report_options("figure1", sized);
  add_error(report, setup, lines, sized.num_instances);
  report.tables.push_back(error_table(setup, lines, budgets));
  CsvFile csv{"figure1_error", "method,reading,c,budget,kl_mean,kl_standard_error\n"};
  for (std::size_t l = 0; l < lines.size(); ++l) {
    for (const PlotPoint& point : lines[l].points) {
      if (std::isnan(point.y)) continue;
      csv.text += fmt::format("{},{},{},{}\n", csv_key(setup.lines[l]), point.x, point.y, point.error);
    }
  }
  report.csv_files.push_back(csv);
  add_time(report, setup, instances, budgets, lines);
  const bool has_paper_budget = std::find(budgets.begin(), budgets.end(), kPaperBudget) != budgets.end();
  add_scatter(report, setup, instances, has_paper_budget ? kPaperBudget : budgets.back());
  return report;
}

}  // namespace treesample::experiments
