#include "compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plot.hpp"
#include "statistics.hpp"
#include "treesample/error.hpp"
#include "treesample/evaluate/importance.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/text.hpp"

namespace treesample::experiments {
namespace {

constexpr char kReferenceKey[] = "reference";

struct Cell {
  int setting;
  std::int64_t budget;
  int run;
};

std::string key_of(const CompareOptions& options, const Cell& cell) {
  return fmt::format("{}/{}/{}", word_of(options.settings[cell.setting].method), cell.budget, cell.run);
}

bool is_random(const MethodSetting& setting) {
  switch (setting.method) {
    case Method::kUniform:
    case Method::kMass:
      return false;
    case Method::kTree:
    case Method::kElbo:
    case Method::kGraph:
    case Method::kAndOr:
      return setting.ties == TieRule::kRandom;
    default:
      return true;
  }
}

std::optional<Numbers> reference(const FactorGraph& graph, const CompareOptions& options, const RunControl& control) {
  if (graph.has_only_tables()) {
    const EliminationCost cost = elimination_cost(graph);
    if (cost.num_entries <= options.max_elimination_entries && cost.bytes <= options.max_elimination_bytes) {
      const auto limit = static_cast<std::uint64_t>(options.max_elimination_bytes);
      const Elimination elimination(graph, {.memory_limit_bytes = limit, .keep_messages = false});
      return Numbers{{"log_z", elimination.log_z()}, {"error", 0.0}, {"is_exact", 1.0}};
    }
  }
  const SearchSpace space = make_search_space(graph, search_order(graph, SpaceKind::kAndOr, {}), SpaceKind::kAndOr);
  const SearchResult search = tree_sample(graph, space, {.budget = options.budgets.back(), .seed = options.seed},
                                          nullptr, [&](const SearchProgress&) { return !control.is_interrupted(); });
  if (search.report.stop == StopReason::kInterrupted) return std::nullopt;
  if (search.approximation.is_exact()) {
    return Numbers{{"log_z", search.approximation.log_z()}, {"error", 0.0}, {"is_exact", 1.0}};
  }
  Random random(options.seed, "reference");
  const ImportanceEstimate estimate = importance_estimate(graph, search.approximation, options.num_importance_samples,
                                                          random, [&](int) { return !control.is_interrupted(); });
  if (control.is_interrupted()) return std::nullopt;
  return Numbers{{"log_z", estimate.log_z}, {"error", estimate.std_error}, {"is_exact", 0.0}};
}

// A budget that does not pay for one sample, or a method that the model does not allow, is a cell without numbers.
std::optional<Numbers> run_cell(const FactorGraph& graph, const CompareOptions& options, const Cell& cell,
                                const RunControl& control) {
  const MethodSetting& setting = options.settings[cell.setting];
  std::optional<Outcome> outcome;
  try {
    outcome = run_method(graph, setting,
                         {.budget = cell.budget,
                          .seed = Random(options.seed, key_of(options, cell)).bits(),
                          .is_interrupted = control.is_interrupted});
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kArgument) throw;
    return Numbers{{"is_refused", 1.0}};
  }
  if (!outcome) return std::nullopt;
  Numbers numbers{
      {"is_refused", 0.0},          {"delta_kl", outcome->delta_kl}, {"delta_kl_error", outcome->delta_kl_error},
      {"energy", outcome->energy},  {"entropy", outcome->entropy},   {"evaluations", outcome->num_evaluations},
      {"seconds", outcome->seconds}};
  if (outcome->log_z) numbers["log_z"] = *outcome->log_z;
  return numbers;
}

using Results = std::map<std::string, Numbers>;

// The finished runs of a method at a budget, reduced to one measure; empty where there is none.
std::vector<double> measured(const CompareOptions& options, const Results& results, int setting, std::int64_t budget,
                             const std::string& measure) {
  std::vector<double> values;
  const Numbers& target = results.at(kReferenceKey);
  for (int run = 0; run < options.num_runs; ++run) {
    const auto found = results.find(key_of(options, {setting, budget, run}));
    if (found == results.end() || found->second.at("is_refused") != 0.0) continue;
    const Numbers& numbers = found->second;
    if (measure == "kl") {
      values.push_back(target.at("log_z") + numbers.at("delta_kl"));
    } else if (measure == "log_z_error") {
      if (numbers.contains("log_z")) values.push_back(std::abs(numbers.at("log_z") - target.at("log_z")));
    } else {
      values.push_back(numbers.at(measure));
    }
  }
  return values;
}

std::string error_text(const std::vector<double>& values) {
  if (values.empty()) return "-";
  const Summary summary = summarize(values);
  if (std::isinf(summary.mean)) return "inf";
  if (std::abs(summary.mean) < kExact) return "exact";
  return values.size() == 1 ? fmt::format("{:.3g}", summary.mean)
                            : fmt::format("{:.3g} +- {:.1g}", summary.mean, summary.error);
}

// One table and one figure for a measure of error.
void add_measure(Report& report, const CompareOptions& options, const Results& results, const std::string& measure,
                 const std::string& title) {
  Table table{.title = title, .header = {"method"}};
  for (const std::int64_t budget : options.budgets) table.header.push_back(fmt::format("B = {}", budget));
  Plot plot{.title = options.model_name,
            .x_label = "budget: reward evaluations",
            .y_label = title,
            .is_x_log = true,
            .is_y_log = true};
  for (std::size_t s = 0; s < options.settings.size(); ++s) {
    const Method method = options.settings[s].method;
    std::vector<std::string> row{title_of(method)};
    Series series{.name = title_of(method), .color = color_of(method)};
    for (const std::int64_t budget : options.budgets) {
      const std::vector<double> values = measured(options, results, static_cast<int>(s), budget, measure);
      row.push_back(error_text(values));
      if (values.empty()) continue;
      const Summary summary = summarize(values);
      series.points.push_back({static_cast<double>(budget), summary.mean, summary.error});
    }
    if (std::all_of(row.begin() + 1, row.end(), [](const std::string& cell) { return cell == "-"; })) continue;
    table.rows.push_back(row);
    plot.series.push_back(series);
  }
  if (table.rows.empty()) return;
  table.remark =
      "Mean over runs +- its standard error. '-': the budget does not pay for one sample, or the method does not work "
      "on this model. 'inf': possible under P_X, impossible under the target.";
  report.tables.push_back(table);
  const std::string script = plot_script(plot);
  if (script.empty()) return;
  report.figures.push_back(
      {.name = measure, .title = title, .caption = "Mean over runs with standard errors.", .script = script});
}

CsvFile cells_csv(const CompareOptions& options, const Results& results) {
  CsvFile csv{"compare", "method,settings,budget,run,kl,delta_kl,delta_kl_error,energy,entropy,log_z,evaluations\n"};
  const double log_z = results.at(kReferenceKey).at("log_z");
  for (std::size_t s = 0; s < options.settings.size(); ++s) {
    for (const std::int64_t budget : options.budgets) {
      for (int run = 0; run < options.num_runs; ++run) {
        const auto found = results.find(key_of(options, {static_cast<int>(s), budget, run}));
        if (found == results.end() || found->second.at("is_refused") != 0.0) continue;
        const Numbers& numbers = found->second;
        csv.text += fmt::format(
            "{},{},{},{},{},{},{},{},{},{},{}\n", word_of(options.settings[s].method), options.settings[s].tuned_text(),
            budget, run, log_z + numbers.at("delta_kl"), numbers.at("delta_kl"), numbers.at("delta_kl_error"),
            numbers.at("energy"), numbers.at("entropy"),
            numbers.contains("log_z") ? fmt::format("{}", numbers.at("log_z")) : "", numbers.at("evaluations"));
      }
    }
  }
  return csv;
}

Table cost_table(const CompareOptions& options, const Results& results) {
  Table table{.title = "Spent at the largest budget",
              .header = {"method", "evaluations", "seconds", "energy", "entropy", "settings"}};
  for (std::size_t s = 0; s < options.settings.size(); ++s) {
    const auto mean = [&](const std::string& measure) {
      return summarize(measured(options, results, static_cast<int>(s), options.budgets.back(), measure)).mean;
    };
    if (measured(options, results, static_cast<int>(s), options.budgets.back(), "seconds").empty()) continue;
    table.rows.push_back({title_of(options.settings[s].method), fmt::format("{:.0f}", mean("evaluations")),
                          fmt::format("{:.3f}", mean("seconds")), fmt::format("{:.4f}", mean("energy")),
                          fmt::format("{:.4f}", mean("entropy")), options.settings[s].tuned_text()});
  }
  return table;
}

}  // namespace

