#include "page/result_table.hpp"

#include <fmt/format.h>

#include <type_traits>

#include "page/answer_fields.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;  // of the format: docs/answer_file.md says when it changes

constexpr ResultType kText = {"str", R"({"type": "string"})"};
constexpr ResultType kMaybeText = {"Optional[str]", R"({"type": ["string", "null"]})"};
constexpr ResultType kNumber = {"float", R"({"type": ["number", "string"]})"};
constexpr ResultType kMaybeNumber = {"Optional[float]", R"({"type": ["number", "string", "null"]})"};
constexpr ResultType kWhole = {"int", R"({"type": "integer"})"};
constexpr ResultType kObject = {"dict[str, Any]", R"({"type": "object"})"};
constexpr ResultType kMaybeObject = {"Optional[dict[str, Any]]", R"({"type": ["object", "null"]})"};
constexpr ResultType kList = {"list[Any]", R"({"type": "array"})"};
constexpr ResultType kMaybeList = {"Optional[list[Any]]", R"({"type": ["array", "null"]})"};

template <class T>
constexpr ResultType type_of() {
  if constexpr (std::is_same_v<T, std::string>) return kText;
  return std::is_same_v<T, double> ? kNumber : kMaybeNumber;
}

// How a member of the answer is written if it needs nothing special.
template <auto kMember>
void write_member(JsonWriter& out, const Shown& shown) {
  const auto& value = shown.answer.*kMember;
  using T = std::remove_cvref_t<decltype(value)>;
  if constexpr (std::is_same_v<T, std::string>) {
    out.text(value);
  } else if constexpr (std::is_same_v<T, double>) {
    out.value(json_number(value));
  } else {
    out.value(value ? json_number(*value) : Json());
  }
}

template <auto kMember>
std::optional<double> number_of(const Answer& answer) {
  return answer.*kMember;
}

// A member of the answer: a text or a number.
template <auto kMember>
ResultRow member(const char* name, const char* help, void (*text)(std::string&, const Shown&) = nullptr) {
  return {name, type_of<std::remove_cvref_t<decltype(std::declval<Answer>().*kMember)>>(), help, write_member<kMember>,
          text};
}
// A number with a unit: it has a line in the text, a card on the page, and a column in the table of --cases.
template <auto kMember>
ResultRow number(const char* name, const char* unit, const char* help) {
  ResultRow row = member<kMember>(name, help);
  row.unit = unit;
  row.number = number_of<kMember>;
  return row;
}

template <auto kValue>
void write_value(JsonWriter& out, const Shown& shown) {
  out.value(kValue(shown));
}
// Small values of other kinds.
template <auto kValue>
ResultRow value(const char* name, ResultType type, const char* help,
                void (*text)(std::string&, const Shown&) = nullptr) {
  return {name, type, help, write_value<kValue>, text};
}

