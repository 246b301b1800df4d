// Continues a search when memory is short (the paper's section 3.3). With equal memory, it compares a tree search that
// stops when it is full, one that gives half of its nodes back, and one that compiles its tree into Q_phi and builds it
// again.
#include <fmt/format.h>

#include <memory>

#include "experiment.hpp"
#include "run_cases.hpp"
#include "statistics.hpp"
#include "treesample/evaluate/divergence.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/search/search_approximation.hpp"
#include "treesample/tree/rebuilt_search.hpp"

namespace treesample::experiments {
namespace {

struct Cell {
  const char* family;
  std::map<std::string, double> values;
  int megabytes;
};

const std::vector<Cell>& cells() {
  static const std::vector<Cell> all = [] {
    std::vector<Cell> made;
    const std::map<std::string, double> grid = {{"n", 10}};
    for (const char* family : {"chain", "permuted-chain", "factor-graphs-1", "factor-graphs-2", "ising"}) {
      for (const int megabytes : {1, 4, 16}) {
        made.push_back({family, std::string(family) == "ising" ? grid : std::map<std::string, double>(), megabytes});
      }
    }
    return made;
  }();
  return all;
}

constexpr const char* kMethods[] = {"stop", "collapse", "rebuild"};

double kl_of(const FactorGraph& graph, const Approximation& approximation, double log_z, std::uint64_t seed) {
  Random random(seed, "kl");
  return sampled_divergence(graph, approximation, 4000, random).kl(log_z);
}

std::optional<Numbers> run_cell(const ExperimentOptions& options, const Cell& cell, int instance,
                                const RunControl& control) {
  const FactorGraph graph =
      make_family(cell.family,
                  {.seed = options.seed, .instance = static_cast<std::uint64_t>(instance), .values = cell.values})
          .graph;
  std::vector<int> order(graph.num_variables());
  for (int v = 0; v < graph.num_variables(); ++v) order[v] = v;
  const SearchSpace space = make_search_space(graph, order, SpaceKind::kTree);
  const double log_z = Elimination(graph, {}, {.goal = EliminationGoal::kLogZ}).log_z();
  Limits limits{.budget = options.budget};
  limits.bytes = static_cast<std::size_t>(cell.megabytes) * 1'000'000;
  const Observer observer{.should_stop = control.is_interrupted};
  Numbers numbers;
  const TreeSearchResult stopped = tree_sample(graph, space, {}, limits, {}, observer);
  numbers["stop.kl"] = kl_of(graph, stopped.approximation, log_z, options.seed);
  numbers["stop.evaluations"] = static_cast<double>(stopped.report.spent.reward_evaluations);
  SearchOptions rule{.select = SelectRule::kQUct, .dive_interval = 0};
  const SearchResult collapsed =
      search(graph, space, {.estimate = std::make_shared<const UniformValue>(space)}, limits, rule, observer);
  numbers["collapse.kl"] = kl_of(graph, SearchApproximation(collapsed, SamplerKind::kEstimate), log_z, options.seed);
  numbers["collapse.evaluations"] = static_cast<double>(collapsed.report.spent.reward_evaluations);
  const RebuiltSearchResult rebuilt = rebuilt_search(graph, space, {}, limits, {}, observer);
  numbers["rebuild.kl"] = kl_of(graph, rebuilt.approximation, log_z, options.seed);
  numbers["rebuild.evaluations"] = static_cast<double>(rebuilt.report.spent.reward_evaluations);
  numbers["rebuild.trees"] = static_cast<double>(rebuilt.trees.size());
  if (control.is_interrupted && control.is_interrupted()) return std::nullopt;
  return numbers;
}

}  // namespace

std::optional<Report> run_memory(const ExperimentOptions& options, const RunControl& control) {
  const int num_cells = static_cast<int>(cells().size());
  std::vector<std::string> names;
  for (const Cell& cell : cells()) names.push_back(fmt::format("{}/{}", cell.family, cell.megabytes));
  const auto runs = run_cases(
      "memory", names, options, [&](int c, int i) { return run_cell(options, cells()[c], i, control); }, control);
  if (!runs) return std::nullopt;

  Report report{.title = "Memory: what a tree search does when it is full"};
  report.introduction = fmt::format(
      "Tree search in the given order with c = 1 and the paper's default Q_phi, at most {} reward evaluations; mean KL "
      "of {} instances in nats. Stop: it ends when its nodes take the memory. Collapse: half of the nodes are given "
      "back. Rebuild: the tree is compiled into Q_phi and built again under it.",
      options.budget, options.num_instances);
  report.options = report_options("memory", options);
  Table table{.title = "KL at equal memory",
              .header = {"family", "MB", "full after", "stop", "collapse", "rebuild", "rebuild - stop", "trees"}};
  CsvFile csv{"memory", "family,megabytes,method,kl_mean,kl_standard_error,evaluations_mean\n"};
  for (int c = 0; c < num_cells; ++c) {
    const Cell& cell = cells()[c];
    const std::vector<const Numbers*> instances = runs->of(c);
    std::vector<double> differences = column(instances, "rebuild.kl");
    const std::vector<double> stopped = column(instances, "stop.kl");
    for (std::size_t i = 0; i < differences.size(); ++i) differences[i] -= stopped[i];
    std::vector<std::string> row{cell.family, fmt::format("{}", cell.megabytes),
                                 fmt::format("{:.0f}", summarize(column(instances, "stop.evaluations")).mean)};
    for (const std::string method : kMethods) {
      const Summary kl = summarize(column(instances, method + ".kl"));
      row.push_back(fmt::format("{:.3f}", kl.mean));
      csv.text += fmt::format("{},{},{},{},{},{}\n", cell.family, cell.megabytes, method, kl.mean, kl.error,
                              summarize(column(instances, method + ".evaluations")).mean);
    }
    const Summary difference = summarize(differences);
    row.push_back(fmt::format("{:+.3f} ({:.3f})", difference.mean, difference.error));
    row.push_back(fmt::format("{:.1f}", summarize(column(instances, "rebuild.trees")).mean));
    table.rows.push_back(row);
  }
  table.remark = "The difference is paired, with its standard error; full after: reward evaluations.";
  report.tables.push_back(table);
  report.csv_files.push_back(csv);
  return report;
}

}  // namespace treesample::experiments
