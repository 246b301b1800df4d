#include "compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "compare_cells.hpp"
#include "plot.hpp"
#include "separate_queue.hpp"
#include "statistics.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/text.hpp"
#include "verdict.hpp"

namespace treesample::experiments {
namespace {

constexpr char kReferenceKey[] = "reference";
constexpr char kBestGap[] = "best_gap";
constexpr char kTotalVariation[] = "total_variation";
constexpr char kHasFunctions[] = "has_functions";  // key of a flag stored among the results of the reference

// If a budget does not pay for one sample, or the model does not allow a method, the cell has no numbers.
std::optional<Numbers> run_cell(const FactorGraph& graph, const CompareOptions& options, const Cell& cell,
                                const Numbers& target, const RunControl& control) {
  const MethodSetting& setting = options.settings[cell.setting];
  MethodRun run{.budget = cell.budget,
                .seed = Random(options.seed, key_of(options, cell)).bits(),
                .aim = options.aim,
                .is_interrupted = control.is_interrupted};
  if (target.contains("log_z") && target.at("log_z") != kNegInf) run.log_z = target.at("log_z");
  if (!graph.has_only_tables()) {
    run.unit = BudgetUnit::kCall;
    run.num_samples = static_cast<int>(reference_plan(graph, options).kl_samples);
  }
  std::optional<Outcome> outcome;
  try {
    outcome = run_method(graph, setting, run);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kArgument) throw;
    return Numbers{{"is_refused", 1.0}};
  }
  if (!outcome) return std::nullopt;
  Numbers numbers{{"is_refused", 0.0},
                  {"evaluations", outcome->num_evaluations},
                  {"calls", outcome->num_calls},
                  {"seconds", outcome->seconds}};
  if (outcome->has_divergence) {
    numbers["delta_kl"] = outcome->delta_kl;
    numbers["delta_kl_error"] = outcome->delta_kl_error;
  }
  if (outcome->has_divergence && !std::isnan(outcome->energy)) {
    numbers["energy"] = outcome->energy;
    numbers["entropy"] = outcome->entropy;
  }
  if (outcome->total_variation) numbers[kTotalVariation] = *outcome->total_variation;
  if (outcome->log_z && options.aim == Aim::kAll) numbers["log_z"] = *outcome->log_z;
  if (outcome->best) numbers["best"] = *outcome->best;
  if (outcome->is_best_optimal) numbers["is_best_optimal"] = 1.0;
  return numbers;
}

// None if the run is interrupted: programs are then told to end while an answer is awaited.
template <typename Work>
std::optional<Numbers> unless_interrupted(Work work) {
  try {
    return work();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInterrupted) throw;
    return std::nullopt;
  }
}

using Results = std::map<std::string, Numbers>;

// One measure of the finished runs of a method at a budget; empty if there are none.
std::vector<double> measured(const CompareOptions& options, const Results& results, int setting, std::int64_t budget,
                             const std::string& measure) {
  std::vector<double> values;
  const Numbers& target = results.at(kReferenceKey);
  const bool needs_target = measure == "kl" || measure == "log_z_error";
  if (needs_target && !target.contains("log_z")) return values;
  const std::string name = measure == "kl"            ? "delta_kl"
                           : measure == "log_z_error" ? "log_z"
                           : measure == kBestGap      ? "best"
                                                      : measure;
  for (int run = 0; run < options.num_runs; ++run) {
    const auto found = results.find(key_of(options, {setting, budget, run}));
    if (found == results.end() || found->second.at("is_refused") != 0.0 || !found->second.contains(name)) continue;
    const double value = found->second.at(name);
    if (measure == "kl") {
      values.push_back(target.at("log_z") + value);
    } else if (measure == kBestGap) {
      values.push_back(value == kNegInf ? HUGE_VAL : target.at("best") - value);
    } else {
      values.push_back(measure == "log_z_error" ? std::abs(value - target.at("log_z")) : value);
    }
  }
  return values;
}

