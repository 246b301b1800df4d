// Table 2 of the paper: TreeSample and SMC with learned value functions.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <mutex>

#include "experiment.hpp"
#include "plot.hpp"
#include "results.hpp"
#include "statistics.hpp"
#include "treesample/error.hpp"

namespace treesample::experiments {
namespace {

// +0.00 for -3e-13.
std::string signed_text(double value) { return fmt::format("{:+.2f}", std::abs(value) < 0.005 ? 0.0 : value); }

std::string median_text(const std::optional<Spread>& spread) { return spread ? signed_text(spread->median) : "-"; }

std::string spread_text(const std::optional<Spread>& spread) {
  if (!spread) return "-";
  return fmt::format("{} [{}, {}]", signed_text(spread->median), signed_text(spread->low), signed_text(spread->high));
}

Table median_table(const Results& results) {
  Table table{.title = "Medians: ours, and the paper's below", .header = {"delta-KL relative to TS"}};
  for (int c = 0; c < num_columns(); ++c) table.header.push_back(column_word(c));
  for (int i = 0; i < kNumLines; ++i) {
    std::vector<std::string> ours{kLines[i].title};
    std::vector<std::string> paper{"  paper"};
    for (int c = 0; c < num_columns(); ++c) {
      ours.push_back(median_text(spread_of(results.paired(i, c))));
      paper.push_back(median_text(paper_cell(i, c)));
    }
    table.rows.push_back(ours);
    table.rows.push_back(paper);
  }
  return table;
}

Table line_table(const Results& results, int line) {
  Table table{.title = fmt::format("{}: median [quartiles]", kLines[line].title),
              .header = {"value function", "paper", "ours, same problems", "ours, one reference"}};
  for (int c = 0; c < num_columns(); ++c) {
    if (results.paired(line, c).empty()) continue;
    table.rows.push_back({column_title(c), spread_text(paper_cell(line, c)),
                          spread_text(spread_of(results.paired(line, c))),
                          spread_text(spread_of(results.unpaired(line, c)))});
  }
  return table;
}

// What the paper concludes from its table, asked of our medians.
Table claim_table(const Results& results) {
  constexpr int kSmcPhi = 0, kSmcSearch = 1, kTsPhi = 2, kTsSearch = 3, kSameSize = 3;
  // The paper's medians are at most 0.41 from the one at the same size.
  constexpr double kAboutAsGood = 0.5;
  constexpr double kTie = 0.05;
  Table table{.title = "The paper's statements in our medians", .header = {"statement"}};
  for (int c = 1; c < num_columns(); ++c) table.header.push_back(column_word(c));
  const auto median = [&](int line, int c) { return spread_of(results.paired(line, c))->median; };
  const auto add = [&](const char* statement, const auto& holds) {
    std::vector<std::string> row{statement};
    for (int c = 1; c < num_columns(); ++c) row.emplace_back(holds(c) ? "yes" : "no");
    table.rows.push_back(row);
  };
  add("TS with Q_phi better than without", [&](int c) { return median(kTsSearch, c) < 0.0; });
  add("trained by TS better than by SMC", [&](int c) { return median(kTsPhi, c) < median(kSmcPhi, c); });
  add("SMC makes Q_phi worse", [&](int c) { return median(kSmcSearch, c) > median(kSmcPhi, c); });
  add("TS with Q_phi about as good as Q_phi or better",
      [&](int c) { return median(kTsSearch, c) < median(kTsPhi, c) + kTie; });
  std::vector<std::string> sizes{"about as good as N_train 20"};
  for (int c = 1; c < num_columns(); ++c) {
    const bool is_close = std::abs(median(kTsSearch, c) - median(kTsSearch, kSameSize)) <= kAboutAsGood;
    sizes.emplace_back(c <= kSameSize ? "" : is_close ? "yes" : "no");
  }
  table.rows.push_back(sizes);
  return table;
}

// The only numbers that differ between two equal runs.
Table time_table(const Results& results) {
  Table table{.title = "CPU seconds per run, median", .header = {"trained by"}};
  for (int c = 0; c < num_columns(); ++c) table.header.push_back(column_word(c));
  for (const InferenceMethod method : {InferenceMethod::kSmc, InferenceMethod::kTreeSample}) {
    std::vector<std::string> row{method == InferenceMethod::kSmc ? "SMC" : "TS"};
    for (int c = 0; c < num_columns(); ++c) {
      row.push_back(fmt::format("{:.1f}", quantile(column(results.unit_numbers(c, method), "seconds"), 0.5)));
    }
    table.rows.push_back(row);
  }
  return table;
}

CsvFile table_csv(const Results& results) {
  std::string text =
      "row,column,runs,median,quartile_25,quartile_75,one_reference_median,one_reference_quartile_25,"
      "one_reference_quartile_75,paper_median,paper_quartile_25,paper_quartile_75\n";
  for (int i = 0; i < kNumLines; ++i) {
    for (int c = 0; c < num_columns(); ++c) {
      const std::vector<double> paired = results.paired(i, c);
      if (paired.empty()) continue;
      text += fmt::format("{},{},{}", kLines[i].word, column_word(c), paired.size());
      for (const Spread& spread : {*spread_of(paired), *spread_of(results.unpaired(i, c)), *paper_cell(i, c)}) {
        text += fmt::format(",{},{},{}", spread.median, spread.low, spread.high);
      }
      text += "\n";
    }
  }
  return {"table2", text};
}

// Every run, in nats and not relative to anything.
CsvFile runs_csv(const Results& results) {
  std::string text = "column,trainer,run,delta_kl,delta_kl_phi,delta_kl_plain\n";
  for (int c = 0; c < num_columns(); ++c) {
    for (const InferenceMethod method : {InferenceMethod::kSmc, InferenceMethod::kTreeSample}) {
      const bool is_smc = method == InferenceMethod::kSmc;
      const std::vector<const Numbers*>& runs = results.unit_numbers(c, method);
      for (std::size_t r = 0; r < runs.size(); ++r) {
        const double plain = runs[r]->at("plain");
        const double search = c > 0 ? runs[r]->at("search") : is_smc ? runs[r]->at("smc") : plain;
        text += fmt::format("{},{},{},{},{},{}\n", column_word(c), is_smc ? "smc" : "ts", r, search,
                            c > 0 ? fmt::format("{}", runs[r]->at("phi")) : "", plain);
      }
    }
  }
  return {"table2_runs", text};
}

// Median over runs of a block's mean, at the block's last episode.
std::vector<PlotPoint> learning_curve(const Results& results, int line, int column_index, const TrainingSize& size) {
  std::vector<PlotPoint> points;
  const int count = num_blocks(size);
  for (int b = 0; b < count; ++b) {
    const std::string name = fmt::format("{}.{:02}", kLines[line].is_search ? "search" : "phi", b);
    points.push_back({static_cast<double>((b + 1) * size.num_episodes / count),
                      quantile(column(results.unit_numbers(column_index, kLines[line].method), name), 0.5)});
  }
  return points;
}

Figure curve_figure(const Results& results, int line, const TrainingSize& size, int num_runs) {
  Plot plot{.title = fmt::format("{}: median of {} runs", kLines[line].title, num_runs),
            .x_label = "episodes",
            .y_label = "delta-KL relative to TS without value function (nats)"};
  plot.extra = "set xzeroaxis lt 1 lw 1.5 lc rgb '#4b535c'\n";
  for (int c = 1; c < num_columns(); ++c) {
    plot.series.push_back({.name = column_title(c), .points = learning_curve(results, line, c, size), .color = c - 1});
  }
  if (line == 1) {
    const double median = quantile(results.paired(line, 0), 0.5);
    plot.series.push_back({.name = "SMC without value function",
                           .points = {{0.0, median}, {static_cast<double>(size.num_episodes), median}},
                           .color = 7,
                           .is_dashed = true});
  }
  return {.name = fmt::format("table2_{}", kLines[line].word),
          .title = fmt::format("{} over episodes", kLines[line].title),
          .caption = "Below 0: better than TreeSample without value function on the same problems.",
          .script = plot_script(plot)};
}

CsvFile curves_csv(const Results& results, const TrainingSize& size) {
  std::string text = "row,column,episode,median\n";
  for (int i = 0; i < kNumLines; ++i) {
    for (int c = 1; c < num_columns(); ++c) {
      for (const PlotPoint& point : learning_curve(results, i, c, size)) {
        text += fmt::format("{},{},{},{}\n", kLines[i].word, column_word(c), point.x, point.y);
      }
    }
  }
  return {"table2_curves", text};
}

// A unit takes minutes, so the remaining time is foretold from episodes. Several threads may call it.
class EpisodeProgress {
 public:
  EpisodeProgress(const RunControl& control, std::int64_t episodes_per_unit)
      : show_(control.show_progress), episodes_per_unit_(static_cast<double>(episodes_per_unit)) {}

