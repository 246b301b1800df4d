// The single calls in a journal, for lists, tables and pictures. A run may be writing the journal at the same time.
// Also imports calls that were made elsewhere.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "treesample/io/json_model.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

struct JournalCall {
  // From 1, in the order in which calls, including failures, were recorded. 0 in an earlier layout, which did not store
  // it.
  std::int64_t number = 0;
  double finished = 0.0;     // when it was recorded, in seconds since 1970 (UTC); 0 if not known
  std::string worker;        // "1", "2", ... on this machine, else a worker's own name; "import"; empty if not known
  int factor = 0;            // index in JournalCalls::factors
  std::vector<int> states;   // of the factor's variables
  double log_value = 0.0;    // meaningless if the call failed
  double seconds = 0.0;      // time that it took
  std::string failure = {};  // not empty: the call failed permanently, with this message
  std::optional<std::vector<int>> witness = {};  // as in FactorValue
};

struct JournalCalls {
  struct Factor {
    std::string name;
    std::vector<std::string> variables;
  };
  std::string model;    // the file for which the journal was begun
  std::string created;  // UTC
  std::vector<Factor> factors;
  std::vector<JournalCall> calls;  // by number; calls without a number come first, values before failures
  std::vector<std::string>
      damaged;  // descriptions of rows that do not match their checksums; they are not among the calls
};

// Throws kIo as journal_summary does.
JournalCalls journal_calls(const std::filesystem::path& path);

// One row per call: number, time, worker, factor, seconds, log_value, failure, and a column for each variable, which is
// empty if the factor does not have the variable. States are given by name if `variables` (of a model) has names,
// otherwise as numbers from 0. If a variable has the name of one of the first columns, that column gets the prefix
// call_.
std::string format_calls(const JournalCalls& calls, std::span<const Variable> variables = {});

// "pump=failed, load=2".
std::string call_states(const JournalCalls& calls, const JournalCall& call, std::span<const Variable> variables = {});
// "2026-11-16 11:23:35.120" in UTC; empty for 0.
std::string call_time(double finished);

struct JournalImport {
  std::int64_t num_new = 0;     // evaluations that were not in the journal
  std::int64_t num_known = 0;   // evaluations that were in it, with the same value
  std::int64_t num_failed = 0;  // rows of failures, which are left out
};

// Adds the rows of a CSV file, as format_calls writes it, to the journal of a model; a journal is begun if there is
// none. Required are the column log_value, a column for each of the factor's variables, and, if programs compute
// several factors, the column `factor`; `seconds` is optional. Either all rows are added or none. Throws kParse as
// "file:line: ..." for a missing column, an unknown state, a value that is invalid or above the declared maximum, and
// one that contradicts another row or the journal; kArgument and kIo for the journal, as OracleSet does.
JournalImport import_calls(const std::filesystem::path& journal, const JsonModel& model,
                           const std::filesystem::path& csv);

}  // namespace treesample
