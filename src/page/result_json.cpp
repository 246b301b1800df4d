// The fields of an answer's JSON that are more than a number or a text. Data that grow with the model are written
// directly into the text.
#include <algorithm>
#include <cmath>

#include "page/result_table.hpp"
#include "treesample/io/json_writer.hpp"
#include "treesample/model/names.hpp"

namespace treesample {
namespace {

using Json = nlohmann::ordered_json;

Json optional_number(const std::optional<double>& value) { return value ? json_number(*value) : Json(); }

void write_number(JsonWriter& out, double value) {
  if (std::isfinite(value)) return out.number(value);
  out.value(json_number(value));
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

}  // namespace

void write_model(JsonWriter& out, const Shown& shown) {
  out.value(Json{{"file", shown.source.model_file},
                 {"num_variables", shown.graph().num_variables()},
                 {"num_factors", shown.graph().num_factors()}});
}

void write_variables(JsonWriter& out, const Shown& shown) {
  const FactorGraph& graph = shown.graph();
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

void write_evidence(JsonWriter& out, const Shown& shown) { write_named(out, shown.graph(), shown.model.evidence); }

void write_soft_evidence(JsonWriter& out, const Shown& shown) {
  out.value(soft_json(shown.graph(), shown.model.soft_evidence));
}

void write_conflict(JsonWriter& out, const Shown& shown) {
  const Observations& conflict = shown.answer.conflict;
  if (conflict.empty()) return out.value(Json());
  out.begin_object();
  out.name("evidence");
  write_named(out, shown.graph(), conflict.states);
  out.field("soft_evidence", soft_json(shown.graph(), conflict.soft));
  out.end_object();
}

void write_best(JsonWriter& out, const Shown& shown) {
  const Answer& answer = shown.answer;
  const FactorGraph& graph = shown.graph();
  if (!answer.best) return out.value(Json());
  out.begin_object();
  write_configuration(out, graph, *answer.best);
  out.field("optimal", answer.is_best_optimal ? Json(*answer.is_best_optimal) : Json());
  out.field("gap", optional_number(answer.best_gap));
  out.end_object();
}

void write_k_best(JsonWriter& out, const Shown& shown) {
  const Answer& answer = shown.answer;
  const FactorGraph& graph = shown.graph();
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

void write_map(JsonWriter& out, const Shown& shown) {
  const Answer& answer = shown.answer;
  const FactorGraph& graph = shown.graph();
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
  out.field("log_sum_lower", json_number(map.log_value.lower));
  out.field("log_sum_upper", json_number(map.log_value.upper));
  out.field("log_upper", json_number(map.log_upper));
  out.field("optimal", Json(map.is_optimal));
  out.field("by", Json(map.by));
  out.end_object();
}

void write_sensitivity(JsonWriter& out, const Shown& shown) {
  if (!shown.answer.sensitivity) return out.value(Json());
  const FactorGraph& graph = shown.graph();
  const Sensitivity& result = *shown.answer.sensitivity;
  out.begin_object();
  out.field("of", result.target.empty() ? Json("log_z") : named_json(graph, result.target));
  out.field("value", json_number(result.value));
  out.field("rows_add_up", Json(result.is_network));
  Json parameters = Json::array();
  for (const Sensitivity::Parameter& one : result.most_influential) {
    const Evidence states = query_states({graph.factor(one.factor).scope(), {}, {}}, graph, one.entry);
    parameters.push_back({{"factor", one.factor},
                          {"states", named_json(graph, states)},
                          {"value", json_number(one.value)},
                          {"derivative", json_number(one.derivative)}});
  }
  out.field("most_influential", parameters);
  out.name("derivatives");
  if (shown.detail == Detail::kAll) {
    out.begin_array();
    for (const std::vector<double>& table : result.derivatives) {
      out.begin_array(JsonWriter::Layout::kOneLine);
      for (const double derivative : table) write_number(out, derivative);
      out.end_array();
    }
    out.end_array();
  } else {
    out.value(Json());
  }
  out.end_object();
}

void write_observation_values(JsonWriter& out, const Shown& shown) {
  const Answer& answer = shown.answer;
  const FactorGraph& graph = shown.graph();
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

void write_queries(JsonWriter& out, const Shown& shown) {
  const FactorGraph& graph = shown.graph();
  Json queries = Json::array();
  for (const QueryAnswer& query : shown.answer.queries) {
    Json names = Json::array();
    for (const int v : query.variables) names.push_back(variable_name(graph, v));
    Json table = Json::array();
    for (std::size_t i = 0; i < query.probabilities.size(); ++i) {
      table.push_back(
          {{"states", named_json(graph, query_states(query, graph, i))}, {"probability", query.probabilities[i]}});
    }
    const char* const why = why_no_table(query, shown.answer);
    queries.push_back({{"variables", std::move(names)},
                       {"error", optional_number(query.error)},
                       {"unknown", why == nullptr ? Json() : Json(why)},
                       {"table", table}});
  }
  out.value(queries);
}

void write_marginal_errors(JsonWriter& out, const Shown& shown) {
  if (shown.answer.marginal_errors.empty()) return out.value(Json());
  out.numbers(shown.answer.marginal_errors);
}

void write_marginals(JsonWriter& out, const Shown& shown) {
  const Answer& answer = shown.answer;
  const FactorGraph& graph = shown.graph();
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

void write_samples(JsonWriter& out, const Shown& shown) {
  const Answer& answer = shown.answer;
  constexpr std::size_t kMostForPeople = 20;
  const std::size_t num_shown =
      shown.detail == Detail::kAll ? answer.samples.size() : std::min(answer.samples.size(), kMostForPeople);
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

void write_calls(JsonWriter& out, const Shown& shown) {
  const Answer& answer = shown.answer;
  const FactorGraph& graph = shown.graph();
  std::vector<std::string> names(static_cast<std::size_t>(graph.num_factors()));
  for (const OracleCounts& counts : answer.program_counts) names[counts.factor] = counts.label;
  out.begin_array();
  for (const OracleCall& call : answer.calls) {
    if (shown.detail == Detail::kForPeople) break;
    const std::vector<int>& scope = graph.factor(call.factor).scope();
    Evidence states;
    for (std::size_t i = 0; i < scope.size(); ++i) states.push_back({scope[i], call.states[i]});
    out.begin_object(JsonWriter::Layout::kOneLine);
    out.field("factor", Json(names[call.factor]));
    out.name("states");
    write_named(out, graph, states);
    out.field("log_value", optional_number(call.log_value));
    out.field("seconds", Json(call.seconds));
    out.field("from_journal", Json(call.is_from_journal));
    out.field("failure", call.failure.empty() ? Json() : Json(call.failure));
    out.end_object();
  }
  out.end_array();
}

}  // namespace treesample
