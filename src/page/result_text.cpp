// An answer as text for people, line by line.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "page/result_table.hpp"
#include "treesample/io/evidence_file.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/names.hpp"
#include "treesample/parse_number.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

constexpr double kLog10 = 2.302585092994046;
constexpr int kMostShown = 12;  // variables whose marginals the summary shows
constexpr std::size_t kMostObservedBytes = 400;
constexpr std::size_t kMostStatesShown = 24;  // of the best configuration

std::string bound_text(double value, double direction) {
  if (std::isinf(value)) return value > 0.0 ? "inf" : "-inf";
  const double log10 = value / kLog10;
  return fmt::format("{} (log10: {})", decimal_bound(value, direction),
                     decimal_bound(log10 + direction * 0x1.0p-50 * std::abs(log10), direction));
}

// A probability with six digits, rounded so that it is never above the one whose logarithm is given.
std::string probability_at_least(double log_probability) {
  const double least = std::exp(log_probability) * (1.0 - 0x1.0p-40);  // the difference and exp are rounded too
  for (double shown = least;; shown *= 1.0 - 3e-7) {
    std::string text = fmt::format("{:.6g}", shown);
    if (parse_real(text).value_or(0.0) <= least) return text;
  }
}

bool is_lower_bound(const Answer& answer) { return answer.log_z && !answer.is_exact && answer.log_z == answer.lower; }

// The part of the line for log Z that says how far it is certified.
std::string certainty_text(const Answer& answer) {
  const bool has_error = answer.lower || answer.upper || answer.bounded_importance || answer.importance;
  if (!answer.is_exact) return fmt::format(", {}{}", answer.log_z_kind(), has_error ? "" : "; its error is not known");
  const double width = *answer.log_z == kNegInf ? 0.0 : *answer.upper - *answer.lower;
  return width == 0.0 ? ", exact" : fmt::format(", exact (certified to {})", tolerance_text(width, 1));
}

// States by name if the model has names; "..." stands for those beyond `most`.
std::string states_text(const FactorGraph& graph, const Assignment& x, std::size_t most) {
  std::vector<std::string> states;
  for (std::size_t v = 0; v < std::min(x.size(), most); ++v) {
    states.push_back(printable(state_name(graph, static_cast<int>(v), x[v])));
  }
  return fmt::format("{}{}", fmt::join(states, " "), x.size() > most ? " ..." : "");
}

bool has_names(const FactorGraph& graph) {
  for (int v = 0; v < graph.num_variables(); ++v) {
    if (!graph.variable(v).name.empty()) return true;
  }
  return false;
}

// "lung=yes, tub=no" if the model has names, otherwise only the states.
std::string configuration_text(const FactorGraph& graph, const Assignment& x) {
  if (!has_names(graph)) return states_text(graph, x, kMostStatesShown);
  Observations states;
  for (std::size_t v = 0; v < std::min(x.size(), kMostStatesShown); ++v) {
    states.states.push_back({static_cast<int>(v), x[v]});
  }
  const std::size_t num_left = x.size() - states.states.size();
  return printable(observations_text(graph, states)) + (num_left > 0 ? fmt::format(" and {} more", num_left) : "");
}

// Facts about the best configuration in addition to its density.
std::string optimality_text(const Answer& answer) {
  const double gap = answer.best_gap.value_or(HUGE_VAL);
  if (answer.is_best_optimal == true) {
    return gap > 0.0 ? fmt::format("optimal (certified to {})", tolerance_text(gap, 1)) : "optimal";
  }
  return gap < HUGE_VAL ? fmt::format("best found, at most {} below the optimum", tolerance_text(gap, 3))
                        : "best found";
}

// How failed evaluations affect the answer; empty if there are none.
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

template <class... T>
void add(std::string& out, fmt::format_string<T...> format, T&&... values) {
  fmt::format_to(std::back_inserter(out), format, std::forward<T>(values)...);
}

std::string evidence_text(const Shown& shown) {
  return observations_text(shown.graph(), {shown.model.evidence, shown.model.soft_evidence});
}

// True if no possible configuration was found, and it is not proved that there is none.
bool has_nothing(const Answer& answer) {
  return answer.log_z == kNegInf && !answer.is_exact && (answer.lower || answer.upper);
}

// "P(xray=yes | either=no)" in a network, else the states of a factor.
std::string parameter_text(const Sensitivity& result, const Sensitivity::Parameter& one, const FactorGraph& graph) {
  Evidence states = query_states({graph.factor(one.factor).scope(), {}, {}}, graph, one.entry);
  if (!result.is_network) return fmt::format("factor {} at {}", one.factor, observations_text(graph, {states, {}}));
  const std::string child = observations_text(graph, {{states.back()}, {}});
  states.pop_back();
  const std::string bar = states.empty() ? "" : " | " + observations_text(graph, {states, {}});
  return fmt::format("P({}{})", child, bar);
}

