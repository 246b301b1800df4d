#include "answer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "treesample/error.hpp"
#include "treesample/io/file.hpp"
#include "treesample/io/json_text.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/text.hpp"

namespace treesample::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kLog10 = 2.302585092994046;
constexpr int kMostShown = 12;                // variables whose marginals the summary shows
constexpr std::size_t kMostStatesShown = 24;  // of the best configuration

Json number(double value) {
  if (std::isnan(value)) throw Error(ErrorCode::kNumeric, "answer: a number of it is not a number");
  if (std::isfinite(value)) return value + 0.0;  // -0 is 0
  return value > 0 ? "inf" : "-inf";
}

// Of a standard error that is not known, null, and why.
Json error(double value) { return std::isfinite(value) ? Json(value) : Json(); }
Json reason(const std::string& text) { return text.empty() ? Json() : Json(text); }

std::string bound_text(double value, double direction) {
  if (std::isinf(value)) return value > 0.0 ? "inf" : "-inf";
  const double log10 = value / kLog10;
  return fmt::format("{} (log10: {})", decimal_bound(value, direction),
                     decimal_bound(log10 + direction * 0x1.0p-50 * std::abs(log10), direction));
}

// Of text of log Z: what is certified, and what is not.
std::string certainty_text(const Answer& answer) {
  if (!answer.is_exact) return ", estimate";
  const double width = *answer.log_z == kNegInf ? 0.0 : *answer.upper - *answer.lower;
  return width == 0.0 ? ", exact" : fmt::format(", exact (certified to {})", tolerance_text(width, 1));
}

std::string variable_name(const FactorGraph& graph, int v) {
  return graph.variable(v).name.empty() ? fmt::format("x{}", v) : printable(graph.variable(v).name);
}

std::string state_name(const FactorGraph& graph, int v, int state) {
  const std::vector<std::string>& names = graph.variable(v).state_names;
  return names.empty() ? fmt::format("{}", state) : printable(names[state]);
}

// By name where the model has names; "..." where there are more than `most`.
std::string states_text(const FactorGraph& graph, const Assignment& x, std::size_t most) {
  std::vector<std::string> states;
  for (std::size_t v = 0; v < std::min(x.size(), most); ++v) {
    states.push_back(state_name(graph, static_cast<int>(v), x[v]));
  }
  return fmt::format("{}{}", fmt::join(states, " "), x.size() > most ? " ..." : "");
}

std::string sample_line(const FactorGraph& graph, const Assignment& sample) {
  return fmt::format("  {}\n", states_text(graph, sample, SIZE_MAX));
}

// What is known of the best configuration beside its density.
std::string optimality_text(const Answer& answer) {
  const double gap = answer.best_gap.value_or(HUGE_VAL);
  if (answer.is_best_optimal == true) {
    return gap > 0.0 ? fmt::format("optimal (certified to {})", tolerance_text(gap, 1)) : "optimal";
  }
  return gap < HUGE_VAL ? fmt::format("best found, at most {} below the optimum", tolerance_text(gap, 3))
                        : "best found";
}

// What the model lost before the method saw it.
Json simplified_json(const Answer& answer) {
  const SimplifyReport& report = answer.simplified;
  return {{"num_variables", answer.num_variables_left},   {"num_factors", answer.num_factors_left},
          {"impossible", report.is_impossible},           {"fixed_variables", report.num_fixed_variables},
          {"removed_states", report.num_removed_states},  {"dropped_factors", report.num_dropped_factors},
          {"smaller_factors", report.num_smaller_factors}};
}

const char* rule_word(const FailureRule& rule) {
  switch (rule.kind) {
    case FailureRule::Kind::kStop:
      return "stop";
    case FailureRule::Kind::kImpossible:
      return "impossible";
    case FailureRule::Kind::kSkip:
      return "skip";
    case FailureRule::Kind::kValue:
      return "value";
  }
  return "";
}

// What evaluations that failed mean for the answer; empty without any.
std::string failed_text(const OracleCounts& counts) {
  const std::int64_t count = counts.failed + counts.failed_from_journal;
  if (count == 0) return "";
  std::string what =
      fmt::format("{} failed ({} in an earlier run)", counted(count, "evaluation"), counts.failed_from_journal);
  switch (counts.on_failure.kind) {
    case FailureRule::Kind::kStop:
      return what;
    case FailureRule::Kind::kImpossible:
      return what + " and count as impossible";
    case FailureRule::Kind::kSkip:
      return what + " and were skipped: log Z, its bounds and all probabilities are those of the model without them";
    case FailureRule::Kind::kValue:
      return fmt::format("{} and count as {}", what, counts.on_failure.log_value);
  }
  return what;
}