// Stores the best of all runs beside the reference.
void note_best(Results& results) {
  double best = kNegInf;
  bool is_optimal = false;
  for (const auto& [key, numbers] : results) {
    if (!numbers.contains("best")) continue;
    best = std::max(best, numbers.at("best"));
    is_optimal = is_optimal || numbers.contains("is_best_optimal");
  }
  if (best == kNegInf) return;
  results.at(kReferenceKey)["best"] = best;
  if (is_optimal) results.at(kReferenceKey)["is_best_optimal"] = 1.0;
}

std::string error_text(const std::vector<double>& values, const char* nothing) {
  if (values.empty()) return "-";
  const Summary summary = summarize(values);
  if (std::isinf(summary.mean)) return "inf";
  if (std::abs(summary.mean) < kExact) return nothing;
  return values.size() == 1 ? fmt::format("{:.3g}", summary.mean)
                            : fmt::format("{:.3g} +- {:.1g}", summary.mean, summary.error);
}

std::string unit_text(const Results& results) {
  return results.at(kReferenceKey).contains(kHasFunctions) ? "calls of programs" : "reward evaluations";
}

// Which method to take, by the measure that says most and that some method has: the best configuration where that was
// asked for, the total variation of a model with functions, else the KL, else log Z. What elimination answers needs
// none.
std::string recommendation(const CompareOptions& options, const Results& results) {
  const Numbers& target = results.at(kReferenceKey);
  const bool has_functions = target.contains(kHasFunctions);
  std::vector<std::pair<const char*, const char*>> measures = {
      {kBestGap, "distance to the best"}, {"kl", "KL to the target"}, {"log_z_error", "error of log Z"}};
  if (has_functions) measures.insert(measures.begin() + 1, {kTotalVariation, "total variation to the target"});
  const bool is_easy = !has_functions && target.contains("log_z") && target.at("is_exact") != 0.0;
  const std::string easy =
      "Take infer without --method: it answers this model exactly, by elimination, and needs no budget. ";
  for (const auto& [measure, words] : measures) {
    if (is_easy && measure == kBestGap) continue;  // of tables, where it is no question
    std::vector<MethodErrors> methods;
    for (std::size_t s = 0; s < options.settings.size(); ++s) {
      MethodErrors& method = methods.emplace_back(MethodErrors{title_of(options.settings[s].contender), {}});
      for (const std::int64_t budget : options.budgets) {
        method.errors.push_back(measured(options, results, static_cast<int>(s), budget, measure));
      }
    }
    const std::string text = verdict(methods, options.budgets, has_functions ? "calls" : "evaluations", words);
    if (!text.empty()) return is_easy ? fmt::format("{}Of the methods with a budget: {}", easy, text) : text;
  }
  return is_easy ? easy : "";
}

// Methods that are left out of a table because they have no number there, by reason.
struct LeftOut {
  std::vector<std::string> refused, infinite;

  [[nodiscard]] std::string text() const {
    std::string said;
    if (!refused.empty()) {
      said += fmt::format(" Without a number: {} (the method is not for this model, or the budget pays for nothing).",
                          fmt::join(refused, ", "));
    }
    if (!infinite.empty()) {
      said += fmt::format(" Infinite at every budget: {} (nothing possible was found, or what is impossible got mass).",
                          fmt::join(infinite, ", "));
    }
    return said;
  }
};

// One table and one figure for a measure of error.
void add_measure(Report& report, const CompareOptions& options, const Results& results, const std::string& measure,
                 const std::string& title) {
  Table table{.title = title, .header = {"method"}};
  for (const std::int64_t budget : options.budgets) table.header.push_back(fmt::format("B = {}", budget));
  Plot plot{.title = options.model_name,
            .x_label = "budget: " + unit_text(results),
            .y_label = title,
            .is_x_log = true,
            .is_y_log = measure != kBestGap && measure != kTotalVariation};
  LeftOut left_out;
  for (std::size_t s = 0; s < options.settings.size(); ++s) {
    const Contender method = options.settings[s].contender;
    std::vector<std::string> row{title_of(method)};
    Series series{.name = title_of(method), .color = color_of(method)};
    for (const std::int64_t budget : options.budgets) {
      const std::vector<double> values = measured(options, results, static_cast<int>(s), budget, measure);
      row.push_back(error_text(values, measure == kBestGap ? "0" : "exact"));
      if (values.empty()) continue;
      const Summary summary = summarize(values);
      series.points.push_back({static_cast<double>(budget), summary.mean, summary.error});
    }
    if (series.points.empty()) {
      left_out.refused.push_back(series.name);
      continue;
    }
    if (std::none_of(series.points.begin(), series.points.end(),
                     [](const PlotPoint& point) { return std::isfinite(point.y); })) {
      left_out.infinite.push_back(series.name);
      continue;
    }
    table.rows.push_back(row);
    plot.series.push_back(series);
  }
  if (table.rows.empty()) {
    if (!left_out.infinite.empty()) report.introduction += fmt::format(" {}:{}", title, left_out.text());
    return;
  }
  table.remark = "Mean over runs +- its standard error. '-': the budget pays for nothing. 'inf': of a run at least." +
                 left_out.text();
  report.tables.push_back(table);
  const std::string script = plot_script(plot);
  if (script.empty()) return;
  report.figures.push_back({.name = measure,
                            .title = title,
                            .caption = "Mean over runs with standard errors.",
                            .script = script,
                            .plot = plot});
}

