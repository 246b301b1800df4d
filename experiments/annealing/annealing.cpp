// Coverage of the intervals of annealed importance sampling.
#include <fmt/format.h>

#include <array>

#include "annealing/coverage.hpp"
#include "experiment.hpp"
#include "run_cases.hpp"

namespace treesample::experiments {
namespace {

constexpr std::array kConfidences = {0.5, 0.9, 0.95, 0.99};
constexpr int kChains = 64, kSamples = 64;

std::string name_of(const char* what, double confidence) { return fmt::format("{}.{}", what, confidence); }

Numbers run_kind(const AnnealedKind& kind, std::uint64_t seed) {
  Numbers numbers;
  for (const double confidence : kConfidences) {
    const AnnealedInterval interval = annealed_interval(kind, confidence, kChains, kSamples, seed);
    numbers[name_of("above", confidence)] = interval.lower > kind.exact.log_z ? 1.0 : 0.0;
    numbers[name_of("below", confidence)] = interval.upper < kind.exact.log_z ? 1.0 : 0.0;
    numbers[name_of("length", confidence)] = std::min(1e3, interval.upper - interval.lower);
  }
  return numbers;
}

double sum(const std::vector<double>& values) {
  double total = 0.0;
  for (const double value : values) total += value;
  return total;
}

}  // namespace

std::optional<Report> run_annealing(const ExperimentOptions& options, const RunControl& control) {
  const std::vector<AnnealedKind>& kinds = annealed_kinds();
  std::vector<std::string> names;
  for (const AnnealedKind& kind : kinds) names.push_back(kind.name);
  const auto runs = run_cases(
      "annealing", names, options,
      [&](int k, int i) { return run_kind(kinds[k], options.seed + static_cast<std::uint64_t>(i)); }, control);
  if (!runs) return std::nullopt;
  Report report{.title = "Annealed importance sampling: coverage"};
  report.introduction = fmt::format(
      "Intervals of log Z from {} chains to the model and {} back from exact samples, with few temperatures; {} seeds. "
      "Each end has half of the error probability.",
      kChains, kSamples, options.num_instances);
  report.options = report_options("annealing", options);
  Table table{.title = "Intervals that miss", .header = {"model", "confidence", "allowed", "missed", "mean length"}};
  CsvFile csv{"annealing", "model,confidence,runs,allowed,lower_end_above,upper_end_below,mean_length\n"};
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const std::vector<const Numbers*> instances = runs->of(k);
    for (const double confidence : kConfidences) {
      const double above = sum(column(instances, name_of("above", confidence)));
      const double below = sum(column(instances, name_of("below", confidence)));
      const auto count = static_cast<double>(instances.size());
      const double length = sum(column(instances, name_of("length", confidence))) / count;
      const double allowed = count * (1.0 - confidence);
      table.rows.push_back({kinds[k].name, fmt::format("{}", confidence), fmt::format("{:.1f}", allowed),
                            fmt::format("{}", above + below), fmt::format("{:.3f}", length)});
      csv.text += fmt::format("{},{},{},{:.1f},{},{},{:.4f}\n", kinds[k].name, confidence, count, allowed, above, below,
                              length);
    }
  }
  report.tables.push_back(table);
  report.csv_files.push_back(csv);
  return report;
}

}  // namespace treesample::experiments
