// Rare failures of monotone systems: certified bounds and intervals from few calls, compared with plain Monte Carlo.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiment.hpp"
#include "plot.hpp"
#include "reliability/systems.hpp"
#include "run_cases.hpp"
#include "statistics.hpp"
#include "treesample/infer/infer.hpp"

namespace treesample::experiments {
namespace {

constexpr std::int64_t kCalls[] = {30, 100, 300, 1'000, 2'000, 4'000, 10'000, 21'000};
constexpr std::int64_t kMostSampledCalls = 4'000;  // for the runs with samples
constexpr double kHalfWidth = 0.01, kNormal95 = 1.959963984540054;

// Half the distance of two bounds, relative to their middle.
double half_width(double log_lower, double log_upper) { return std::tanh((log_upper - log_lower) / 2.0); }
// 1.96 standard errors of this many plain samples, relative to the probability.
double monte_carlo_half_width(double probability, std::int64_t calls) {
  return kNormal95 * std::sqrt((1.0 - probability) / probability / static_cast<double>(calls));
}
double monte_carlo_calls(double probability) {
  return std::pow(kNormal95 / kHalfWidth, 2) * (1.0 - probability) / probability;
}

// Adds the bounds after each number of calls, and the number after which they are within 1 %.
bool add_certified(Numbers& numbers, const ReliabilitySystem& system, std::int64_t budget, std::uint64_t seed,
                   const RunControl& control) {
  std::vector<std::pair<std::int64_t, double>> steps = {{0, 1.0}};
  const Observer observer{.progress =
                              [&](const Progress& now) {
                                if (now.log_z.upper < HUGE_VAL)
                                  steps.emplace_back(now.spent.calls, half_width(now.log_z.lower, now.log_z.upper));
                              },
                          .should_stop = control.is_interrupted};
  const Answer answer = infer(system.graph, {.marginals = false},
                              {.calls = budget, .gap = 2.0 * std::atanh(kHalfWidth)}, {.seed = seed}, observer);
  if (answer.stop == StopReason::kInterrupted) return false;
  steps.emplace_back(answer.spent.calls, half_width(*answer.lower, *answer.upper));
  for (const std::int64_t calls : steps_up_to(kCalls, budget)) {
    double width = 1.0;
    for (const auto& [spent, at] : steps) {
      if (spent <= calls) width = std::min(width, at);
    }
    numbers[fmt::format("certified.{}", calls)] = width;
  }
  numbers["certified.calls"] = static_cast<double>(answer.spent.calls);
  numbers["certified.width"] = steps.back().second;
  const double truth = std::log(system.probability);
  numbers["certified.holds"] = *answer.lower <= truth && truth <= *answer.upper ? 1.0 : 0.0;
  numbers["certified.seconds"] = answer.seconds;
  return true;
}

bool add_sampled(Numbers& numbers, const ReliabilitySystem& system, std::int64_t budget, std::uint64_t seed,
                 const RunControl& control) {
  const double truth = std::log(system.probability);
  for (const std::int64_t calls : steps_up_to(kCalls, std::min(budget, kMostSampledCalls))) {
    const Answer answer = infer(system.graph, {.marginals = false}, {.calls = calls}, {.seed = seed},
                                {.should_stop = control.is_interrupted});
    if (answer.stop == StopReason::kInterrupted) return false;
    LogBounds interval{*answer.lower, *answer.upper};
    if (answer.bounded_importance && !answer.is_exact) interval = answer.bounded_importance->interval;
    numbers[fmt::format("interval.{}", calls)] = half_width(interval.lower, interval.upper);
    numbers[fmt::format("covers.{}", calls)] = interval.lower <= truth && truth <= interval.upper ? 1.0 : 0.0;
    numbers[fmt::format("error.{}", calls)] = std::abs(std::expm1(*answer.log_z - truth));
  }
  return true;
}

// Draws plain samples of the parts, and adds the share that fails.
void add_monte_carlo(Numbers& numbers, const ReliabilitySystem& system, std::int64_t budget, std::uint64_t seed) {
  Random random(seed, "monte carlo");
  const FactorGraph& graph = system.graph;
  const Factor& failure = graph.factors().back();
  Assignment x(static_cast<std::size_t>(graph.num_variables()));
  std::int64_t num_failed = 0, drawn = 0;
  for (const std::int64_t calls : steps_up_to(kCalls, budget)) {
    for (; drawn < calls; ++drawn) {
      for (int v = 0; v < graph.num_variables(); ++v) {
        x[v] = random.uniform() < std::exp(graph.factor(v).log_values()[0]) ? 0 : 1;
      }
      num_failed += failure.function()(x) == 0.0 ? 1 : 0;
    }
    const double estimate = static_cast<double>(num_failed) / static_cast<double>(calls);
    numbers[fmt::format("monte_carlo.{}", calls)] = std::abs(estimate / system.probability - 1.0);
  }
}

std::optional<Numbers> run_system(const ReliabilitySystem& system, const ExperimentOptions& options, int instance,
                                  const RunControl& control) {
  const std::uint64_t seed = options.seed + static_cast<std::uint64_t>(instance);
  Numbers numbers;
  if (!add_certified(numbers, system, options.budget, seed, control)) return std::nullopt;
  if (!add_sampled(numbers, system, options.budget, seed, control)) return std::nullopt;
  add_monte_carlo(numbers, system, options.budget, seed);
  return numbers;
}

double largest(const std::vector<double>& values) { return *std::max_element(values.begin(), values.end()); }
double total(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum;
}

Table calls_table(const std::vector<ReliabilitySystem>& systems, const CaseRuns& results) {
  Table table{.title = "Calls for +- 1 %",
              .header = {"system", "P(failure), exact", "certified: calls, mean", "largest", "+- there, largest",
                         "bounds hold", "plain Monte Carlo, 95 %"}};
  for (std::size_t i = 0; i < systems.size(); ++i) {
    const auto values = [&](const char* name) { return column(results.of(i), name); };
    table.rows.push_back({systems[i].title, fmt::format("{:.6g}", systems[i].probability),
                          fmt::format("{:.0f}", summarize(values("certified.calls")).mean),
                          fmt::format("{:.0f}", largest(values("certified.calls"))),
                          fmt::format("{:.2f} %", 100.0 * largest(values("certified.width"))),
                          fmt::format("{:.0f} of {}", total(values("certified.holds")), results.of(i).size()),
                          fmt::format("{:.3g}", monte_carlo_calls(systems[i].probability))});
  }
  table.remark = "Exact by convolution (RTS-79) and by states of a frontier (dodecahedron). Monte Carlo: computed.";
  return table;
}

Table interval_table(const std::vector<ReliabilitySystem>& systems, const CaseRuns& results,
                     const std::vector<std::int64_t>& calls) {
  Table table{.title = "Interval with confidence 0.95: +- in %, largest of all runs, and how many cover the truth",
              .header = {"system", "method"}};
  for (const std::int64_t count : calls) table.header.push_back(fmt::format("{} calls", count));
  for (std::size_t i = 0; i < systems.size(); ++i) {
    std::vector<std::string> boxes{systems[i].title, "boxes, samples"}, plain{systems[i].title, "Monte Carlo"};
    for (const std::int64_t count : calls) {
      boxes.push_back(fmt::format("{:.3g} ({:.0f} of {})",
                                  100.0 * largest(column(results.of(i), fmt::format("interval.{}", count))),
                                  total(column(results.of(i), fmt::format("covers.{}", count))), results.of(i).size()));
      plain.push_back(fmt::format("{:.3g}", 100.0 * monte_carlo_half_width(systems[i].probability, count)));
    }
    table.rows.push_back(boxes);
    table.rows.push_back(plain);
  }
  table.remark = "Monte Carlo: 1.96 standard errors, computed from the exact probability.";
  return table;
}

CsvFile csv_of(const std::vector<ReliabilitySystem>& systems, const CaseRuns& results) {
  CsvFile csv{"reliability", "system,exact,quantity,mean,least,largest,standard_error\n"};
  for (std::size_t i = 0; i < systems.size(); ++i) {
    for (const auto& [name, value] : *results.of(i).front()) {
      if (name == "certified.seconds") continue;
      const std::vector<double> values = column(results.of(i), name);
      const Summary summary = summarize(values);
      csv.text += fmt::format("{},{},{},{},{},{},{}\n", systems[i].name, systems[i].probability, name, summary.mean,
                              *std::min_element(values.begin(), values.end()), largest(values), summary.error);
    }
  }
  return csv;
}

Figure figure_of(const std::vector<ReliabilitySystem>& systems, const CaseRuns& results, std::int64_t budget) {
  Plot plot{.title = "Solid: certified; dashed: 95 % interval; without marks: plain Monte Carlo, 95 %",
            .x_label = "calls of the system's function",
            .y_label = "half width, relative to the probability of failure",
            .is_x_log = true,
            .is_y_log = true};
  for (std::size_t i = 0; i < systems.size(); ++i) {
    const int color = static_cast<int>(i);
    Series certified{.name = systems[i].title, .color = color};
    Series interval{.name = "", .color = color, .is_dashed = true};
    Series plain{.name = "", .kind = SeriesKind::kPlainLine, .color = color};
    for (const std::int64_t calls : steps_up_to(kCalls, budget)) {
      const auto mean = [&](const char* what) {
        return summarize(column(results.of(i), fmt::format("{}.{}", what, calls))).mean;
      };
      const auto x = static_cast<double>(calls);
      certified.points.push_back({x, mean("certified")});
      if (calls <= kMostSampledCalls) interval.points.push_back({x, mean("interval")});
      plain.points.push_back({x, monte_carlo_half_width(systems[i].probability, calls)});
    }
    for (Series* const series : {&certified, &interval, &plain}) plot.series.push_back(std::move(*series));
  }
  return {.name = "reliability",
          .title = "Half width against calls",
          .caption = "Mean of all runs. The certified search ends at 1 %.",
          .script = plot_script(plot)};
}

}  // namespace

std::optional<Report> run_reliability(const ExperimentOptions& options, const RunControl& control) {
  const std::vector<ReliabilitySystem> systems = reliability_systems();
  std::vector<std::string> names;
  for (const ReliabilitySystem& system : systems) names.push_back(system.name);
  const auto runs = run_cases(
      "reliability", names, options, [&](int s, int i) { return run_system(systems[s], options, i, control); },
      control);
  if (!runs) return std::nullopt;
  Report report{.title = "Failures of monotone systems, by few calls"};
  report.introduction = fmt::format(
      "Bounds that are certified, and intervals by samples within what the bounds leave open, {} with different seeds "
      "each.",
      options.num_instances == 1 ? "one run" : fmt::format("{} runs", options.num_instances));
  report.options = report_options("reliability", options);
  report.figures.push_back(figure_of(systems, *runs, options.budget));
  report.tables.push_back(calls_table(systems, *runs));
  report.tables.push_back(
      interval_table(systems, *runs, steps_up_to(kCalls, std::min(options.budget, kMostSampledCalls))));
  report.csv_files.push_back(csv_of(systems, *runs));
  return report;
}

}  // namespace treesample::experiments
