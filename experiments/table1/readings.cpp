// Which reading of the paper's text is the most likely, given all numbers of its Table 1: means and standard
// deviations.
//
// Readings are compared on problems of their own (fit); the table of the chosen ones is of other problems (held out).
// The log-likelihood of the best of n readings is charged log n: with a uniform prior over readings that is the
// logarithm of the posterior odds, up to a constant that all readings share.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/experiment.hpp"
#include "experiments/run_cases.hpp"
#include "experiments/statistics.hpp"
#include "paper_cells.hpp"
#include "reading_fit.hpp"
#include "reading_list.hpp"
#include "treesample/exact/elimination.hpp"

namespace treesample::experiments {
namespace {

constexpr int kMostFitProblems = 60;

// A method's reading with the setting that has the lowest error on the fit problems, as the paper tunes it.
struct FittedMethod {
  Contender method;
  std::string reading;
  TunedRun run;
  Moments moments;
  double log_likelihood = 0.0;
};

// A reading of a column: of the family, and the most likely one of each method under it.
struct FittedColumn {
  const FamilyReading* family = nullptr;
  std::vector<FittedMethod> methods;

  [[nodiscard]] double log_likelihood() const {
    double sum = 0.0;
    for (const FittedMethod& method : methods) sum += method.log_likelihood;
    return sum;
  }
};

struct Fit {
  std::string family;
  std::vector<FittedColumn> columns;  // one for each reading of the family, in their order
  FittedColumn letter;                // with the letter's reading of each method
  FittedColumn descendants;           // likewise
  double num_readings = 0.0;          // the product over family and methods
  std::size_t likeliest = 0;