void add_importance(std::string& out, const Answer& answer) {
  if (!answer.importance) return;
  const ImportanceEstimate& estimate = *answer.importance;
  if (!estimate.no_error.empty()) {  // effective samples would look like success where they are blind
    add(out, "            {} by importance sampling; its error is not known: {}\n", log_value_text(estimate.log_z),
        estimate.no_error);
    return;
  }
  add(out, "            {} +- {:.4f} by importance sampling: {}, effective {:.1f}, {} extra evaluations\n",
      log_value_text(estimate.log_z), estimate.std_error, counted(estimate.num_samples, "sample"), estimate.ess,
      estimate.spent.reward_evaluations);
}

void add_marginal(std::string& out, const FactorGraph& graph, int v, const std::vector<double>& probs) {
  std::string line;
  for (std::size_t s = 0; s < std::min<std::size_t>(probs.size(), 8); ++s) {
    line += fmt::format("  {}: {:.4f}", printable(state_name(graph, v, static_cast<int>(s))), probs[s]);
  }
  if (probs.size() > 8) line += "  ...";
  add(out, "  {:<10}{}\n", printable(variable_name(graph, v)), line);
}

}  // namespace

std::string sample_text(const FactorGraph& graph, const Assignment& sample) {
  return fmt::format("  {}\n", states_text(graph, sample, SIZE_MAX));
}

void add_model(std::string& out, const Shown& shown) {
  const Evidence& evidence = shown.model.evidence;
  add(out, "model       {}: {}, {}{}\n", printable(shown.source.model_file),
      counted(shown.graph().num_variables(), "variable"), counted(shown.graph().num_factors(), "factor"),
      evidence.empty() ? "" : fmt::format(", {} observed", evidence.size()));
}

void add_evidence(std::string& out, const Shown& shown) {
  const std::string observed = evidence_text(shown);
  if (!observed.empty()) add(out, "evidence    {}\n", shortened(observed, kMostObservedBytes));
}

void add_conflict(std::string& out, const Shown& shown) {
  const Answer& answer = shown.answer;
  if (!answer.conflict.empty()) {
    const std::size_t count = answer.conflict.states.size() + answer.conflict.soft.size();
    add(out, "impossible  {}: {}\n",
        count == 1 ? "the observations are impossible" : "these observations contradict each other",
        shortened(observations_text(shown.graph(), answer.conflict), kMostObservedBytes));
  } else if (answer.log_z == kNegInf && answer.is_exact) {
    add(out, "impossible  the model has no configuration of positive probability{}\n",
        evidence_text(shown).empty() ? "" : ", with or without the evidence");
  }
}

void add_simplified(std::string& out, const Shown& shown) {
  const Answer& answer = shown.answer;
  if (!answer.simplified.is_changed()) return;
  add(out, "simplified  {}; left: {}, {}\n", answer.simplified.brief(), counted(answer.num_variables_left, "variable"),
      counted(answer.num_factors_left, "factor"));
}

void add_method(std::string& out, const Shown& shown) { add(out, "method      {}\n", printable(shown.answer.method)); }

void add_log_z(std::string& out, const Shown& shown) {
  const Answer& answer = shown.answer;
  if (has_nothing(answer)) {
    add(out, "log Z       no estimate: no possible configuration was found\n");
  } else if (answer.log_z) {
    add(out, "log Z       {}{}\n",
        is_lower_bound(answer) ? bound_text(*answer.log_z, -1.0) : log_value_text(*answer.log_z),
        certainty_text(answer));
  }
  if (!answer.is_exact && (answer.lower || answer.upper)) {
    add(out, "            certified: at least {}, at most {}\n", bound_text(answer.lower.value_or(kNegInf), -1.0),
        bound_text(answer.upper.value_or(HUGE_VAL), 1.0));
  }
  add_importance(out, answer);
  if (answer.sampled_interval && !answer.is_exact) {
    add(out, "            in [{}, {}] with confidence {} (by the spread of the samples, not certified)\n",
        decimal_bound(answer.sampled_interval->log_z.lower, -1.0),
        decimal_bound(answer.sampled_interval->log_z.upper, 1.0), answer.sampled_interval->confidence);
  }
  if (answer.bounded_importance && !answer.is_exact) {
    const BoundedImportance& sampled = *answer.bounded_importance;
    add(out, "            in [{}, {}] with confidence {}: {}, effective {:.1f}\n",
        decimal_bound(sampled.interval.lower, -1.0), decimal_bound(sampled.interval.upper, 1.0), sampled.confidence,
        counted(sampled.num_samples, "sample"), sampled.ess);
  }
}