std::optional<Report> compare(const FactorGraph& graph, const CompareOptions& options, const RunControl& control) {
  check_argument(!options.settings.empty(), "compare", "there is no method");
  check_argument(!options.budgets.empty(), "compare", "there is no budget");
  std::vector<Cell> cells;
  std::vector<std::string> keys{kReferenceKey};
  for (const std::int64_t budget : options.budgets) {
    for (std::size_t s = 0; s < options.settings.size(); ++s) {
      for (int run = 0; run < (is_random(options.settings[s]) ? options.num_runs : 1); ++run) {
        cells.push_back({static_cast<int>(s), budget, run});
        keys.push_back(key_of(options, cells.back()));
      }
    }
  }
  Fingerprint fingerprint = options.model_fingerprint;
  fingerprint.emplace_back("experiment", "compare");
  fingerprint.emplace_back("largest budget", fmt::format("{}", options.budgets.back()));
  fingerprint.emplace_back("seed", fmt::format("{}", options.seed));
  fingerprint.emplace_back("version", TREESAMPLE_VERSION);
  RunStore store(options.run_file, fingerprint);
  const auto all = run_instances(
      store, keys,
      [&](int k) {
        return k == 0 ? reference(graph, options, control) : run_cell(graph, options, cells[k - 1], control);
      },
      control);
  if (!all) return std::nullopt;
  Results results;
  for (std::size_t k = 0; k < keys.size(); ++k) results[keys[k]] = (*all)[k];
  const Numbers& target = results.at(kReferenceKey);
  if (target.at("log_z") == kNegInf) {
    throw Error(
        ErrorCode::kNumeric,
        fmt::format("{}: no possible configuration was found, there is nothing to compare with", options.model_name));
  }

  Report report;
  report.title = fmt::format("Methods compared on {}", options.model_name);
  report.introduction =
      target.at("is_exact") != 0.0
          ? fmt::format("{}, {}; log Z = {}, exact.", counted(graph.num_variables(), "variable"),
                        counted(graph.num_factors(), "factor"), fixed(target.at("log_z")))
          : fmt::format(
                "{} variables, {} factors; log Z = {:.4f} +- {:.4f} by importance sampling from the andor "
                "search with the largest budget: every KL is off by the same unknown error.",
                graph.num_variables(), graph.num_factors(), target.at("log_z"), target.at("error"));
  report.options = {{"model", options.model_name},
                    {"runs", fmt::format("{}", options.num_runs)},
                    {"budget unit", "reward evaluations"},
                    {"seed", fmt::format("{}", options.seed)},
                    {"version", "treesample " TREESAMPLE_VERSION}};
  add_measure(report, options, results, "kl", "KL to the target (nats)");
  add_measure(report, options, results, "log_z_error", "error of log Z (nats)");
  report.tables.push_back(cost_table(options, results));
  report.csv_files.push_back(cells_csv(options, results));
  return report;
}

}  // namespace treesample::experiments
