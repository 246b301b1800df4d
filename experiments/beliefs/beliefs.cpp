// Second-order beliefs: rules that choose by expected information gain, beside q-uct, mass and gap.
#include <fmt/format.h>

#include <cmath>

#include "belief_search.hpp"
#include "experiments/experiment.hpp"
#include "experiments/plot.hpp"
#include "experiments/run_cases.hpp"
#include "experiments/statistics.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/search/search.hpp"

namespace treesample::experiments {
namespace {

constexpr std::int64_t kBudgets[] = {300, 1'000, 3'000, 10'000};

struct Rule {
  const char* word;
  const char* title;
  int color;
};
constexpr Rule kRules[] = {{"q-uct", "q-uct (the paper's)", 0},
                           {"gap", "gap (reads the tables for its bounds)", 2},
                           {"mass", "mass", 9},
                           {"information-z", "information about log Z", 6},
                           {"information-x", "information about X", 1}};

std::string name_of(const Rule& rule, std::int64_t budget) { return fmt::format("{}.{}", rule.word, budget); }

// The error of one rule; none if it was interrupted.
std::optional<double> kl_of(const ExperimentOptions& options, const Problem& problem, const FactorGraph& graph,
                            double log_z, const Rule& rule, std::int64_t budget, std::uint64_t seed,
                            const RunControl& control) {
  const std::string word = rule.word;
  const MethodSetting tree = options.hyperparameters.setting(problem, Contender::kTree);
  const SearchSpace space =
      make_search_space(graph, search_order(graph, SpaceKind::kTree, {.kind = *tree.options.order}), SpaceKind::kTree);
  if (word.starts_with("information")) {
    return belief_search(graph, space, word == "information-z" ? Gain::kLogZ : Gain::kDivergence, budget, log_z, seed)
        .kl;
  }
  if (word == "gap") {  // KL(P_L || P*) = log Z - L(root) with the ELBO of the uniform distribution at the leaves
    const LeafValues leaves{.lower = product_value(graph, space, uniform_distributions(graph)),
                            .upper = maxima_value(graph, space)};
    return log_z - search(graph, space, leaves, {.budget = budget, .threads = 1}, {.seed = seed}).report.log_z.lower;
  }
  const MethodSetting setting = word == "mass" ? options.hyperparameters.setting(problem, Contender::kMass) : tree;
  const std::optional<Outcome> outcome =
      run_method(graph, setting, {.budget = budget, .seed = seed, .is_interrupted = control.is_interrupted});
  if (!outcome) return std::nullopt;
  return outcome->delta_kl + log_z;
}

std::optional<Numbers> run_problem(const ExperimentOptions& options, const Problem& problem, int instance,
                                   const RunControl& control) {
  const FactorGraph graph = problem_model(problem, options.seed, instance);
  const double log_z = Elimination(graph, {.threads = 1}, {.goal = EliminationGoal::kLogZ}).log_z();
  const std::uint64_t seed =
      method_seed(options.seed, fmt::format("{}/{}", to_string(problem), instance), Contender::kTree);
  Numbers numbers;
  for (const Rule& rule : kRules) {
    for (const std::int64_t budget : budgets_up_to(kBudgets, options.budget)) {
      const std::optional<double> kl = kl_of(options, problem, graph, log_z, rule, budget, seed, control);
      if (!kl || control.is_interrupted()) return std::nullopt;
      numbers[name_of(rule, budget)] = *kl;
    }
  }
  return numbers;
}

Summary summary_of(const CaseRuns& results, const Problem& problem, const Rule& rule, std::int64_t budget) {
  return summarize(column(results.at(to_string(problem)), name_of(rule, budget)));
}

Table kl_table(const CaseRuns& results, const std::vector<std::int64_t>& budgets) {
  Table table{.title = "KL by budget", .header = {"problem", "rule"}};
  for (const std::int64_t budget : budgets) table.header.push_back(fmt::format("{}", budget));
  for (const Problem& problem : paper_problems()) {
    for (const Rule& rule : kRules) {
      std::vector<std::string> row{to_string(problem), rule.title};
      for (const std::int64_t budget : budgets) {
        const Summary kl = summary_of(results, problem, rule, budget);
        row.push_back(fmt::format("{:.3f} ({:.3f})", kl.mean, kl.error));
      }
      table.rows.push_back(row);
    }
  }
  table.remark = "Mean (standard error). All in the space `tree`, in the paper's order.";
  return table;
}

CsvFile kl_csv(const CaseRuns& results, const std::vector<std::int64_t>& budgets) {
  CsvFile csv{"beliefs", "family,reading,rule,budget,kl_mean,kl_standard_deviation,kl_standard_error\n"};
  for (const Problem& problem : paper_problems()) {
    for (const Rule& rule : kRules) {
      for (const std::int64_t budget : budgets) {
        const Summary kl = summary_of(results, problem, rule, budget);
        csv.text += fmt::format("{},{},{},{},{},{},{}\n", problem.family, to_string(problem.reading), rule.word, budget,
                                kl.mean, kl.deviation, kl.error);
      }
    }
  }
  return csv;
}

Figure kl_figure(const CaseRuns& results, const std::string& family, const std::vector<std::int64_t>& budgets) {
  Plot plot{.title = family + ", best reading",
            .x_label = "budget: reward evaluations",
            .y_label = "KL to the target (nats)",
            .is_x_log = true,
            .is_y_log = true};
  for (const Rule& rule : kRules) {
    Series series{.name = rule.title, .color = rule.color};
    for (const std::int64_t budget : budgets) {
      const Summary kl = summary_of(results, {family, Reading::kBest}, rule, budget);
      series.points.push_back({static_cast<double>(budget), kl.mean, kl.error});
    }
    plot.series.push_back(series);
  }
  return {.name = "beliefs_" + family,
          .title = "Error against budget, " + family,
          .caption = "Mean KL with standard errors.",
          .script = plot_script(plot)};
}

}  // namespace

std::optional<Report> run_beliefs(const ExperimentOptions& options, const RunControl& control) {
  const auto runs = run_problems(
      "beliefs", options, [&](const Problem& problem, int i) { return run_problem(options, problem, i, control); },
      control);
  if (!runs) return std::nullopt;
  const std::vector<std::int64_t> budgets = budgets_up_to(kBudgets, options.budget);
  Report report{.title = "Second-order beliefs: choosing by expected information gain"};
  report.introduction = fmt::format(
      "KL[P_X || P*] in nats, exact, mean of {} instances per family and reading. A belief is a normal distribution of "
      "each Q; the two new rules expand the edge that is expected to tell most about log Z, or about X.",
      options.num_instances);
  report.options = report_options("beliefs", options);
  for (const std::string& family : kPaperFamilies) report.figures.push_back(kl_figure(*runs, family, budgets));
  report.tables.push_back(kl_table(*runs, budgets));
  report.csv_files.push_back(kl_csv(*runs, budgets));
  return report;
}

}  // namespace treesample::experiments