void print_marginals(const Answer& answer, const FactorGraph& graph) {
  if (answer.marginals.empty()) return;
  fmt::print("marginals   {}\n", answer.marginals_from);
  const int num_variables = graph.num_variables();
  for (int v = 0; v < std::min(num_variables, kMostShown); ++v) {
    const std::vector<double>& probs = answer.marginals[v];
    std::string line;
    for (std::size_t s = 0; s < std::min<std::size_t>(probs.size(), 8); ++s) {
      line += fmt::format("  {}: {:.4f}", state_name(graph, v, static_cast<int>(s)), probs[s]);
    }
    if (probs.size() > 8) line += "  ...";
    fmt::print("  {:<10}{}\n", variable_name(graph, v), line);
  }
  if (num_variables > kMostShown) fmt::print("  ... and {} more (--json FILE has all)\n", num_variables - kMostShown);
}

void print_importance(const Answer& answer) {
  if (!answer.importance) return;
  const ImportanceEstimate& estimate = *answer.importance;
  fmt::print("            {} {}by importance sampling: {}, effective {:.1f}, {} extra evaluations{}\n",
             log_value_text(estimate.log_z),
             estimate.no_error.empty() ? fmt::format("+- {:.4f} ", estimate.std_error) : "",
             counted(estimate.num_samples, "sample"), estimate.ess, estimate.spent.reward_evaluations,
             estimate.no_error.empty() ? "" : fmt::format("; its error is not known: {}", estimate.no_error));
}

void print_evaluated(const Answer& answer) {
  if (!answer.evaluated) return;
  if (answer.evaluated->share == 0.0) {
    fmt::print("evaluated   no complete configuration by the search\n");
    return;
  }
  fmt::print("evaluated   about {:.2g} % of the target's mass, if log Z is {:.4f}, {} (not certified)\n",
             100.0 * answer.evaluated->share, answer.evaluated->log_z, answer.evaluated->log_z_by);
}

void print_log_z(const Answer& answer) {
  const bool has_nothing = answer.log_z == kNegInf && !answer.is_exact && (answer.lower || answer.upper);
  if (has_nothing) {
    fmt::print("log Z       no estimate: no possible configuration was found\n");
  } else if (answer.log_z) {
    fmt::print("log Z       {}{}\n", log_value_text(*answer.log_z), certainty_text(answer));
  }
  if (!answer.is_exact && (answer.lower || answer.upper)) {
    fmt::print("            certified: at least {}, at most {}\n", bound_text(answer.lower.value_or(kNegInf), -1.0),
               bound_text(answer.upper.value_or(HUGE_VAL), 1.0));
  }
  print_importance(answer);
  if (answer.bounded_importance && !answer.is_exact) {
    const BoundedImportance& sampled = *answer.bounded_importance;
    fmt::print("            in [{}, {}] with confidence {}: {}, effective {:.1f}\n",
               decimal_bound(sampled.interval.lower, -1.0), decimal_bound(sampled.interval.upper, 1.0),
               sampled.confidence, counted(sampled.num_samples, "sample"), sampled.ess);
  }
}

void print_programs(const Answer& answer) {
  for (const OracleCounts& counts : answer.program_counts) {
    fmt::print("program     {}: {} paid in {:.1f} s, {} from the journal, {}\n", printable(counts.name),
               counted(counts.paid, "evaluation"), counts.paid_seconds, counts.from_journal,
               counted(counts.failures, "failed attempt"));
    if (const std::string failed = failed_text(counts); !failed.empty()) fmt::print("            {}\n", failed);
  }
}

