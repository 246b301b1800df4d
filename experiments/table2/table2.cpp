// Table 2 of the paper: TreeSample and SMC with learned value functions.
#include <fmt/format.h>

#include "experiment.hpp"
#include "plot.hpp"
#include "statistics.hpp"
#include "table2_tables.hpp"
#include "unit_run.hpp"

namespace treesample::experiments {
namespace {

// Median over runs of a block's mean, at the block's last episode.
std::vector<PlotPoint> learning_curve(const Part& part, const Trainer& trainer, const std::string& number,
                                      int column_index, const TrainingSize& size) {
  std::vector<PlotPoint> points;
  const int count = num_blocks(size);
  const std::vector<const Numbers*>& runs = part.results.unit_numbers(column_index, trainer);
  for (int b = 0; b < count && !runs.empty(); ++b) {
    const std::int64_t last_episode = (b + 1) * size.num_episodes / count;
    points.push_back(
        {static_cast<double>(last_episode), quantile(column(runs, fmt::format("{}.{:02}", number, b)), 0.5)});
  }
  return points;
}

// The paper's medians, in the colours of their columns, to the right of where a run ends.
void add_paper_marks(Plot& plot, const Line& line, const TrainingSize& size) {
  bool is_named = false;
  for (int c = 1; c < num_columns(); ++c) {
    const std::optional<Spread> paper = paper_cell(line.word(), c);
    if (!paper) continue;
    plot.series.push_back({.name = is_named ? "" : "the paper's medians",
                           .points = {{1.03 * static_cast<double>(size.num_episodes), paper->median}},
                           .kind = SeriesKind::kMarks,
                           .color = c - 1});
    is_named = true;
  }
}

Figure curve_figure(const Part& part, const Line& line, const TrainingSize& size, int num_runs) {
  Plot plot{.title = fmt::format("{}, {} reading: median of {} runs", line.title(), part.word, num_runs),
            .x_label = "episodes",
            .y_label = "delta-KL relative to TS without value function (nats)"};
  plot.extra = "set xzeroaxis lt 1 lw 1.5 lc rgb '#4b535c'\n";
  for (int c = 1; c < num_columns(); ++c) {
    const std::vector<PlotPoint> points = learning_curve(part, *line.trainer, line.number(), c, size);
    if (!points.empty()) plot.series.push_back({.name = column_title(c), .points = points, .color = c - 1});
  }
  add_paper_marks(plot, line, size);
  if (line.word() == "smc_search") {
    const double median = quantile(part.results.paired(line, 0), 0.5);
    plot.series.push_back({.name = "SMC without value function",
                           .points = {{0.0, median}, {static_cast<double>(size.num_episodes), median}},
                           .color = 7,
                           .is_dashed = true});
  }
  return {.name = fmt::format("table2_{}_{}", part.word, line.word()),
          .title = fmt::format("{} over episodes, {} reading", line.title(), part.word),
          .caption =
              "Below 0: better than TreeSample without value function on the same problems. Marks at the right, if "
              "any: the paper's medians, means over its episodes 2000 to 4000.",
          .script = plot_script(plot)};
}

CsvFile curves_csv(const std::vector<Part>& parts, const TrainingSize& size) {
  std::string text = "reading,row,column,episode,median\n";
  const auto add = [&](const Part& part, const std::string& row, const Trainer& trainer, const std::string& number) {
    for (int c = 1; c < num_columns(); ++c) {
      for (const PlotPoint& point : learning_curve(part, trainer, number, c, size)) {
        text += fmt::format("{},{},{},{},{}\n", part.word, row, column_word(c), point.x, point.y);
      }
    }
  };
  for (const Part& part : parts) {
    for (const Line& line : part.lines) {
      if (!line.has_curve()) continue;
      add(part, line.word(), *line.trainer, line.number());
      if (line.of == Line::Of::kPhi) add(part, line.trainer->word + "_loss", *line.trainer, "loss");
    }
  }
  return {"table2_curves", text};
}

std::string introduction(const TrainingSize& size, int num_runs) {
  return fmt::format(
      "Medians and quartiles over {}, in nats; lower is better. Each run is a mean over the second half of {} "
      "episodes of {} reward evaluations, on factor-graphs-2 with 20 variables, relative to TreeSample without value "
      "function: on the same problems (the table of medians, the figures, the statements) or, with one reference for "
      "all cells, relative to its median over the runs' single graphs, where the spread between graphs is in the "
      "quartiles as it is in the paper's.",
      num_runs == 1 ? "one run" : fmt::format("{} runs", num_runs), size.num_episodes, size.budget);
}

std::vector<const Trainer*> chosen_trainers(const ExperimentOptions& options) {
  std::vector<const Trainer*> chosen;
  for (const Trainer& trainer : table2_trainers()) {
    if (is_chosen(options.methods, trainer.word)) chosen.push_back(&trainer);
  }
  check_chosen("--methods", options.methods, [] {
    std::vector<std::string> words;
    for (const Trainer& trainer : table2_trainers()) words.push_back(trainer.word);
    return words;
  }());
  return chosen;
}

}  // namespace

std::optional<Report> run_table2(const ExperimentOptions& options, const RunControl& control) {
  std::vector<std::string> columns;
  for (const TrainingColumn& column : training_columns()) columns.push_back(column.word);
  check_chosen("--columns", options.columns, columns);
  const TrainingSize size = size_of(options);
  const std::vector<const Trainer*> trainers = chosen_trainers(options);
  const std::vector<TrainingUnit> units =
      training_units(options.num_instances, options.readings, trainers, options.columns);
  const auto all = run_units("table2", units, options, control);
  if (!all) return std::nullopt;

  Report report{.title = "Table 2: learned value functions",
                .introduction = introduction(size, options.num_instances),
                .options = shown_training("table2", size)};
  report.options.emplace_back("runs", fmt::format("{}", options.num_instances));
  std::vector<Part> parts;
  for (const Reading reading : options.readings) {
    parts.push_back({reading, to_string(reading), Results(units, *all, reading), lines_of(trainers)});
  }
  for (const Part& part : parts) {
    for (Table& table : part_tables(part)) report.tables.push_back(std::move(table));
    for (const Line& line : part.lines) {
      if (line.has_curve()) report.figures.push_back(curve_figure(part, line, size, options.num_instances));
    }
  }
  report.csv_files = {table_csv(parts), runs_csv(parts), curves_csv(parts, size)};
  return report;
}

}  // namespace treesample::experiments