  void on_unit(const RunProgress& now) {
    const std::lock_guard lock(mutex_);
    if (num_missing_ < 0) num_missing_ = now.num_instances - now.num_finished;
    now_ = now;
    show();
  }
  void on_episode() {
    const std::lock_guard lock(mutex_);
    ++num_episodes_;
    show();
  }

 private:
  void show() {
    if (!show_) return;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    const auto done = static_cast<double>(num_episodes_);
    now_.remaining_seconds = num_episodes_ > 0 ? seconds * (num_missing_ * episodes_per_unit_ / done - 1.0) : -1.0;
    show_(now_);
  }

  std::function<void(const RunProgress&)> show_;
  double episodes_per_unit_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  RunProgress now_;
  int num_missing_ = -1;  // units, when the run began
  std::int64_t num_episodes_ = 0;
};

// What the report shows of what numbers depend on; training has the same settings in all units.
Fingerprint shown_options(const TrainingUnit& unit, const TrainingSize& size) {
  const TrainOptions training = train_options(unit, size);
  return {{"experiment", "table2"},
          {"budget", fmt::format("{}", size.budget)},
          {"episodes", fmt::format("{}", size.num_episodes)},
          {"seed", fmt::format("{}", size.seed)},
          {"version", TREESAMPLE_VERSION},
          {"c", fmt::format("{}", training.episode.c)},
          {"c without network", fmt::format("{}", training.plain_c)},
          {"learner steps per episode", fmt::format("{}", training.steps_per_episode)}};
}

std::string introduction(const TrainingSize& size, int num_runs) {
  return fmt::format(
      "Medians and quartiles over {} runs, in nats; lower is better. Each run is a mean over the second half of {} "
      "episodes of {} reward evaluations, on factor-graphs-2 (best reading) with 20 variables, relative to "
      "TreeSample without value function: on the same problems (the table of medians, the figures, the statements) or, "
      "with one reference for all cells, relative to its median over the runs' single graphs, where the spread "
      "between graphs is in the quartiles as it is in the paper's.",
      num_runs, size.num_episodes, size.budget);
}

}  // namespace

std::optional<Report> run_table2(const ExperimentOptions& options, const RunControl& control) {
  const TrainingSize size{.budget = options.budget, .num_episodes = options.num_episodes, .seed = options.seed};
  check_range("table2", "num_episodes", size.num_episodes, 2, 1 << 30);
  const std::vector<TrainingUnit> units = training_units(options.num_instances);
  std::vector<std::string> keys;
  for (const TrainingUnit& unit : units) keys.push_back(key_of(unit));

  Fingerprint fingerprint = shown_options(units[0], size);
  fingerprint.emplace_back("training options", format_train_options(train_options(units[0], size)));
  RunStore store(run_file(options), fingerprint);
  EpisodeProgress progress(control, size.num_episodes);
  RunControl inner = control;
  inner.show_progress = [&](const RunProgress& now) { progress.on_unit(now); };
  const auto all = run_instances(
      store, keys,
      [&](int u) {
        return run_training_unit(units[u], size, [&] {
          progress.on_episode();
          return !control.is_interrupted();
        });
      },
      inner);
  if (!all) return std::nullopt;
  const Results results(units, *all);

  Report report;
  report.title = "Table 2: learned value functions";
  report.introduction = introduction(size, options.num_instances);
  report.options = shown_options(units[0], size);
  report.options.emplace_back("runs", fmt::format("{}", options.num_instances));
  report.tables.push_back(median_table(results));
  for (int i = 0; i < kNumLines; ++i) report.tables.push_back(line_table(results, i));
  report.tables.push_back(claim_table(results));
  report.tables.push_back(time_table(results));
  for (int i = 0; i < kNumLines; ++i) {
    report.figures.push_back(curve_figure(results, i, size, options.num_instances));
  }
  report.csv_files = {table_csv(results), runs_csv(results), curves_csv(results, size)};
  return report;
}

}  // namespace treesample::experiments