Json log_z_json(const Answer& answer) {
  Json log_z;
  log_z["estimate"] = answer.log_z ? number(*answer.log_z) : Json();
  log_z["lower"] = answer.lower ? number(*answer.lower) : Json();
  log_z["upper"] = answer.upper ? number(*answer.upper) : Json();
  log_z["exact"] = answer.is_exact;
  log_z["importance"] = Json();
  if (answer.importance) {
    log_z["importance"] = {{"estimate", number(answer.importance->log_z)},
                           {"std_error", error(answer.importance->std_error)},
                           {"std_error_unknown", reason(answer.importance->no_error)},
                           {"ess", answer.importance->ess},
                           {"num_samples", answer.importance->num_samples},
                           {"reward_evaluations", answer.importance->spent.reward_evaluations},
                           {"factor_evaluations", answer.importance->spent.factor_evaluations},
                           {"calls", answer.importance->spent.calls}};
  }
  log_z["interval"] = Json();
  if (answer.bounded_importance) {
    const BoundedImportance& sampled = *answer.bounded_importance;
    log_z["interval"] = {{"lower", number(sampled.interval.lower)},
                         {"upper", number(sampled.interval.upper)},
                         {"confidence", sampled.confidence},
                         {"estimate", number(sampled.log_z)},
                         {"std_error", error(sampled.std_error)},
                         {"ess", sampled.ess},
                         {"std_error_unknown", reason(sampled.no_error)},
                         {"num_samples", sampled.num_samples},
                         {"factor_evaluations", sampled.spent.factor_evaluations}};
  }
  return log_z;
}

Json programs_json(const Answer& answer) {
  Json programs;
  for (const OracleCounts& counts : answer.program_counts) {
    programs.push_back({{"factor", counts.name},
                        {"paid", counts.paid},
                        {"paid_seconds", counts.paid_seconds},
                        {"from_journal", counts.from_journal},
                        {"failures", counts.failures},
                        {"failed", counts.failed},
                        {"failed_from_journal", counts.failed_from_journal},
                        {"on_failure", rule_word(counts.on_failure)}});
  }
  return programs;
}

Json samples_json(const Answer& answer) {
  Json samples = Json::array();
  for (std::size_t i = 0; i < answer.samples.size(); ++i) {
    Json row = {{"x", answer.samples[i]}};
    if (!answer.sample_log_densities.empty()) row["log_density"] = number(answer.sample_log_densities[i]);
    if (!answer.sample_log_probs.empty()) row["log_prob"] = number(answer.sample_log_probs[i]);
    samples.push_back(std::move(row));
  }
  return samples;
}

Json options_json(const Answer& answer, const Settings& settings) {
  Json options = Json::object();
  for (const OptionInfo& known : infer_options()) {
    std::string key = known.name;
    std::replace(key.begin(), key.end(), '-', '_');
    options[key] = option_text(answer.plan.request, known.name);
  }
  for (const auto& [name, value] : settings) options[name] = value;
  return options;
}

}  // namespace

double seconds_to_show_samples(const std::vector<Assignment>& samples, const FactorGraph& graph, bool as_text,
                               bool as_json) {
  constexpr std::size_t kMostTried = 256;
  // A trial stays in the cache; all samples together do not.
  constexpr double kSlower = 3.0;
  constexpr double kNumber = 12.345678901234567;  // as long as most
  const std::size_t num_tried = std::min(samples.size(), kMostTried);
  if (num_tried == 0) return 0.0;
  const std::clock_t start = std::clock();
  std::string text;
  {
    Json rows = Json::array();
    for (std::size_t i = samples.size() - num_tried; i < samples.size(); ++i) {
      if (as_text) text += sample_line(graph, samples[i]);
      if (as_json) rows.push_back({{"x", samples[i]}, {"log_density", kNumber}, {"log_prob", -kNumber}});
    }
    text += json_text(rows, 1);
  }
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  return kSlower * seconds * static_cast<double>(samples.size()) / static_cast<double>(num_tried);
}