CsvFile cells_csv(const CompareOptions& options, const Results& results) {
  CsvFile csv{"compare",
              "method,settings,budget,run,kl,delta_kl,delta_kl_error,energy,entropy,log_z,evaluations,calls,best,"
              "total_variation\n"};
  const Numbers& target = results.at(kReferenceKey);
  for (const Cell& cell : cells_of(options)) {
    const auto found = results.find(key_of(options, cell));
    if (found == results.end() || found->second.at("is_refused") != 0.0) continue;
    const Numbers& numbers = found->second;
    const auto text = [&](const char* name) {
      return numbers.contains(name) ? fmt::format("{}", numbers.at(name)) : std::string();
    };
    const bool has_kl = numbers.contains("delta_kl") && target.contains("log_z");
    csv.text +=
        fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", word_of(options.settings[cell.setting].contender),
                    options.settings[cell.setting].tuned_text(), cell.budget, cell.run,
                    has_kl ? fmt::format("{}", target.at("log_z") + numbers.at("delta_kl")) : "", text("delta_kl"),
                    text("delta_kl_error"), text("energy"), text("entropy"), text("log_z"), text("evaluations"),
                    text("calls"), text("best"), text(kTotalVariation));
  }
  return csv;
}

Table cost_table(const CompareOptions& options, const Results& results) {
  Table table{.title = "Spent at the largest budget",
              .header = {"method", "evaluations", "calls", "seconds", "energy", "entropy", "settings"}};
  for (std::size_t s = 0; s < options.settings.size(); ++s) {
    const auto mean = [&](const std::string& measure, int digits) {
      const std::vector<double> values =
          measured(options, results, static_cast<int>(s), options.budgets.back(), measure);
      return values.empty() ? "-" : fmt::format("{:.{}f}", summarize(values).mean, digits);
    };
    if (mean("seconds", 3) == "-") continue;
    table.rows.push_back({title_of(options.settings[s].contender), mean("evaluations", 0), mean("calls", 0),
                          mean("seconds", 3), mean("energy", 4), mean("entropy", 4), options.settings[s].tuned_text()});
  }
  return table;
}

std::string introduction(const FactorGraph& graph, const CompareOptions& options, const Numbers& target) {
  const std::string sizes =
      fmt::format("{}, {}; ", counted(graph.num_variables(), "variable"), counted(graph.num_factors(), "factor"));
  std::string text;
  if (options.aim == Aim::kBest) {
    if (!target.contains("best")) return sizes + "no run found a possible configuration.";
    return sizes + fmt::format("the best configuration of all runs has the log density {}{}.", fixed(target.at("best")),
                               target.contains("is_best_optimal") ? ", and no other is better" : "");
  }
  if (!target.contains("log_z")) {
    text = "log Z is not known, so that there is no KL: --reference-calls pays for neither.";
  } else if (target.at("is_exact") != 0.0) {
    text = fmt::format("log Z = {}, exact.", fixed(target.at("log_z")));
  } else {
    text = fmt::format("log Z = {:.4f} {} by importance sampling from {}: every KL is off by the same unknown error.",
                       target.at("log_z"),
                       std::isfinite(target.at("error")) ? fmt::format("+- {:.4f}", target.at("error"))
                                                         : "(its error is not known: too few effective samples)",
                       graph.has_only_tables() ? "the andor search with the largest budget" : "a run of its own");
  }
  if (!graph.has_only_tables() && target.contains("log_z")) {
    text += fmt::format(" The KL of a search is from {} samples.", reference_plan(graph, options).kl_samples);
  }
  return sizes + text;
}

