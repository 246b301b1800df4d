#include "oracle/redis_messages.hpp"

#include <fmt/format.h>

#include <climits>
#include <nlohmann/json.hpp>

#include "io/json_fields.hpp"
#include "treesample/io/json_text.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/log_value.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

using nlohmann::json;

constexpr double kMostSeconds = 1e12;

int read_factor(const JsonField& message, const AskedFactors& factors) {
  const std::string name = message.at("factor").text();
  const int factor = factors.index(name);
  if (factor < 0) message.at("factor").fail(fmt::format("the model has no function '{}'", shortened(name, 60)));
  return factor;
}

std::vector<int> read_states(const JsonField& list, const std::vector<int>& num_states) {
  if (list.array_size() != static_cast<int>(num_states.size())) {
    list.fail(fmt::format("{} states, allowed are {}", list.array_size(), num_states.size()));
  }
  std::vector<int> states;
  for (std::size_t i = 0; i < num_states.size(); ++i) {
    states.push_back(list.at(static_cast<int>(i)).integer(0, num_states[i] - 1));
  }
  return states;
}

JobResult read_result(const JsonField& entry, int factor, const AskedFactors& factors) {
  entry.require_object({"states", "log_value", "seconds", "failures", "error", "code", "witness"});
  JobResult result{.job = {factor, read_states(entry.at("states"), factors.num_states(factor))}};
  result.seconds = entry.at("seconds").number(0.0, kMostSeconds);
  result.num_failures = entry.at("failures").integer(0, INT_MAX);
  if (entry.has("error")) {
    const bool is_numeric = entry.at("code").text() == "numeric";
    result.error = Error(is_numeric ? ErrorCode::kNumeric : ErrorCode::kIo, entry.at("error").text());
    return result;
  }
  result.log_value = entry.at("log_value").log_value();
  if (const std::string problem = log_value_problem(result.log_value); !problem.empty()) {
    entry.at("log_value").fail("the log-value is " + problem);
  }
  if (entry.has("witness")) {
    const JsonField witness = entry.at("witness");
    result.witness.emplace();
    for (int i = 0; i < witness.array_size(); ++i) {
      result.witness->push_back(witness.at(i).integer(0, static_cast<int>(result.job.states.size()) - 1));
    }
  }
  return result;
}

}  // namespace

FingerprintParts value_parts(const FingerprintParts& parts) {
  FingerprintParts of_values = parts;
  std::erase_if(of_values, [](const JournalSummary::Part& part) { return part.name == kTablesPart; });
  return of_values;
}

AskedFactors::AskedFactors(const OracleModel& model) {
  for (const OracleModel::FactorSpec& factor : model.factors) {
    if (factor.source >= 0) by_name_.emplace(factor.name, static_cast<int>(names_.size()));
    names_.push_back(factor.name);
    std::vector<int>& sizes = num_states_.emplace_back();
    for (const int v : factor.factor.scope()) sizes.push_back(model.variables[v].num_states);
  }
}

int AskedFactors::index(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? -1 : found->second;
}

std::string format_head(const RunHead& head) {
  json parts = json::array();
  for (const auto& [name, fingerprint] : head.parts) parts.push_back({name, fingerprint});
  return json_text(json{{"version", head.version},
                        {"session", head.session},
                        {"fingerprint", head.fingerprint},
                        {"parts", parts},
                        {"lease_seconds", head.lease_seconds},
                        {"state", head.is_done ? "done" : "running"}});
}

RunHead parse_head(std::string_view text) {
  const json message = parse_json_text(text, "model");
  const JsonField field(message, "model");
  RunHead head{.version = field.at("version").text(),
               .session = field.at("session").text(),
               .fingerprint = field.at("fingerprint").text(),
               .parts = {},
               .lease_seconds = field.at("lease_seconds").number(0.0, kMostSeconds),
               .is_done = field.at("state").text() == "done"};
  const JsonField parts = field.at("parts");
  for (int i = 0; i < parts.array_size(); ++i) {
    head.parts.push_back({parts.at(i).at(0).text(), parts.at(i).at(1).text()});
  }
  return head;
}

std::string format_questions(const QuestionBatch& batch, const AskedFactors& factors) {
  json assignments = json::array();
  for (const Job& job : batch.jobs) assignments.push_back(job.states);
  return json_text(json{
      {"session", batch.session}, {"factor", factors.name(batch.jobs.at(0).factor)}, {"assignments", assignments}});
}

QuestionBatch parse_questions(std::string_view text, const AskedFactors& factors) {
  const json message = parse_json_text(text, "question");
  const JsonField field(message, "question");
  field.require_object({"session", "factor", "assignments"});
  QuestionBatch batch{.session = field.at("session").text(), .jobs = {}};
  const int factor = read_factor(field, factors);
  const JsonField assignments = field.at("assignments");
  if (assignments.array_size() == 0) assignments.fail("nothing is asked");
  for (int i = 0; i < assignments.array_size(); ++i) {
    batch.jobs.push_back({factor, read_states(assignments.at(i), factors.num_states(factor))});
  }
  return batch;
}

std::string format_answers(const AnswerBatch& batch, const AskedFactors& factors) {
  json results = json::array();
  for (const JobResult& result : batch.results) {
    json entry = {{"states", result.job.states}, {"seconds", result.seconds}, {"failures", result.num_failures}};
    if (result.error) {
      entry["error"] = result.error->what();
      entry["code"] = result.error->code() == ErrorCode::kNumeric ? "numeric" : "io";
    } else {
      // Writes the shortest decimal that is read back as the same number.
      entry["log_value"] = result.log_value == kNegInf ? json("-inf") : json(result.log_value);
      if (result.witness) entry["witness"] = *result.witness;
    }
    results.push_back(std::move(entry));
  }
  return json_text(json{{"fingerprint", batch.fingerprint},
                        {"worker", batch.worker},
                        {"factor", factors.name(batch.results.at(0).job.factor)},
                        {"results", results}});
}

AnswerBatch parse_answers(std::string_view text, const AskedFactors& factors) {
  const json message = parse_json_text(text, "answer");
  const JsonField field(message, "answer");
  field.require_object({"fingerprint", "worker", "factor", "results"});
  AnswerBatch batch{.fingerprint = field.at("fingerprint").text(), .worker = field.at("worker").text(), .results = {}};
  const int factor = read_factor(field, factors);
  const JsonField results = field.at("results");
  for (int i = 0; i < results.array_size(); ++i) {
    batch.results.push_back(read_result(results.at(i), factor, factors));
    batch.results.back().worker = batch.worker;
  }
  return batch;
}

}  // namespace treesample
