// The remarks of the paper's appendix on sizes of networks, as a table: more units or layers, other numbers of
// iterations. Also the parameters that were tuned for section 4.2, exploration c and learner steps per episode; and
// things that are not in the paper: other targets and losses, a global value.
#include <fmt/format.h>

#include "experiment.hpp"
#include "results.hpp"
#include "statistics.hpp"
#include "unit_run.hpp"

namespace treesample::experiments {
namespace {

const std::vector<std::string> kColumns = {"mlp-single", "gnn-20", "gnn-12"};

// The chosen rows. The row of the paper's settings is always included, because all others are compared with it.
std::vector<const Trainer*> chosen_ablations(const ExperimentOptions& options) {
  std::vector<const Trainer*> chosen;
  std::vector<std::string> words;
  for (const Trainer& trainer : ablation_trainers()) {
    words.push_back(trainer.word);
    if (trainer.word == "base" || is_chosen(options.methods, trainer.word)) chosen.push_back(&trainer);
  }
  check_chosen("--methods", options.methods, words);
  return chosen;
}

std::vector<TrainingUnit> ablation_units(int num_runs, const std::vector<const Trainer*>& trainers) {
  std::vector<TrainingUnit> units;
  for (int run = 0; run < num_runs; ++run) {
    for (const std::string& word : kColumns) {
      const TrainingColumn& column = training_column(word);
      for (const Trainer* const trainer : trainers) {
        if (goes_with(*trainer, column)) units.push_back({&column, trainer, Reading::kBest, run});
      }
    }
  }
  return units;
}

// The runs of one row of one column.
struct Cell {
  const TrainingUnit* first = nullptr;
  std::vector<const Numbers*> runs = {};

  [[nodiscard]] std::vector<double> kl(const char* name) const {
    std::vector<double> values = column(runs, name);
    for (std::size_t r = 0; r < values.size(); ++r) values[r] += runs[r]->at("log_z");
    return values;
  }
};

std::string spread_text(const std::vector<double>& values) {
  const Spread spread = *spread_of(values);
  return fmt::format("{:.2f} [{:.2f}, {:.2f}]", spread.median, spread.low, spread.high);
}

// Compares run by run, because both have the same problems.
std::string difference_text(std::vector<double> values, const std::vector<double>& base) {
  for (std::size_t r = 0; r < values.size(); ++r) values[r] -= base[r];
  const Summary summary = summarize(values);
  return fmt::format("{:+.3f} ({:.3f})", summary.mean, summary.error);
}

std::vector<std::string> table_row(const Cell& cell, const Cell& base) {
  return {fmt::format("{}, {}", cell.first->column->title, cell.first->trainer->title),
          spread_text(cell.kl("phi")),
          spread_text(cell.kl("search")),
          spread_text(cell.kl("telescoped")),
          spread_text(cell.kl("plain")),
          spread_text(column(cell.runs, "residual")),
          spread_text(column(cell.runs, "loss")),
          difference_text(cell.kl("phi"), base.kl("phi")),
          difference_text(cell.kl("search"), base.kl("search")),
          difference_text(cell.kl("telescoped"), base.kl("telescoped")),
          fmt::format("{:.0f}", quantile(column(cell.runs, "seconds"), 0.5))};
}

std::string csv_rows(const Cell& cell) {
  std::string text;
  for (std::size_t r = 0; r < cell.runs.size(); ++r) {
    const Numbers& run = *cell.runs[r];
    text += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", cell.first->column->word, cell.first->trainer->word, r,
                        cell.kl("phi")[r], cell.kl("search")[r], cell.kl("telescoped")[r], cell.kl("plain")[r],
                        run.at("residual"), run.at("loss"), run.at("seconds"));
  }
  return text;
}

}  // namespace

std::optional<Report> run_ablations(const ExperimentOptions& options, const RunControl& control) {
  const TrainingSize size = size_of(options);
  const std::vector<const Trainer*> trainers = chosen_ablations(options);
  const std::vector<TrainingUnit> units = ablation_units(options.num_instances, trainers);
  const auto all = run_units("ablations", units, options, control);
  if (!all) return std::nullopt;
  std::map<std::pair<std::string, std::string>, Cell> cells;
  for (std::size_t u = 0; u < units.size(); ++u) {
    Cell& cell = cells[{units[u].column->word, units[u].trainer->word}];
    cell.first = &units[u];
    cell.runs.push_back(&(*all)[u]);
  }
  Table table{.title = "KL in nats, best reading: median [quartiles] over runs; less that as in the paper: mean (se)",
              .header = {"network", "Q_phi alone", "+ TS", "+ TS, telescoped", "TS without", "residual", "loss",
                         "Q_phi alone, less", "+ TS, less", "+ TS, telescoped, less", "CPU s"}};
  std::string csv = "column,variant,run,kl_phi,kl_search,kl_telescoped,kl_plain,bellman_residual,loss,seconds\n";
  for (const std::string& word : kColumns) {
    for (const Trainer* const trainer : trainers) {
      const auto found = cells.find({word, trainer->word});
      if (found == cells.end()) continue;
      table.rows.push_back(table_row(found->second, cells.at({word, "base"})));
      csv += csv_rows(found->second);
    }
  }
  Report report{.title = "Ablations of the value networks"};
  report.introduction = fmt::format(
      "The paper's appendix: more units or layers did not improve the perceptron, more iterations reduced the final "
      "performance of the graph network somewhat. Beyond it: other losses and targets, a global value. {} runs of {} "
      "episodes; trained by TreeSample, or on exact targets.",
      options.num_instances, size.num_episodes);
  report.options = shown_training("ablations", size);
  report.options.emplace_back("runs", fmt::format("{}", options.num_instances));
  report.tables = {table};
  report.csv_files = {{"ablations", csv}};
  return report;
}

}  // namespace treesample::experiments