  [[nodiscard]] const FittedColumn& best() const { return columns[likeliest]; }
};

std::string family_title(const std::string& family) {
  if (family == "chain") return "CHAIN";
  if (family == "permuted-chain") return "PERMUTED";
  return family == "factor-graphs-1" ? "FG 1" : "FG 2";
}

FactorGraph graph_of(const FamilyReading& reading, std::uint64_t seed, int instance) {
  return make_family(reading.family,
                     {.seed = seed, .instance = static_cast<std::uint64_t>(instance), .values = reading.values})
      .graph;
}

double log_z_of(const FactorGraph& graph) {
  return Elimination(graph, {.threads = 1}, {.goal = EliminationGoal::kLogZ}).log_z();
}

// The error of every setting of every reading of every method.
std::optional<Numbers> try_all(const ExperimentOptions& options, const FamilyReading& reading, int instance,
                               const RunControl& control) {
  const std::uint64_t seed = tuning_seed(options.seed);
  const FactorGraph graph = graph_of(reading, seed, instance);
  const bool is_kl = is_chain(reading.family);
  const double log_z = is_kl ? log_z_of(graph) : 0.0;
  const std::string key = fmt::format("{}/{}/{}", reading.family, reading.word, instance);
  Numbers numbers;
  for (const auto& readings : method_readings(reading.family)) {
    for (const MethodReading& method : readings) {
      const std::uint64_t method_bits = method_seed(seed, key, method.method);
      for (const TunedRun& run : method.settings) {
        if (control.is_interrupted()) return std::nullopt;
        const std::optional<double> error =
            error_of(graph, reading.order, log_z, is_kl, run, options.budget, method_bits);
        if (error) numbers[run.word()] = *error;
      }
    }
  }
  return numbers;
}

// None if no setting can be paid for on all problems.
std::optional<FittedMethod> fitted(const MethodReading& reading, const std::string& family,
                                   const std::vector<const Numbers*>& problems) {
  std::optional<FittedMethod> best;
  for (const TunedRun& run : reading.settings) {
    std::vector<double> errors;
    for (const Numbers* const numbers : problems) {
      const auto found = numbers->find(run.word());
      if (found != numbers->end() && std::isfinite(found->second)) errors.push_back(found->second);
    }
    if (errors.size() < problems.size() || errors.size() < 2) continue;
    const Moments moments = moments_of(errors);
    if (best && best->moments.mean <= moments.mean) continue;
    best = {reading.method, reading.word, run, moments, 0.0};
  }
  if (best) best->log_likelihood = log_likelihood(*paper_cell(family, reading.method), best->moments);
  return best;
}

FittedColumn fitted_column(const FamilyReading& reading, const std::vector<const Numbers*>& problems, bool is_letter) {
  FittedColumn column{&reading, {}};
  for (const auto& readings : method_readings(reading.family)) {
    std::optional<FittedMethod> likeliest;
    for (const MethodReading& method : readings) {
      const std::optional<FittedMethod> one = fitted(method, reading.family, problems);
      if (one && (!likeliest || one->log_likelihood > likeliest->log_likelihood)) likeliest = one;
      if (is_letter && one) break;
    }
    if (likeliest) column.methods.push_back(*likeliest);
  }
  return column;
}

Fit fit_of(const std::string& family, const std::vector<FamilyReading>& readings, const CaseRuns& runs) {
  Fit fit{.family = family};
  const auto problems = [&](const FamilyReading& reading) { return runs.at(family + "/" + reading.word); };
  const std::size_t num_tried = readings.size() - 1;  // without that of the descendants
  for (std::size_t i = 0; i < num_tried; ++i) {
    fit.columns.push_back(fitted_column(readings[i], problems(readings[i]), false));
    if (fit.columns[i].log_likelihood() > fit.best().log_likelihood()) fit.likeliest = i;
  }
  fit.letter = fitted_column(readings.front(), problems(readings.front()), true);
  fit.descendants = fitted_column(readings.back(), problems(readings.back()), true);
  fit.num_readings = static_cast<double>(num_tried);
  for (const auto& methods : method_readings(family)) fit.num_readings *= static_cast<double>(methods.size());
  return fit;
}

// The three columns of a family that are run again, on other problems.
struct HeldOut {
  std::string word;  // letter, likely, descendants
  const FittedColumn* column;
};
std::vector<HeldOut> held_out(const Fit& fit) {
  return {{"letter", &fit.letter}, {"likely", &fit.best()}, {"descendants", &fit.descendants}};
}

// Our own search on the same problems with the same budget, without a look into tables.
constexpr const char* kOurs = "rule mass";

std::optional<Numbers> run_held_out(const ExperimentOptions& options, const FittedColumn& column, int instance,
                                    const RunControl& control) {
  const FamilyReading& reading = *column.family;
  const FactorGraph graph = graph_of(reading, options.seed, instance);
  const bool is_kl = is_chain(reading.family);
  const double log_z = log_z_of(graph);
  const std::string key = fmt::format("held/{}/{}/{}", reading.family, reading.word, instance);
  Numbers numbers = {{"log_z", log_z}};
  for (const FittedMethod& method : column.methods) {
    const std::uint64_t seed = method_seed(options.seed, key, method.method);
    const std::optional<double> error = error_of(graph, reading.order, log_z, is_kl, method.run, options.budget, seed);
    numbers[word_of(method.method)] = error.value_or(HUGE_VAL);
  }
  MethodSetting ours(Contender::kMass);
  ours.options.order = reading.order;
  const std::optional<Outcome> outcome = run_method(graph, ours,
                                                    {.budget = options.budget,
                                                     .seed = method_seed(options.seed, key, Contender::kMass),
                                                     .is_interrupted = control.is_interrupted});
  if (!outcome) return std::nullopt;
  numbers[kOurs] = outcome->delta_kl + (is_kl ? log_z : 0.0);
  return numbers;
}

bool is_within(const Misfit& z) { return std::abs(z.mean) <= 3.0; }
bool is_within_both(const Misfit& z) { return is_within(z) && std::abs(z.deviation) <= 3.0; }

std::string moments_text(const Moments& moments) {
  return fmt::format("{:.2f} +- {:.2f}", moments.mean, moments.deviation);
}

Table criterion_table(const std::vector<Fit>& fits) {
  Table table{.title = "The most likely reading of each column, on the problems of the fit",
              .header = {"column", "readings tried", "log of that", "log-likelihood, letter", "most likely",
                         "gain less the log of the readings", "reading"}};
  double gain = 0.0, paid = 0.0;
  for (const Fit& fit : fits) {
    std::string reading = fit.best().family->word;
    for (const FittedMethod& method : fit.best().methods) {
      if (!method.reading.empty()) reading += fmt::format("; {}: {}", title_of(method.method), method.reading);
    }
    const double log_readings = std::log(fit.num_readings);
    const double difference = fit.best().log_likelihood() - fit.letter.log_likelihood();
    gain += difference;
    paid += log_readings;
    table.rows.push_back({family_title(fit.family), fmt::format("{:.0f}", fit.num_readings),
                          fmt::format("{:.1f}", log_readings), fmt::format("{:.1f}", fit.letter.log_likelihood()),
                          fmt::format("{:.1f}", fit.best().log_likelihood()),
                          fmt::format("{:+.1f}", difference - log_readings), reading});
  }
  table.rows.push_back({"all", "", fmt::format("{:.1f}", paid), "", "", fmt::format("{:+.1f}", gain - paid), ""});
  return table;
}

Table next_table(const Fit& fit) {
  Table table{.title = family_title(fit.family) + ": the five most likely readings of the family",
              .header = {"reading", "log-likelihood"}};
  for (const FittedMethod& method : fit.best().methods) table.header.emplace_back(title_of(method.method));
  std::vector<const FittedColumn*> sorted;
  for (const FittedColumn& column : fit.columns) sorted.push_back(&column);
  std::stable_sort(sorted.begin(), sorted.end(), [](const FittedColumn* a, const FittedColumn* b) {
    return a->log_likelihood() > b->log_likelihood();
  });
  sorted.resize(std::min<std::size_t>(sorted.size(), 5));
  sorted.push_back(&fit.letter);
  sorted.push_back(&fit.descendants);
  for (const FittedColumn* const column : sorted) {
    std::vector<std::string> row{column == &fit.letter ? "letter, all methods" : column->family->word,
                                 fmt::format("{:.1f}", column->log_likelihood())};
    for (const FittedMethod& method : column->methods) row.push_back(moments_text(method.moments));
    table.rows.push_back(row);
  }
  return table;
}

struct HeldOutRuns {
  const std::vector<Fit>& fits;
  const CaseRuns& runs;

