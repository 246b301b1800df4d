// The messages between the coordinator of a run and its workers. They are JSON, sealed (remote/message_seal.hpp), and
// stored in the keys of a run.
//
//   model      RunHead: what is asked about, published by the coordinator
//   questions  a stream of QuestionBatch, read by the consumer group "workers"
//   answers    a stream of AnswerBatch
//   sent       "<session> <number>": the last batch of questions that was added, so that a command that is repeated
//              after a lost connection adds nothing twice; not sealed
//   safe       the last answer that is in the journal: workers keep later ones to send them again; not sealed
//   workers    a sorted set: when each worker was seen last; not sealed
//   lease      which coordinator has the run (remote/run_lease.hpp)
//
// An answer contains its factor, its states and a fingerprint of the model, so that any coordinator of the same model
// can use it, even a later one.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/evaluators.hpp"
#include "oracle/oracle_model.hpp"

namespace treesample {

inline constexpr const char* kWorkerGroup = "workers";

// The parts of a model on which values depend.
FingerprintParts value_parts(const FingerprintParts& parts);

struct RunHead {
  std::string version;      // of this library
  std::string session;      // of the coordinator; questions of another session are useless
  std::string fingerprint;  // of the parts on which values depend; answers contain it
  FingerprintParts parts;
  double lease_seconds = 0.0;  // seconds without a sign of life after which a question goes to another worker
  bool is_done = false;
};

// The factors that may be asked about, by name, with the numbers of states of their scopes.
class AskedFactors {
 public:
  explicit AskedFactors(const OracleModel& model);
  [[nodiscard]] int index(const std::string& name) const;  // -1 if there is none
  [[nodiscard]] const std::string& name(int factor) const { return names_[factor]; }
  [[nodiscard]] const std::vector<int>& num_states(int factor) const { return num_states_[factor]; }

 private:
  std::vector<std::string> names_;
  std::vector<std::vector<int>> num_states_;  // by factor and variable of its scope
  std::map<std::string, int> by_name_;        // factors that are not tables
};

struct QuestionBatch {
  std::string session;
  std::vector<Job> jobs;  // of one factor
};

struct AnswerBatch {
  std::string fingerprint;
  std::string worker;
  std::vector<JobResult> results;  // of one factor
};

std::string format_head(const RunHead& head);
std::string format_questions(const QuestionBatch& batch, const AskedFactors& factors);
std::string format_answers(const AnswerBatch& batch, const AskedFactors& factors);

// The readers throw Error (kParse) naming the field and what is allowed.
RunHead parse_head(std::string_view text);
QuestionBatch parse_questions(std::string_view text, const AskedFactors& factors);
AnswerBatch parse_answers(std::string_view text, const AskedFactors& factors);

}  // namespace treesample
