// The paper's appendix, "vary depth": chains with N log K about constant, from short and wide to long and narrow.
#include <fmt/format.h>

#include "experiment.hpp"
#include "plot.hpp"
#include "run_cases.hpp"
#include "statistics.hpp"
#include "treesample/exact/elimination.hpp"

namespace treesample::experiments {
namespace {

struct Shape {
  int n;
  int k;
};
// As close to 10 log 5 = 16.1 as whole numbers allow. Two variables would take 3,125 states.
constexpr Shape kShapes[] = {{3, 214}, {4, 56}, {5, 25}, {6, 15}, {7, 10}, {8, 7}, {10, 5}, {12, 4}, {15, 3}, {23, 2}};

struct Line {
  Contender method;
  Reading reading;
  const char* name;
  int color;
};
constexpr Line kLines[] = {{Contender::kSmc, Reading::kBest, "SMC", 1},
                           {Contender::kTree, Reading::kLetter, "TS, paper's text", 6},
                           {Contender::kTree, Reading::kBest, "TS, best reading", 0},
                           {Contender::kAndOr, Reading::kBest, "ours: andor", 2}};

std::string name_of(const Line& line) { return fmt::format("{}.{}", word_of(line.method), to_string(line.reading)); }

std::optional<Numbers> run_shape(const ExperimentOptions& options, const Shape& shape, int instance,
                                 const RunControl& control) {
  Numbers numbers;
  for (const Line& line : kLines) {
    const FactorGraph graph = make_family("chain", {.reading = line.reading,
                                                    .seed = options.seed,
                                                    .instance = static_cast<std::uint64_t>(instance),
                                                    .values = {{"n", shape.n}, {"k", shape.k}}})
                                  .graph;
    const std::string key = fmt::format("{}/{}/{}/{}", name_of(line), shape.n, shape.k, instance);
    const MethodRun run{.budget = options.budget,
                        .seed = method_seed(options.seed, key, line.method),
                        .is_interrupted = control.is_interrupted};
    const MethodSetting setting = options.hyperparameters.setting({"chain", line.reading}, line.method);
    if (!add_outcome(numbers, name_of(line), graph, setting, run)) return std::nullopt;
    numbers[name_of(line) + ".kl"] =
        Elimination(graph, {}, {.goal = EliminationGoal::kLogZ}).log_z() + numbers[name_of(line) + ".delta_kl"];
  }
  return numbers;
}

}  // namespace

std::optional<Report> run_depth(const ExperimentOptions& options, const RunControl& control) {
  const int num_shapes = static_cast<int>(std::size(kShapes));
  std::vector<std::string> names;
  for (const Shape& shape : kShapes) names.push_back(fmt::format("{}x{}", shape.n, shape.k));
  const auto runs = run_cases(
      "depth", names, options, [&](int s, int i) { return run_shape(options, kShapes[s], i, control); }, control);
  if (!runs) return std::nullopt;

  Report report{.title = "Depth: SMC and tree search on short, wide and on long, narrow chains"};
  report.introduction = fmt::format(
      "Chains with N log K about constant; mean KL of {} instances per shape with {} reward evaluations, in nats.",
      options.num_instances, options.budget);
  report.options = report_options("depth", options);
  Table table{.title = "KL by shape", .header = {"N", "K", "N log K"}};
  CsvFile csv{"depth", "n,k,method,reading,kl_mean,kl_standard_deviation,kl_standard_error\n"};
  Plot plot{.title = fmt::format("Chains of depth N with N log K about 16, B = {}", options.budget),
            .x_label = "depth N (number of states K)",
            .y_label = "KL to the target (nats)",
            .is_y_log = true};
  for (const Line& line : kLines) {
    table.header.emplace_back(line.name);
    plot.series.push_back({.name = line.name, .color = line.color, .is_dashed = line.reading == Reading::kLetter});
  }
  plot.extra = "set xtics (";
  for (int s = 0; s < num_shapes; ++s) {
    const Shape& shape = kShapes[s];
    const std::vector<const Numbers*> instances = runs->of(s);
    std::vector<std::string> row{fmt::format("{}", shape.n), fmt::format("{}", shape.k),
                                 fmt::format("{:.1f}", shape.n * std::log(shape.k))};
    for (std::size_t l = 0; l < std::size(kLines); ++l) {
      const std::vector<double> values = column(instances, name_of(kLines[l]) + ".kl");
      const Summary kl = summarize(values);
      row.push_back(summary_text(values));
      plot.series[l].points.push_back({static_cast<double>(s), kl.mean, kl.error});
      csv.text += fmt::format("{},{},{},{},{},{},{}\n", shape.n, shape.k, word_of(kLines[l].method),
                              to_string(kLines[l].reading), kl.mean, kl.deviation, kl.error);
    }
    table.rows.push_back(row);
    plot.extra += fmt::format("{}'{} ({})' {}", s == 0 ? "" : ", ", shape.n, shape.k, s);
  }
  plot.extra += ")\nset xrange [-0.5:" + fmt::format("{}", num_shapes - 0.5) + "]\n";
  table.remark = "Mean +- standard deviation (standard error).";
  report.tables.push_back(table);
  report.csv_files.push_back(csv);
  report.figures.push_back(
      {.name = "depth",
       .title = "Error against depth",
       .caption = "Mean KL with standard errors, from short and wide chains to long and narrow ones.",
       .script = plot_script(plot)});
  return report;
}

}  // namespace treesample::experiments