  [[nodiscard]] std::vector<double> errors(const Fit& fit, const std::string& who, const std::string& name) const {
    return column(runs.at(fmt::format("held/{}/{}", fit.family, who)), name);
  }
};

std::string cell_text(const Moments& ours, const PaperCell& paper) {
  const Misfit z = misfit(paper, ours);
  return fmt::format("{} (z {:+.1f}, {:+.1f})", moments_text(ours), z.mean, z.deviation);
}

Table cell_table(const HeldOutRuns& held, int num_instances) {
  Table table{.title = fmt::format("Table 1, {} problems that no reading was fitted to", num_instances),
              .header = {"cell", "paper", "letter", "most likely reading", "descendants' reading", "ours: rule mass"},
              .remark =
                  "Mean +- standard deviation. z: the paper's mean, and the logarithm of its standard deviation, "
                  "less ours, in standard errors. Ours: on the problems of the most likely reading, same budget."};
  for (const Fit& fit : held.fits) {
    const Moments ours = moments_of(held.errors(fit, "likely", kOurs));
    for (const FittedMethod& method : fit.letter.methods) {
      const PaperCell paper = *paper_cell(fit.family, method.method);
      std::vector<std::string> row{fmt::format("{} {}", family_title(fit.family), title_of(method.method)),
                                   fmt::format("{:.2f} +- {:.2f}", paper.mean, paper.deviation)};
      for (const char* const who : {"letter", "likely", "descendants"}) {
        row.push_back(cell_text(moments_of(held.errors(fit, who, word_of(method.method))), paper));
      }
      row.push_back(method.method == Contender::kTree ? moments_text(ours) : "");
      table.rows.push_back(row);
    }
  }
  return table;
}

Table count_table(const HeldOutRuns& held) {
  Table table{.title = "Cells within 3 standard errors of the paper's, held out",
              .header = {"reading", "means", "means and standard deviations", "of"}};
  for (const char* const who : {"letter", "likely", "descendants"}) {
    int num_means = 0, num_both = 0, num_cells = 0;
    for (const Fit& fit : held.fits) {
      for (const FittedMethod& method : fit.letter.methods) {
        const Misfit z =
            misfit(*paper_cell(fit.family, method.method), moments_of(held.errors(fit, who, word_of(method.method))));
        num_means += is_within(z) ? 1 : 0;
        num_both += is_within_both(z) ? 1 : 0;
        ++num_cells;
      }
    }
    table.rows.push_back(
        {who, fmt::format("{}", num_means), fmt::format("{}", num_both), fmt::format("{}", num_cells)});
  }
  return table;
}

CsvFile tried_csv(const std::vector<Fit>& fits, const std::vector<std::vector<FamilyReading>>& readings,
                  const CaseRuns& runs) {
  std::string text =
      "family,family_reading,method,method_reading,setting,mean,standard_deviation,log_likelihood,column_log_"
      "likelihood\n";
  for (std::size_t f = 0; f < fits.size(); ++f) {
    for (std::size_t i = 0; i < readings[f].size(); ++i) {
      const FamilyReading& reading = readings[f][i];
      const double sum = (i + 1 < readings[f].size() ? fits[f].columns[i] : fits[f].descendants).log_likelihood();
      for (const auto& methods : method_readings(reading.family)) {
        for (const MethodReading& method : methods) {
          const auto one = fitted(method, reading.family, runs.at(reading.family + "/" + reading.word));
          if (!one) continue;
          text += fmt::format("{},{},{},\"{}\",{},{},{},{},{}\n", reading.family, reading.word, word_of(method.method),
                              method.word, one->run.word(), one->moments.mean, one->moments.deviation,
                              one->log_likelihood, sum);
        }
      }
    }
  }
  return {"readings_tried", text};
}

CsvFile cells_csv(const HeldOutRuns& held) {
  std::string text =
      "family,who,method,setting,mean,standard_deviation,paper_mean,paper_standard_deviation,z_mean,z_standard_"
      "deviation,"
      "readings_tried,log_z_mean\n";
  for (const Fit& fit : held.fits) {
    for (const HeldOut& one : held_out(fit)) {
      const double log_z = summarize(held.errors(fit, one.word, "log_z")).mean;
      for (const FittedMethod& method : one.column->methods) {
        const PaperCell paper = *paper_cell(fit.family, method.method);
        const Moments ours = moments_of(held.errors(fit, one.word, word_of(method.method)));
        const Misfit z = misfit(paper, ours);
        text += fmt::format("{},{},{},{},{},{},{},{},{},{},{:.0f},{}\n", fit.family, one.word, word_of(method.method),
                            method.run.word(), ours.mean, ours.deviation, paper.mean, paper.deviation, z.mean,
                            z.deviation, one.word == "likely" ? fit.num_readings : 1.0, log_z);
      }
      const Moments ours = moments_of(held.errors(fit, one.word, kOurs));
      text += fmt::format("{},{},{},,{},{},,,,,1,{}\n", fit.family, one.word, kOurs, ours.mean, ours.deviation, log_z);
    }
  }
  return {"readings", text};
}

}  // namespace

std::optional<Report> run_readings(const ExperimentOptions& options, const RunControl& control) {
  std::vector<std::vector<FamilyReading>> readings;
  std::vector<std::string> cases;
  std::vector<const FamilyReading*> of_case;
  for (const std::string& family : kPaperFamilies) readings.push_back(family_readings(family));
  for (const auto& of_family : readings) {
    for (const FamilyReading& reading : of_family) {
      cases.push_back(reading.family + "/" + reading.word);
      of_case.push_back(&reading);
    }
  }
  ExperimentOptions fit_options = options;
  fit_options.num_instances = std::clamp(options.num_instances, 2, kMostFitProblems);
  const auto tried = run_cases(
      "readings", cases, fit_options, [&](int c, int i) { return try_all(options, *of_case[c], i, control); }, control);
  if (!tried) return std::nullopt;
  std::vector<Fit> fits;
  for (const auto& of_family : readings) fits.push_back(fit_of(of_family.front().family, of_family, *tried));

  std::vector<std::string> held_cases;
  std::vector<const FittedColumn*> columns;
  for (const Fit& fit : fits) {
    for (const HeldOut& one : held_out(fit)) {
      held_cases.push_back(fmt::format("held/{}/{}", fit.family, one.word));
      columns.push_back(one.column);
    }
  }
  ExperimentOptions held_options = options;
  held_options.num_instances = std::max(options.num_instances, 2);
  const auto runs = run_cases(
      "readings", held_cases, held_options,
      [&](int c, int i) { return run_held_out(options, *columns[c], i, control); }, control);
  if (!runs) return std::nullopt;
  const HeldOutRuns held{fits, *runs};
  Report report{.title = "Table 1 by likelihood: the most likely reading of the paper's text"};
  report.introduction = fmt::format(
      "Every reading is judged by all numbers of its column at once, means and standard deviations, on {} problems of "
      "its own; what is tuned is tuned as in the paper. The likelihood of the best of n readings is charged log n. The "
      "table is of {} other problems. Budget {}.",
      fit_options.num_instances, held_options.num_instances, options.budget);
  report.options = report_options("readings", options);
  report.tables = {criterion_table(fits), cell_table(held, held_options.num_instances), count_table(held)};
  for (const Fit& fit : fits) report.tables.push_back(next_table(fit));
  report.csv_files = {cells_csv(held), tried_csv(fits, readings, *tried)};
  return report;
}

}  // namespace treesample::experiments
