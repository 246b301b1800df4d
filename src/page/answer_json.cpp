// Everything as one object. docs/answer_file.md documents every field.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "page/answer_object.hpp"
#include "treesample/error.hpp"
#include "treesample/io/json_text.hpp"
#include "treesample/model/names.hpp"
#include "treesample/parse_number.hpp"

namespace treesample {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;  // of the format: docs/answer_file.md says when it changes

Json number(double value) { return json_number(value); }

// Of a standard error that is not known, null, and why.
Json error(double value) { return std::isfinite(value) ? Json(value) : Json(); }
Json reason(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json optional_number(const std::optional<double>& value) { return value ? number(*value) : Json(); }

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

Json log_z_json(const Answer& answer) {
  Json log_z;
  log_z["estimate"] = answer.log_z ? number(*answer.log_z) : Json();
  log_z["lower"] = answer.lower ? number(*answer.lower) : Json();
  log_z["upper"] = answer.upper ? number(*answer.upper) : Json();
  log_z["exact"] = answer.is_exact;
  log_z["kind"] = answer.log_z ? Json(answer.log_z_kind()) : Json();
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
  log_z["sampled_interval"] = Json();
  if (answer.sampled_interval) {
    log_z["sampled_interval"] = {{"lower", number(answer.sampled_interval->log_z.lower)},
                                 {"upper", number(answer.sampled_interval->log_z.upper)},
                                 {"confidence", answer.sampled_interval->confidence}};
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

Json samples_json(const Answer& answer, Detail detail) {
  constexpr std::size_t kMostForPeople = 20;
  Json samples = Json::array();
  const std::size_t num_shown =
      detail == Detail::kAll ? answer.samples.size() : std::min(answer.samples.size(), kMostForPeople);
  for (std::size_t i = 0; i < num_shown; ++i) {
    Json row = {{"x", answer.samples[i]}};
    if (!answer.sample_log_densities.empty()) row["log_density"] = number(answer.sample_log_densities[i]);
    if (!answer.sample_log_probs.empty()) row["log_prob"] = number(answer.sample_log_probs[i]);
    samples.push_back(std::move(row));
  }
  return samples;
}

// Numbers as numbers, yes and no as true and false, null where nothing is said or there is no limit.
Json option_value(const OptionInfo& option, const std::string& text) {
  if (text.empty() || text == "inf" || text == fmt::format("{}", Limits::kUnlimited)) return {};
  if (option.meta == "yes|no") return text == "yes";
  const bool is_number = option.meta == "N" || option.meta == "X" || option.meta == "SIZE";
  if (!is_number) return text;
  if (const std::optional<std::int64_t> whole = parse_integer(text)) return *whole;
  if (const std::optional<double> real = parse_real(text)) return *real;
  return text;
}

Json options_json(const Answer& answer, const AnswerSource& source) {
  Json options = Json::object();
  for (const OptionInfo& known : infer_options()) {
    std::string key = known.name;
    std::replace(key.begin(), key.end(), '-', '_');
    options[key] = option_value(known, option_text(answer.plan.request, known.name));
  }
  for (const auto& [name, value] : source.settings) options[name] = value;
  return options;
}

Json variables_json(const FactorGraph& graph) {
  Json variables = Json::array();
  for (int v = 0; v < graph.num_variables(); ++v) {
    Json states = Json::array();
    for (int s = 0; s < graph.num_states(v); ++s) states.push_back(state_name(graph, v, s));
    variables.push_back({{"name", variable_name(graph, v)}, {"states", std::move(states)}});
  }
  return variables;
}

// Names are distinct. An ordered object would look for the name among all that it has, for each of 100,000 variables.
void add_field(Json& object, std::string name, Json value) {
  using Fields = Json::object_t::Container;
  static_cast<Fields&>(object.get_ref<Json::object_t&>()).emplace_back(std::move(name), std::move(value));
}

// States of some variables by name.
Json named_json(const FactorGraph& graph, const Evidence& states) {
  Json named = Json::object();
  for (const auto& [variable, state] : states) {
    add_field(named, variable_name(graph, variable), state_name(graph, variable, state));
  }
  return named;
}

Json named_json(const FactorGraph& graph, const Assignment& x) {
  Evidence states;
  for (std::size_t v = 0; v < x.size(); ++v) states.push_back({static_cast<int>(v), x[v]});
  return named_json(graph, states);
}

Json soft_json(const FactorGraph& graph, const SoftEvidence& soft) {
  Json list = Json::array();
  for (const SoftObservation& seen : soft) {
    list.push_back({{"variable", variable_name(graph, seen.variable)}, {"weights", seen.weights}});
  }
  return list;
}

Json marginals_json(const Answer& answer, const FactorGraph& graph) {
  Json marginals = Json::object();
  for (std::size_t v = 0; v < answer.marginals.size(); ++v) {
    Json states = Json::object();
    for (std::size_t s = 0; s < answer.marginals[v].size(); ++s) {
      add_field(states, state_name(graph, static_cast<int>(v), static_cast<int>(s)), answer.marginals[v][s]);
    }
    add_field(marginals, variable_name(graph, static_cast<int>(v)), std::move(states));
  }
  return marginals;
}

Json queries_json(const Answer& answer, const FactorGraph& graph) {
  Json queries = Json::array();
  for (const QueryAnswer& query : answer.queries) {
    Json names = Json::array();
    for (const int v : query.variables) names.push_back(variable_name(graph, v));
    Json table = Json::array();
    for (std::size_t i = 0; i < query.probabilities.size(); ++i) {
      table.push_back(
          {{"states", named_json(graph, query_states(query, graph, i))}, {"probability", query.probabilities[i]}});
    }
    queries.push_back({{"variables", std::move(names)}, {"error", optional_number(query.error)}, {"table", table}});
  }
  return queries;
}

Json best_json(const Answer& answer, const FactorGraph& graph) {
  if (!answer.best) return {};
  return {{"states", named_json(graph, answer.best->x)},
          {"x", answer.best->x},
          {"log_density", number(answer.best->log_density)},
          {"optimal", answer.is_best_optimal ? Json(*answer.is_best_optimal) : Json()},
          {"gap", optional_number(answer.best_gap)}};
}

Json k_best_json(const Answer& answer, const FactorGraph& graph) {
  if (answer.k_best.empty()) return {};
  Json list = Json::array();
  for (const Configuration& one : answer.k_best) {
    list.push_back({{"states", named_json(graph, one.x)}, {"x", one.x}, {"log_density", number(one.log_density)}});
  }
  return {{"optimal", answer.is_k_best_optimal}, {"configurations", std::move(list)}};
}

Json map_json(const Answer& answer, const FactorGraph& graph) {
  if (!answer.map) return {};
  const MapAnswer& map = *answer.map;
  Evidence states;
  for (std::size_t i = 0; i < map.states.size(); ++i) states.push_back({map.variables[i], map.states[i]});
  Json names = Json::array();
  for (const int v : map.variables) names.push_back(variable_name(graph, v));
  return {{"variables", std::move(names)},
          {"states", map.states.empty() ? Json() : named_json(graph, states)},
          {"log_sum_lower", number(map.log_value.lower)},
          {"log_sum_upper", number(map.log_value.upper)},
          {"log_upper", number(map.log_upper)},
          {"optimal", map.is_optimal},
          {"by", map.by}};
}

Json sensitivity_json(const Answer& answer, const FactorGraph& graph, Detail detail) {
  if (!answer.sensitivity) return {};
  const Sensitivity& result = *answer.sensitivity;
  Json parameters = Json::array();
  for (const Sensitivity::Parameter& one : result.most_influential) {
    const std::vector<int>& scope = graph.factor(one.factor).scope();
    Evidence states = query_states({scope, {}, {}}, graph, one.entry);
    parameters.push_back({{"factor", one.factor},
                          {"states", named_json(graph, states)},
                          {"value", one.value},
                          {"derivative", number(one.derivative)}});
  }
  return {{"of", result.target.empty() ? Json("log_z") : named_json(graph, result.target)},
          {"value", number(result.value)},
          {"rows_add_up", result.is_network},
          {"most_influential", std::move(parameters)},
          {"derivatives", detail == Detail::kAll ? Json(result.derivatives) : Json()}};
}

Json observation_values_json(const Answer& answer, const FactorGraph& graph) {
  if (!answer.observation_values) return {};
  Json values = Json::object();
  for (const auto& [variable, information] : answer.observation_values->values) {
    add_field(values, variable_name(graph, variable), information);
  }
  return {{"for", variable_name(graph, answer.observation_values->target)},
          {"entropy", answer.observation_values->entropy},
          {"information", std::move(values)}};
}

// What was asked, and of what.
void add_question(Json& json, const Answer& answer, const Model& model, const AnswerSource& source) {
  const FactorGraph& graph = model.graph;
  json["format"] = "treesample answer";
  json["version"] = kVersion;
  json["program"] = "treesample " TREESAMPLE_VERSION;
  json["model"] = {
      {"file", source.model_file}, {"num_variables", graph.num_variables()}, {"num_factors", graph.num_factors()}};
  json["variables"] = variables_json(graph);
  json["evidence"] = named_json(graph, model.evidence);
  json["soft_evidence"] = soft_json(graph, model.soft_evidence);
  json["simplified"] = simplified_json(answer);
  json["options"] = options_json(answer, source);
  json["plan"] = {{"reasons", answer.plan.reasons}, {"remarks", answer.plan.remarks}};
  json["method"] = answer.method;
  json["stop"] = to_string(answer.stop);
}

void add_spending(Json& json, const Answer& answer) {
  json["spent"] = {{"reward_evaluations", answer.spent.reward_evaluations},
                   {"factor_evaluations", answer.spent.factor_evaluations},
                   {"cost_seconds", answer.spent.cost_seconds},
                   {"calls", answer.spent.calls}};
  json["error"] = answer.error ? Json(answer.error->what()) : Json();
  json["seconds"] = answer.seconds;
  json["expansions_per_second"] =
      answer.seconds > 0 ? Json(static_cast<double>(answer.spent.reward_evaluations) / answer.seconds) : Json();
  if (!answer.program_counts.empty()) json["programs"] = programs_json(answer);
}

}  // namespace

Json json_number(double value) {
  if (std::isnan(value)) throw Error(ErrorCode::kNumeric, "answer: a number of it is not a number");
  if (std::isfinite(value)) return value + 0.0;  // -0 is 0
  return value > 0 ? "inf" : "-inf";
}

Json answer_object(const Answer& answer, const Model& model, const AnswerSource& source, Detail detail) {
  const FactorGraph& graph = model.graph;
  Json json;
  add_question(json, answer, model, source);
  json["log_z"] = log_z_json(answer);
  json["evidence_probability"] =
      answer.is_evidence_probability && answer.log_z ? number(std::exp(*answer.log_z)) : Json();
  json["conflict"] = Json();
  if (!answer.conflict.empty()) {
    json["conflict"] = {{"evidence", named_json(graph, answer.conflict.states)},
                        {"soft_evidence", soft_json(graph, answer.conflict.soft)}};
  }
  json["sampler_divergence"] = optional_number(answer.sampler_divergence);
  json["unexplored_mass"] = optional_number(answer.unexplored_mass);
  json["evaluated"] = Json();
  if (answer.evaluated) {
    json["evaluated"] = {{"share", answer.evaluated->share},
                         {"log_z", number(answer.evaluated->log_z)},
                         {"log_z_by", answer.evaluated->log_z_by}};
  }
  add_spending(json, answer);
  json["best"] = best_json(answer, graph);
  json["k_best"] = k_best_json(answer, graph);
  json["map"] = map_json(answer, graph);
  json["sensitivity"] = sensitivity_json(answer, graph, detail);
  json["observation_values"] = observation_values_json(answer, graph);
  json["queries"] = queries_json(answer, graph);
  json["marginals_from"] = answer.marginals_from;
  json["marginals_error"] = optional_number(answer.marginals_error);
  json["marginal_errors"] = answer.marginal_errors.empty() ? Json() : Json(answer.marginal_errors);
  json["marginal_errors_unknown"] = reason(answer.marginals_no_error);
  json["marginals"] = marginals_json(answer, graph);
  json["samples"] = samples_json(answer, detail);
  return json;
}

std::string answer_json(const Answer& answer, const Model& model, const AnswerSource& source) {
  return json_text(answer_object(answer, model, source), 1) + "\n";
}

}  // namespace treesample
