// Writes everything as one object; docs/answer_file.md documents every field. Data that grow with the model are written
// directly into the text.
#include <algorithm>
#include <cmath>

#include "page/answer_fields.hpp"
#include "page/answer_object.hpp"
#include "treesample/io/json_writer.hpp"
#include "treesample/model/names.hpp"

namespace treesample {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;  // of the format: docs/answer_file.md says when it changes

Json number(double value) { return json_number(value); }
Json optional_number(const std::optional<double>& value) { return value ? number(*value) : Json(); }

void write_number(JsonWriter& out, double value) {
  if (std::isfinite(value)) return out.number(value);
  out.value(number(value));
}

void write_samples(JsonWriter& out, const Answer& answer, Detail detail) {
  constexpr std::size_t kMostForPeople = 20;
  const std::size_t num_shown =
      detail == Detail::kAll ? answer.samples.size() : std::min(answer.samples.size(), kMostForPeople);
  out.begin_array();
  for (std::size_t i = 0; i < num_shown; ++i) {
    out.begin_object(JsonWriter::Layout::kOneLine);
    out.name("x");
    out.numbers(answer.samples[i]);
    if (!answer.sample_log_densities.empty()) {
      out.name("log_density");
      write_number(out, answer.sample_log_densities[i]);
    }
    if (!answer.sample_log_probs.empty()) {
      out.name("log_prob");
      write_number(out, answer.sample_log_probs[i]);
    }
    out.end_object();
  }
  out.end_array();
}

void write_variables(JsonWriter& out, const FactorGraph& graph) {
  out.begin_array();
  for (int v = 0; v < graph.num_variables(); ++v) {
    out.begin_object(JsonWriter::Layout::kOneLine);
    out.name("name");
    out.text(variable_name(graph, v));
    out.name("states");
    out.begin_array();
    for (int s = 0; s < graph.num_states(v); ++s) out.text(state_name(graph, v, s));
    out.end_array();
    out.end_object();
  }
  out.end_array();
}

// States of some variables by name; names are distinct.
void write_named(JsonWriter& out, const FactorGraph& graph, const Evidence& states) {
  out.begin_object();
  for (const auto& [variable, state] : states) {
    out.name(variable_name(graph, variable));
    out.text(state_name(graph, variable, state));
  }
  out.end_object();
}

Json named_json(const FactorGraph& graph, const Evidence& states) {
  Json named = Json::object();
  for (const auto& [variable, state] : states) {
    named[variable_name(graph, variable)] = state_name(graph, variable, state);
  }
  return named;
}

// The beginning of a configuration's fields.
void write_configuration(JsonWriter& out, const FactorGraph& graph, const Configuration& one) {
  out.name("states");
  out.begin_object();
  for (std::size_t v = 0; v < one.x.size(); ++v) {
    out.name(variable_name(graph, static_cast<int>(v)));
    out.text(state_name(graph, static_cast<int>(v), one.x[v]));
  }
  out.end_object();
  out.name("x");
  out.numbers(one.x);
  out.name("log_density");
  write_number(out, one.log_density);
}

Json soft_json(const FactorGraph& graph, const SoftEvidence& soft) {
  Json list = Json::array();
  for (const SoftObservation& seen : soft) {
    list.push_back({{"variable", variable_name(graph, seen.variable)}, {"weights", seen.weights}});
  }
  return list;
}

void write_marginals(JsonWriter& out, const Answer& answer, const FactorGraph& graph) {
  out.begin_object();
  for (std::size_t v = 0; v < answer.marginals.size(); ++v) {
    out.name(variable_name(graph, static_cast<int>(v)));
    out.begin_object(JsonWriter::Layout::kOneLine);
    for (std::size_t s = 0; s < answer.marginals[v].size(); ++s) {
      out.name(state_name(graph, static_cast<int>(v), static_cast<int>(s)));
      write_number(out, answer.marginals[v][s]);
    }
    out.end_object();
  }
  out.end_object();
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

void write_best(JsonWriter& out, const Answer& answer, const FactorGraph& graph) {
  if (!answer.best) return out.value(Json());
  out.begin_object();
  write_configuration(out, graph, *answer.best);
  out.field("optimal", answer.is_best_optimal ? Json(*answer.is_best_optimal) : Json());
  out.field("gap", optional_number(answer.best_gap));
  out.end_object();
}

void write_k_best(JsonWriter& out, const Answer& answer, const FactorGraph& graph) {
  if (answer.k_best.empty()) return out.value(Json());
  out.begin_object();
  out.field("optimal", Json(answer.is_k_best_optimal));
  out.name("configurations");
  out.begin_array();
  for (const Configuration& one : answer.k_best) {
    out.begin_object();
    write_configuration(out, graph, one);
    out.end_object();
  }
  out.end_array();
  out.end_object();
}

void write_map(JsonWriter& out, const Answer& answer, const FactorGraph& graph) {
  if (!answer.map) return out.value(Json());
  const MapAnswer& map = *answer.map;
  Evidence states;
  for (std::size_t i = 0; i < map.states.size(); ++i) states.push_back({map.variables[i], map.states[i]});
  out.begin_object();
  out.name("variables");
  out.begin_array();
  for (const int v : map.variables) out.text(variable_name(graph, v));
  out.end_array();
  out.name("states");
  if (states.empty()) {
    out.value(Json());
  } else {
    write_named(out, graph, states);
  }
  out.field("log_sum_lower", number(map.log_value.lower));
  out.field("log_sum_upper", number(map.log_value.upper));
  out.field("log_upper", number(map.log_upper));
  out.field("optimal", Json(map.is_optimal));
  out.field("by", Json(map.by));
  out.end_object();
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

void write_observation_values(JsonWriter& out, const Answer& answer, const FactorGraph& graph) {
  if (!answer.observation_values) return out.value(Json());
  out.begin_object();
  out.field("for", Json(variable_name(graph, answer.observation_values->target)));
  out.field("entropy", Json(answer.observation_values->entropy));
  out.name("information");
  out.begin_object();
  for (const auto& [variable, information] : answer.observation_values->values) {
    out.name(variable_name(graph, variable));
    write_number(out, information);
  }
  out.end_object();
  out.end_object();
}

// The question, and the model that it is about.
void write_question(JsonWriter& out, const Answer& answer, const Model& model, const AnswerSource& source) {
  const FactorGraph& graph = model.graph;
  out.field("format", Json("treesample answer"));
  out.field("version", Json(kVersion));
  out.field("program", Json("treesample " TREESAMPLE_VERSION));
  out.field("model", Json{{"file", source.model_file},
                          {"num_variables", graph.num_variables()},
                          {"num_factors", graph.num_factors()}});
  out.name("variables");
  write_variables(out, graph);
  out.name("evidence");
  write_named(out, graph, model.evidence);
  out.field("soft_evidence", soft_json(graph, model.soft_evidence));
  out.field("simplified", simplified_json(answer));
  out.field("options", options_json(answer, source));
  out.field("plan", Json{{"reasons", answer.plan.reasons}, {"remarks", answer.plan.remarks}});
  out.field("method", Json(answer.method));
  out.field("stop", Json(to_string(answer.stop)));
}

// The quality of the answer.
void write_quality(JsonWriter& out, const Answer& answer, const FactorGraph& graph) {
  out.field("log_z", log_z_json(answer));
  const std::optional<double> probability = answer.evidence_probability();
  out.field("evidence_probability", probability ? number(*probability) : Json());
  out.name("conflict");
  if (answer.conflict.empty()) {
    out.value(Json());
  } else {
    out.begin_object();
    out.name("evidence");
    write_named(out, graph, answer.conflict.states);
    out.field("soft_evidence", soft_json(graph, answer.conflict.soft));
    out.end_object();
  }
  out.field("sampler_divergence", optional_number(answer.sampler_divergence));
  out.field("unexplored_mass", optional_number(answer.unexplored_mass));
  Json evaluated;
  if (answer.evaluated) {
    evaluated = {{"share", answer.evaluated->share},
                 {"log_z", number(answer.evaluated->log_z)},
                 {"log_z_by", answer.evaluated->log_z_by}};
  }
  out.field("evaluated", evaluated);
}

void write_spending(JsonWriter& out, const Answer& answer) {
  out.field("spent", Json{{"reward_evaluations", answer.spent.reward_evaluations},
                          {"factor_evaluations", answer.spent.factor_evaluations},
                          {"cost_seconds", answer.spent.cost_seconds},
                          {"calls", answer.spent.calls}});
  out.field("error", answer.error ? Json(answer.error->what()) : Json());
  out.field("seconds", Json(answer.seconds));
  out.field("expansions_per_second",
            answer.seconds > 0 ? Json(static_cast<double>(answer.spent.reward_evaluations) / answer.seconds) : Json());
  if (!answer.program_counts.empty()) out.field("programs", programs_json(answer));
}

}  // namespace

void write_answer(JsonWriter& out, const Answer& answer, const Model& model, const AnswerSource& source,
                  Detail detail) {
  const FactorGraph& graph = model.graph;
  out.begin_object();
  write_question(out, answer, model, source);
  write_quality(out, answer, graph);
  write_spending(out, answer);
  out.name("best");
  write_best(out, answer, graph);
  out.name("k_best");
  write_k_best(out, answer, graph);
  out.name("map");
  write_map(out, answer, graph);
  out.field("sensitivity", sensitivity_json(answer, graph, detail));
  out.name("observation_values");
  write_observation_values(out, answer, graph);
  out.field("queries", queries_json(answer, graph));
  out.field("marginals_from", Json(answer.marginals_from));
  out.field("marginals_error", optional_number(answer.marginals_error));
  out.name("marginal_errors");
  if (answer.marginal_errors.empty()) {
    out.value(Json());
  } else {
    out.numbers(answer.marginal_errors);
  }
  out.field("marginal_errors_unknown", answer.marginals_no_error.empty() ? Json() : Json(answer.marginals_no_error));
  out.name("marginals");
  write_marginals(out, answer, graph);
  out.name("samples");
  write_samples(out, answer, detail);
  out.end_object();
}

std::string answer_json(const Answer& answer, const Model& model, const AnswerSource& source) {
  constexpr std::size_t kBytesPerVariable = 120;  // estimate, for names, two states and marginals
  JsonWriter out(1);
  out.reserve(kBytesPerVariable * static_cast<std::size_t>(model.graph.num_variables()));
  write_answer(out, answer, model, source, Detail::kAll);
  std::string text = out.take();
  text += '\n';
  return text;
}

}  // namespace treesample