// What the runs of a file depend on.
Fingerprint fingerprint_of(const FactorGraph& graph, const CompareOptions& options) {
  Fingerprint fingerprint = options.model_fingerprint;
  fingerprint.emplace_back("experiment", "compare");
  fingerprint.emplace_back("largest budget", fmt::format("{}", options.budgets.back()));
  fingerprint.emplace_back("seed", fmt::format("{}", options.seed));
  fingerprint.emplace_back("version", TREESAMPLE_VERSION);
  if (options.aim == Aim::kBest) fingerprint.emplace_back("question", "best");
  if (!graph.has_only_tables()) {
    const ReferencePlan plan = reference_plan(graph, options);
    fingerprint.emplace_back("reference",
                             fmt::format("{} calls, {} samples per KL", options.reference_calls, plan.kl_samples));
  }
  return fingerprint;
}

}  // namespace

std::optional<Report> compare(const FactorGraph& whole, const CompareOptions& options, const RunControl& control) {
  check_argument(!options.settings.empty(), "compare", "there is no method");
  check_argument(!options.budgets.empty(), "compare", "there is no budget");
  const FactorGraph graph = separated(whole);
  const bool has_functions = !graph.has_only_tables();
  check_argument(has_functions || options.aim == Aim::kAll, "--question",
                 "is best, which compares methods on models with functions; for tables infer proves it");
  const std::vector<Cell> cells = cells_of(options);
  std::vector<std::string> keys{kReferenceKey};
  for (const Cell& cell : cells) keys.push_back(key_of(options, cell));
  RunStore store(options.run_file, fingerprint_of(graph, options));
  RunControl one_by_one = control;
  if (has_functions) one_by_one.num_threads = 1;
  // The reference first: the total variation of a run is to it.
  const auto target_alone = run_instances(
      store, {kReferenceKey},
      [&](int) { return unless_interrupted([&] { return reference(graph, options, control); }); }, control);
  if (!target_alone) return std::nullopt;
  const auto all = run_instances(
      store, keys,
      [&](int k) {
        if (k == 0) return std::optional(target_alone->front());
        return unless_interrupted(
            [&] { return run_cell(graph, options, cells[k - 1], target_alone->front(), control); });
      },
      one_by_one);
  if (!all) return std::nullopt;
  Results results;
  for (std::size_t k = 0; k < keys.size(); ++k) results[keys[k]] = (*all)[k];
  Numbers& target = results.at(kReferenceKey);
  if (has_functions) target[kHasFunctions] = 1.0;
  note_best(results);
  if (target.contains("log_z") && target.at("log_z") == kNegInf) {
    throw Error(
        ErrorCode::kNumeric,
        fmt::format("{}: no possible configuration was found, there is nothing to compare with", options.model_name));
  }

  Report report;
  report.title = fmt::format("Methods compared on {}", options.model_name);
  report.introduction = introduction(graph, options, target);
  report.advice = recommendation(options, results);
  report.options = {{"model", options.model_name},
                    {"runs", fmt::format("{}", options.num_runs)},
                    {"budget unit", unit_text(results)},
                    {"seed", fmt::format("{}", options.seed)},
                    {"version", "treesample " TREESAMPLE_VERSION}};
  if (has_functions) report.options.emplace_back("reference calls", fmt::format("{}", options.reference_calls));
  add_measure(report, options, results, kBestGap, "best found: nats below the best of all runs");
  if (has_functions) add_measure(report, options, results, kTotalVariation, "total variation to the target");
  add_measure(report, options, results, "kl", "KL to the target (nats)");
  add_measure(report, options, results, "log_z_error", "error of log Z (nats)");
  report.tables.push_back(cost_table(options, results));
  report.csv_files.push_back(cells_csv(options, results));
  return report;
}

}  // namespace treesample::experiments
