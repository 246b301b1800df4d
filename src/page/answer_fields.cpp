#include "page/answer_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "page/answer_object.hpp"
#include "treesample/error.hpp"
#include "treesample/parse_number.hpp"

namespace treesample {
namespace {

using Json = nlohmann::ordered_json;

// Null for a standard error that is not known; another field says why.
Json error(double value) { return std::isfinite(value) ? Json(value) : Json(); }
Json reason(const std::string& text) { return text.empty() ? Json() : Json(text); }

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

// Numbers become numbers, yes and no become true and false, and null stands for no limit or no value.
Json option_value(const OptionInfo& option, const std::string& text) {
  if (text.empty() || text == "inf" || text == fmt::format("{}", Limits::kUnlimited)) return {};
  if (option.meta == "yes|no") return text == "yes";
  const bool is_number = option.meta == "N" || option.meta == "X" || option.meta == "SIZE";
  if (!is_number) return text;
  if (const std::optional<std::int64_t> whole = parse_integer(text)) return *whole;
  if (const std::optional<double> real = parse_real(text)) return *real;
  return text;
}

}  // namespace

Json json_number(double value) {
  if (std::isnan(value)) throw Error(ErrorCode::kNumeric, "answer: a number of it is not a number");
  if (std::isfinite(value)) return value + 0.0;  // + 0.0 turns -0 into 0
  return value > 0 ? "inf" : "-inf";
}

Json simplified_json(const Answer& answer) {
  const SimplifyReport& report = answer.simplified;
  return {{"num_variables", answer.num_variables_left},   {"num_factors", answer.num_factors_left},
          {"impossible", report.is_impossible},           {"fixed_variables", report.num_fixed_variables},
          {"removed_states", report.num_removed_states},  {"dropped_factors", report.num_dropped_factors},
          {"smaller_factors", report.num_smaller_factors}};
}

Json log_z_json(const Answer& answer) {
  Json log_z;
  log_z["estimate"] = answer.log_z ? json_number(*answer.log_z) : Json();
  log_z["lower"] = answer.lower ? json_number(*answer.lower) : Json();
  log_z["upper"] = answer.upper ? json_number(*answer.upper) : Json();
  log_z["exact"] = answer.is_exact;
  log_z["kind"] = answer.log_z ? Json(answer.log_z_kind()) : Json();
  log_z["importance"] = Json();
  if (answer.importance) {
    log_z["importance"] = {{"estimate", json_number(answer.importance->log_z)},
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
    log_z["sampled_interval"] = {{"lower", json_number(answer.sampled_interval->log_z.lower)},
                                 {"upper", json_number(answer.sampled_interval->log_z.upper)},
                                 {"confidence", answer.sampled_interval->confidence}};
  }
  log_z["interval"] = Json();
  if (answer.bounded_importance) {
    const BoundedImportance& sampled = *answer.bounded_importance;
    log_z["interval"] = {{"lower", json_number(sampled.interval.lower)},
                         {"upper", json_number(sampled.interval.upper)},
                         {"confidence", sampled.confidence},
                         {"estimate", json_number(sampled.log_z)},
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
    programs.push_back({{"factor", counts.label},
                        {"paid", counts.paid},
                        {"paid_seconds", counts.paid_seconds},
                        {"from_journal", counts.from_journal},
                        {"repeated", counts.repeated},
                        {"failures", counts.failures},
                        {"failed", counts.failed},
                        {"failed_from_journal", counts.failed_from_journal},
                        {"on_failure", rule_word(counts.on_failure)}});
  }
  return programs;
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

}  // namespace treesample