void add_evidence_probability(std::string& out, const Shown& shown) {
  const Answer& answer = shown.answer;
  if (const std::optional<double> probability = answer.evidence_probability(); probability && !has_nothing(answer)) {
    add(out, "P(evidence) {}{}\n",
        is_lower_bound(answer) ? probability_at_least(*answer.log_z) : fmt::format("{:.6g}", *probability),
        answer.is_exact ? "" : fmt::format(", {}", answer.log_z_kind()));
  }
}

void add_sampler_divergence(std::string& out, const Shown& shown) {
  const std::optional<double>& divergence = shown.answer.sampler_divergence;
  if (!divergence) return;
  add(out, "sampler     KL(sampler || target) certified to be at most {}\n",
      *divergence < 1e-4 ? tolerance_text(*divergence, 1) : decimal_bound(*divergence, 1.0));
}

void add_unexplored_mass(std::string& out, const Shown& shown) {
  const Answer& answer = shown.answer;
  if (!answer.unexplored_mass) return;
  if (answer.is_exact)
    return add(out, "unexplored  {:.3g} of P_X, which is not the target: the memory was full\n",
               *answer.unexplored_mass);
  const double gap = answer.upper.value_or(HUGE_VAL) - answer.lower.value_or(kNegInf);
  add(out, "unexplored  {}; that P_X gives {:.3g} to what was not evaluated is no evidence\n",
      gap < HUGE_VAL ? fmt::format("Z may be up to {:.3g} times what is certified", std::exp(gap))
                     : "how much of Z is missing is not known",
      *answer.unexplored_mass);
}

void add_evaluated(std::string& out, const Shown& shown) {
  const Answer& answer = shown.answer;
  if (!answer.evaluated) return;
  if (answer.evaluated->share == 0.0) {
    add(out, "evaluated   no complete configuration by the search\n");
    return;
  }
  add(out, "evaluated   about {:.3g} % of the target's mass, if log Z is {:.4f}, {} (not certified)\n",
      100.0 * answer.evaluated->share, answer.evaluated->log_z, answer.evaluated->log_z_by);
}

void add_best(std::string& out, const Shown& shown) {
  const Answer& answer = shown.answer;
  if (!answer.best) return;
  add(out, "best        log density {} at {}; {}\n", fixed(answer.best->log_density),
      configuration_text(shown.graph(), answer.best->x), optimality_text(answer));
}

void add_k_best(std::string& out, const Shown& shown) {
  const Answer& answer = shown.answer;
  if (answer.k_best.empty()) return;
  add(out, "k best      {}{}\n", answer.k_best.size(),
      answer.is_k_best_optimal ? ": no other configuration is better" : ", the best found");
  for (std::size_t i = 0; i < answer.k_best.size(); ++i) {
    add(out, "  {:<4}log density {} at {}\n", i + 1, fixed(answer.k_best[i].log_density),
        configuration_text(shown.graph(), answer.k_best[i].x));
  }
}

void add_map(std::string& out, const Shown& shown) {
  const Answer& answer = shown.answer;
  const FactorGraph& graph = shown.graph();
  if (!answer.map) return;
  const MapAnswer& map = *answer.map;
  if (map.states.empty()) {
    const bool is_impossible = map.log_upper == kNegInf;
    add(out, "map         {}\n", is_impossible ? "none: nothing is possible" : "no possible states were found");
    return;
  }
  Evidence states;
  for (std::size_t i = 0; i < map.states.size(); ++i) states.push_back({map.variables[i], map.states[i]});
  const double gap = map.log_upper - map.log_value.lower;
  const std::string optimal =
      gap < HUGE_VAL ? fmt::format("optimal (certified to {})", tolerance_text(gap, 1)) : "optimal";
  add(out, "map         {}\n", printable(observations_text(graph, {states, {}})));
  add(out, "            log of the sum {}; {}; {}\n",
      map.log_value.is_exact() ? fixed(map.log_value.lower) : "at least " + decimal_bound(map.log_value.lower, -1.0),
      map.is_optimal   ? optimal
      : gap < HUGE_VAL ? fmt::format("best found, at most {} below the optimum", tolerance_text(gap, 3))
                       : "best found",
      map.by);
  if (answer.is_exact && answer.log_z) {
    const bool is_exact = map.log_value.is_exact();
    const double log_share = std::min(0.0, map.log_value.lower - (is_exact ? *answer.log_z : *answer.upper));
    add(out, "            probability {}\n",
        is_exact ? fmt::format("{:.6g}", std::exp(log_share)) : probability_at_least(log_share) + " at least");
  }
}