void print_summary(const Answer& answer, const ModelInput& input) {
  const FactorGraph& graph = input.model.graph;
  fmt::print("model       {}: {}, {}{}\n", printable(input.model_file), counted(graph.num_variables(), "variable"),
             counted(graph.num_factors(), "factor"),
             input.model.evidence.empty() ? "" : fmt::format(", {} observed", input.model.evidence.size()));
  if (answer.simplified.is_changed()) {
    fmt::print("simplified  {}; left: {}, {}\n", answer.simplified.brief(),
               counted(answer.num_variables_left, "variable"), counted(answer.num_factors_left, "factor"));
  }
  fmt::print("method      {}\n", printable(answer.method));
  print_log_z(answer);
  if (answer.sampler_divergence) {
    fmt::print("sampler     KL(sampler || target) certified to be at most {}\n",
               *answer.sampler_divergence < 1e-4 ? tolerance_text(*answer.sampler_divergence, 1)
                                                 : decimal_bound(*answer.sampler_divergence, 1.0));
  }
  if (answer.unexplored_mass) {
    fmt::print("unexplored  the approximation gives probability {:.3g} to configurations that were not evaluated\n",
               *answer.unexplored_mass);
  }
  print_evaluated(answer);
  if (answer.best) {
    fmt::print("best        log density {} at {}; {}\n", fixed(answer.best->log_density),
               states_text(graph, answer.best->x, kMostStatesShown), optimality_text(answer));
  }
  print_marginals(answer, graph);
  if (!answer.samples.empty()) fmt::print("samples     {}\n", answer.samples.size());
  for (const Assignment& sample : answer.samples) fmt::print("{}", sample_line(graph, sample));
  fmt::print("spent       {} ({}) in {:.3f} s; stopped: {}\n",
             counted(answer.spent.reward_evaluations, "reward evaluation"),
             counted(answer.spent.factor_evaluations, "factor evaluation"), answer.seconds, to_string(answer.stop));
  print_programs(answer);
  if (answer.error) fmt::print("error       this is the answer so far: a factor could not be evaluated\n");
}

void write_json(const Answer& answer, const ModelInput& input, const Settings& settings, const std::string& path) {
  const FactorGraph& graph = input.model.graph;
  Json json;
  json["program"] = "treesample " TREESAMPLE_VERSION;
  json["model"] = {
      {"file", input.model_file}, {"num_variables", graph.num_variables()}, {"num_factors", graph.num_factors()}};
  Json evidence = Json::object();
  for (const auto& [variable, state] : input.model.evidence) evidence[fmt::format("{}", variable)] = state;
  json["evidence"] = evidence;
  json["simplified"] = simplified_json(answer);
  json["options"] = options_json(answer, settings);
  json["plan"] = {{"reasons", answer.plan.reasons}, {"remarks", answer.plan.remarks}};
  json["method"] = answer.method;
  json["stop"] = to_string(answer.stop);
  json["log_z"] = log_z_json(answer);
  json["sampler_divergence"] = answer.sampler_divergence ? number(*answer.sampler_divergence) : Json();
  json["unexplored_mass"] = answer.unexplored_mass ? number(*answer.unexplored_mass) : Json();
  json["evaluated"] = Json();
  if (answer.evaluated) {
    json["evaluated"] = {{"share", answer.evaluated->share},
                         {"log_z", number(answer.evaluated->log_z)},
                         {"log_z_by", answer.evaluated->log_z_by}};
  }
  json["spent"] = {{"reward_evaluations", answer.spent.reward_evaluations},
                   {"factor_evaluations", answer.spent.factor_evaluations},
                   {"cost_seconds", answer.spent.cost_seconds},
                   {"calls", answer.spent.calls}};
  json["error"] = answer.error ? Json(answer.error->what()) : Json();
  json["seconds"] = answer.seconds;
  json["expansions_per_second"] =
      answer.seconds > 0 ? Json(static_cast<double>(answer.spent.reward_evaluations) / answer.seconds) : Json();
  if (!answer.program_counts.empty()) json["programs"] = programs_json(answer);
  json["best"] = Json();
  if (answer.best) {
    json["best"] = {{"x", answer.best->x},
                    {"log_density", number(answer.best->log_density)},
                    {"optimal", answer.is_best_optimal ? Json(*answer.is_best_optimal) : Json()},
                    {"gap", answer.best_gap ? number(*answer.best_gap) : Json()}};
  }
  json["marginals_from"] = answer.marginals_from;
  json["marginals_error"] = answer.marginals_error ? number(*answer.marginals_error) : Json();
  json["marginal_errors"] = answer.marginal_errors.empty() ? Json() : Json(answer.marginal_errors);
  json["marginal_errors_unknown"] = reason(answer.marginals_no_error);
  json["marginals"] = answer.marginals;
  json["samples"] = samples_json(answer);
  const std::string text = json_text(json, 1) + "\n";
  if (path == "-") {
    fmt::print("{}", text);
  } else {
    write_file_atomically(path, text);
  }
}

}  // namespace treesample::cli
