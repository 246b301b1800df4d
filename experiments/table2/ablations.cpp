// The remarks of the paper's appendix on sizes of networks as a table, more units or layers, other iterations; and what
// was tuned for section 4.2: exploration c, learner steps per episode.
#include <fmt/format.h>

#include "experiment.hpp"
#include "results.hpp"
#include "statistics.hpp"
#include "unit_run.hpp"

namespace treesample::experiments {
namespace {

const std::vector<std::string> kColumns = {"mlp-single", "gnn-20", "gnn-12"};

std::vector<TrainingUnit> ablation_units(int num_runs) {
  std::vector<TrainingUnit> units;
  for (int run = 0; run < num_runs; ++run) {
    for (const std::string& word : kColumns) {
      const TrainingColumn& column = training_column(word);
      for (const Trainer& trainer : ablation_trainers()) {
        if (goes_with(trainer, column)) units.push_back({&column, &trainer, Reading::kBest, run});
      }
    }
  }
  return units;
}

struct Cell {
  const TrainingUnit* first;
  std::vector<const Numbers*> runs;
};

std::vector<double> kl_of(const Cell& cell, const char* name) {
  std::vector<double> values = column(cell.runs, name);
  for (std::size_t r = 0; r < values.size(); ++r) values[r] += cell.runs[r]->at("log_z");
  return values;
}

}  // namespace

std::optional<Report> run_ablations(const ExperimentOptions& options, const RunControl& control) {
  const TrainingSize size = size_of(options);
  const std::vector<TrainingUnit> units = ablation_units(options.num_instances);
  const auto all = run_units("ablations", units, options, control);
  if (!all) return std::nullopt;
  std::map<std::pair<std::string, std::string>, Cell> cells;
  for (std::size_t u = 0; u < units.size(); ++u) {
    Cell& cell = cells[{units[u].column->word, units[u].trainer->word}];
    cell.first = &units[u];
    cell.runs.push_back(&(*all)[u]);
  }
  Table table{.title = "KL in nats, best reading: median [quartiles] over runs",
              .header = {"network", "Q_phi alone", "+ TS", "+ TS, telescoped", "TS without", "residual", "loss",
                         "Q_phi alone less that as in the paper: mean (se)", "CPU s"}};
  std::string csv = "column,variant,run,kl_phi,kl_search,kl_telescoped,kl_plain,bellman_residual,loss,seconds\n";
  const auto text = [](const std::vector<double>& values) {
    const Spread spread = *spread_of(values);
    return fmt::format("{:.2f} [{:.2f}, {:.2f}]", spread.median, spread.low, spread.high);
  };
  for (const std::string& word : kColumns) {
    for (const Trainer& trainer : ablation_trainers()) {
      const auto found = cells.find({word, trainer.word});
      if (found == cells.end()) continue;
      const Cell& cell = found->second;
      const std::vector<double> phi = kl_of(cell, "phi");
      std::vector<double> difference = phi;
      const std::vector<double> base = kl_of(cells.at({word, "base"}), "phi");
      for (std::size_t r = 0; r < phi.size(); ++r) difference[r] -= base[r];
      const Summary summary = summarize(difference);
      table.rows.push_back({fmt::format("{}, {}", cell.first->column->title, trainer.title), text(phi),
                            text(kl_of(cell, "search")), text(kl_of(cell, "telescoped")), text(kl_of(cell, "plain")),
                            text(column(cell.runs, "residual")), text(column(cell.runs, "loss")),
                            fmt::format("{:+.3f} ({:.3f})", summary.mean, summary.error),
                            fmt::format("{:.0f}", quantile(column(cell.runs, "seconds"), 0.5))});
      for (std::size_t r = 0; r < phi.size(); ++r) {
        const Numbers& run = *cell.runs[r];
        csv += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", word, trainer.word, r, phi[r], kl_of(cell, "search")[r],
                           kl_of(cell, "telescoped")[r], kl_of(cell, "plain")[r], run.at("residual"), run.at("loss"),
                           run.at("seconds"));
      }
    }
  }
  Report report;
  report.title = "Ablations of the value networks";
  report.introduction = fmt::format(
      "The paper's appendix: more units or layers did not improve the perceptron, more iterations reduced the final "
      "performance of the graph network somewhat. {} runs of {} episodes; trained by TreeSample.",
      options.num_instances, size.num_episodes);
  report.options = shown_training("ablations", size);
  report.options.emplace_back("runs", fmt::format("{}", options.num_instances));
  report.tables = {table};
  report.csv_files = {{"ablations", csv}};
  return report;
}

}  // namespace treesample::experiments