void add_sensitivity(std::string& out, const Shown& shown) {
  const Answer& answer = shown.answer;
  const FactorGraph& graph = shown.graph();
  if (!answer.sensitivity) return;
  const Sensitivity& result = *answer.sensitivity;
  add(out, "sensitivity of {}: derivatives by the entries of tables{}\n",
      result.target.empty() ? "log Z" : printable(fmt::format("P({})", observations_text(graph, {result.target, {}}))),
      result.is_network ? ", rows adding up to 1" : "");
  for (const Sensitivity::Parameter& one : result.most_influential) {
    const bool is_plain = std::abs(one.derivative) < 1e6;
    add(out, "  {:>10}  {} = {:.6g}\n", fmt::format(fmt::runtime(is_plain ? "{:.4f}" : "{:.4g}"), one.derivative),
        printable(parameter_text(result, one, graph)), one.value);
  }
}

void add_observation_values(std::string& out, const Shown& shown) {
  constexpr std::size_t kMostValues = 12;
  const Answer& answer = shown.answer;
  const FactorGraph& graph = shown.graph();
  if (!answer.observation_values) return;
  const ObservationValues& values = *answer.observation_values;
  add(out, "value for   {}: what an observation would tell, of {:.4f} nats of uncertainty\n",
      printable(variable_name(graph, values.target)), values.entropy);
  for (std::size_t i = 0; i < std::min(values.values.size(), kMostValues); ++i) {
    add(out, "  {:>10.4f}  {}\n", values.values[i].information,
        printable(variable_name(graph, values.values[i].variable)));
  }
}

// Shown in place of all marginals.
void add_queries(std::string& out, const Shown& shown) {
  const Answer& answer = shown.answer;
  const FactorGraph& graph = shown.graph();
  constexpr std::size_t kMostRows = 64;
  if (answer.marginals_from.empty() || answer.queries.empty()) return;
  add(out, "query       {}\n", answer.marginals_from);
  if (answer.marginals.empty()) return;
  for (const QueryAnswer& query : answer.queries) {
    if (query.variables.size() == 1) {
      add_marginal(out, graph, query.variables.front(), query.probabilities);
      continue;
    }
    if (const char* const why = why_no_table(query, answer)) add(out, "  {}\n", why);
    if (!query.probabilities.empty() && !query.error) add(out, "  frequencies of samples; their error is not known\n");
    for (std::size_t i = 0; i < std::min(query.probabilities.size(), kMostRows); ++i) {
      add(out, "  {:.4f}  {}\n", query.probabilities[i],
          printable(observations_text(graph, {query_states(query, graph, i), {}})));
    }
    const std::size_t num_left = query.probabilities.size() - std::min(query.probabilities.size(), kMostRows);
    if (num_left > 0) add(out, "  ... and {} more (--json FILE has all)\n", num_left);
  }
}

void add_marginals(std::string& out, const Shown& shown) {
  const Answer& answer = shown.answer;
  const FactorGraph& graph = shown.graph();
  if (answer.marginals_from.empty() || !answer.queries.empty()) return;
  add(out, "marginals   {}\n", answer.marginals_from);
  const auto num_variables = static_cast<int>(answer.marginals.size());
  for (int v = 0; v < std::min(num_variables, kMostShown); ++v) add_marginal(out, graph, v, answer.marginals[v]);
  if (num_variables > kMostShown) {
    add(out, "  ... and {} more (--query NAME shows one, --marginals-out FILE has all)\n", num_variables - kMostShown);
  }
}

void add_samples(std::string& out, const Shown& shown) {
  const std::vector<Assignment>& samples = shown.answer.samples;
  if (!samples.empty()) add(out, "samples     {}\n", samples.size());
  for (const Assignment& sample : samples) out += sample_text(shown.graph(), sample);
}

void add_spent(std::string& out, const Shown& shown) {
  const Answer& answer = shown.answer;
  add(out, "spent       {} ({}) in {:.3f} s; stopped: {}\n",
      counted(answer.spent.reward_evaluations, "reward evaluation"),
      counted(answer.spent.factor_evaluations, "factor evaluation"), answer.seconds, to_string(answer.stop));
}

void add_programs(std::string& out, const Shown& shown) {
  const Answer& answer = shown.answer;
  for (const OracleCounts& counts : answer.program_counts) {
    add(out, "program     {}: {} paid in {:.1f} s, {} from the journal, {}\n", printable(counts.name),
        counted(counts.paid, "evaluation"), counts.paid_seconds, counts.from_journal,
        counted(counts.failures, "failed attempt"));
    if (const std::string failed = failed_text(counts); !failed.empty()) add(out, "            {}\n", failed);
  }
}

void add_error(std::string& out, const Shown& shown) {
  if (shown.answer.error) add(out, "error       this is the answer so far: a factor could not be evaluated\n");
}

}  // namespace treesample