Json maybe_text(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json evaluated_json(const Shown& shown) {
  const std::optional<EvaluatedShare>& evaluated = shown.answer.evaluated;
  if (!evaluated) return {};
  return {{"share", evaluated->share}, {"log_z", json_number(evaluated->log_z)}, {"log_z_by", evaluated->log_z_by}};
}

Json evidence_probability_json(const Shown& shown) {
  const std::optional<double> probability = shown.answer.evidence_probability();
  return probability ? json_number(*probability) : Json();
}

Json spent_json(const Shown& shown) {
  const Spending& spent = shown.answer.spent;
  return {{"reward_evaluations", spent.reward_evaluations},
          {"factor_evaluations", spent.factor_evaluations},
          {"cost_seconds", spent.cost_seconds},
          {"calls", spent.calls}};
}

Json phases_json(const Shown& shown) {
  Json phases = Json::array();
  for (const PlannedPhase& phase : shown.answer.plan.phases) {
    if (!phase.began_seconds || !phase.ended_seconds) continue;
    phases.push_back({{"name", phase.what}, {"seconds", *phase.ended_seconds - *phase.began_seconds}});
  }
  return phases;
}

Json expansions_json(const Shown& shown) {
  const double seconds = shown.answer.seconds;
  return seconds > 0 ? Json(static_cast<double>(shown.answer.spent.reward_evaluations) / seconds) : Json();
}

// Rows are in the order of the text. Data that grow with the model come last.
std::vector<ResultRow> make_rows() {  // NOLINT(readability-function-size)
  return {
      value<[](const Shown&) { return Json("treesample answer"); }>("format", kText, "`\"treesample answer\"`"),
      value<[](const Shown&) { return Json(kVersion); }>("version", kWhole, "of the format, as above"),
      value<[](const Shown&) { return Json("treesample " TREESAMPLE_VERSION); }>("program", kText,
                                                                                 "name and version of the program"),
      {"model", kObject, "`file`, `num_variables`, `num_factors`", write_model, add_model},
      {"variables", kList,
       "a list in the order of the model: `{\"name\": ..., \"states\": [...]}`. Without names in the model: `x0`, ... "
       "and `0`, `1`, ...",
       write_variables},
      {"evidence", kObject, "observed states by name: `{\"xray\": \"yes\"}`", write_evidence, add_evidence},
      {"soft_evidence", kList, "a list of `{\"variable\": ..., \"weights\": [...]}`", write_soft_evidence},
      value<[](const Shown& shown) { return options_json(shown.answer, shown.source); }>(
          "options", kObject,
          "every option of `infer` as it was used, with `_` for `-` in names; `null` for a limit that was not set"),
      value<[](const Shown& shown) {
        return Json{{"reasons", shown.answer.plan.reasons}, {"remarks", shown.answer.plan.remarks}};
      }>("plan", kObject, "`reasons` for the choice of the method, `remarks` on options"),
      value<phases_json>(
          "phases", kList,
          "what was carried out, in the order of the plan: the `name` of each part, and the `seconds` that "
          "it took, hardly any where nothing was left to do"),
      value<[](const Shown& shown) { return simplified_json(shown.answer); }>(
          "simplified", kObject,
          "what simplification removed from the model before the method saw it, and what was left", add_simplified),
      member<&Answer::method>("method", "what was done", add_method),
      value<[](const Shown& shown) { return Json(to_string(shown.answer.stop)); }>("stop", kText, "why the run ended"),
      {"log_z", kObject,
       "`estimate`, and its `kind`: `\"exact\"`, `\"lower bound\"` (certified, and all that is known), `\"estimate\"`, "
       "`null` where there is none; certified `lower` and `upper`; `exact`; `importance` and `interval` (with "
       "`confidence`) where samples were drawn; `sampled_interval` (with `confidence`) of a learned model, by the "
       "spread of its samples and not certified; where log Z is exact, both are the certified bounds",
       write_value<[](const Shown& shown) { return log_z_json(shown.answer); }>, add_log_z, log_z_cells},
      value<evidence_probability_json>("evidence_probability", kMaybeNumber,
                                       "exp of log Z, where the model is a Bayesian network and states were observed",
                                       add_evidence_probability),
      {"conflict", kMaybeObject,
       "where the evidence is impossible: the part of `evidence` and `soft_evidence` that contradicts itself",
       write_conflict, add_conflict, conflict_cells},
      member<&Answer::sampler_divergence>(
          "sampler_divergence",
          "certified: the distribution that samples are drawn from has at most this divergence KL(sampler || target) "
          "([certificates](methods/certificates.md))",
          add_sampler_divergence),
      member<&Answer::unexplored_mass>(
          "unexplored_mass",
          "of a search of tables that is not exact: the probability that it gives to configurations that were not "
          "evaluated; its own opinion, and no evidence about Z: `log_z.lower` and `log_z.upper` are. Of an exact "
          "search, where the memory could not hold it: marginals are then not those of the target, and there are no "
          "samples",
          add_unexplored_mass),
      value<evaluated_json>("evaluated", kMaybeObject,
                            "of a search with functions that is not exact: the `share` of Z that was evaluated, if "
                            "log Z is `log_z`, which is an estimate by `log_z_by`",
                            add_evaluated),
      {"best", kMaybeObject,
       "the most probable configuration: `states` by name, `x` as indices, `log_density`, `optimal`, certified `gap`",
       write_best, add_best, best_cells},
      {"k_best", kMaybeObject,
       "with `--k-best`: `configurations`, best first, and `optimal`: no other configuration is better than these by "
       "more than 1e-6",
       write_k_best, add_k_best},
      {"map", kMaybeObject,
       "with `--map`: `variables`, `states` by name, certified bounds `log_sum_lower` and `log_sum_upper` of the "
       "logarithm of their sum, an upper bound `log_upper` of the same for all other states, `optimal`, `by`",
       write_map, add_map, map_cells},
      {"sensitivity", kMaybeObject,
       "with `--sensitivity`: `of` (a state, or `\"log_z\"`), its `value`, `rows_add_up` (whether the other entries of "
       "a row change in proportion, as in a Bayesian network), `most_influential` (`factor`, `states`, `value`, "
       "`derivative`) and all `derivatives` by factor and entry",
       write_sensitivity, add_sensitivity},
      {"observation_values", kMaybeObject,
       "with `--value-for`: `for`, its `entropy`, and for each other variable the `information` that it has about "
       "`for`, in nats",
       write_observation_values, add_observation_values},
      number<&Answer::entropy>(
          "entropy", "nats",
          "with `--entropy`: the entropy of the distribution given the evidence, in nats; exact up "
          "to rounding"),
      {"queries", kList,
       "for each `--query`: `variables`, `table` of `{\"states\": {...}, \"probability\": ...}`, `error`, and "
       "`unknown`: why the table is empty",
       write_queries, add_queries},
      member<&Answer::marginals_from>("marginals_from", "where the marginals come from"),
      {"marginals_error", kMaybeNumber, "the largest standard error of the marginals; 0 where they are exact",
       write_member<&Answer::marginals_error>, nullptr, marginals_error_cells},
      {"marginal_errors", kMaybeList, "the errors of the marginals of all variables in their order (0: exact)",
       write_marginal_errors},
      value<[](const Shown& shown) { return maybe_text(shown.answer.marginals_no_error); }>(
          "marginal_errors_unknown", kMaybeText, "why the errors of the marginals are not known"),
      {"marginals", kObject,
       "of all variables: `{\"lung\": {\"yes\": 0.6, \"no\": 0.4}, ...}`; `{}` where there are none", write_marginals,
       add_marginals, marginals_cells},
      {"samples", kList,
       "a list: `x` as indices of states, `log_density` (left out for circuits, and where functions of the model would "
       "have to be called for it), and `log_prob` under the distribution that they were drawn from",
       write_samples, add_samples},
      value<spent_json>("spent", kObject,
                        "`reward_evaluations`, `factor_evaluations`, `calls` of programs and functions, and the "
                        "`cost_seconds` of these",
                        add_spent),
      member<&Answer::seconds>("seconds", "of the run"),
      value<expansions_json>("expansions_per_second", kMaybeNumber, "reward evaluations by seconds of the run"),
      value<[](const Shown& shown) { return programs_json(shown.answer); }>(
          "programs", kMaybeList, "for each factor that is a program or function: its calls, and how they ended",
          add_programs),
      {"calls", kList,
       "of these factors, all calls in the order of their answers: `factor`, `states` by name, `log_value` that it "
       "counts as (`null` where a failure ended the run), `seconds`, `from_journal`, `failure`",
       write_calls},
      value<[](const Shown& shown) { return shown.answer.error ? Json(shown.answer.error->what()) : Json(); }>(
          "error", kMaybeText, "what ended the run before its limits: this is the answer so far", add_error),
  };
}

}  // namespace

std::span<const ResultRow> result_rows() {
  static const std::vector<ResultRow> rows = make_rows();
  return rows;
}

std::string number_text(const ResultRow& row, const Answer& answer) {
  const std::optional<double> value = row.number == nullptr ? std::nullopt : row.number(answer);
  return value ? fmt::format("{} {}", fixed(*value), row.unit) : "";
}

}  // namespace treesample
