// The calls of a journal one by one, also of one that a run is writing at this moment: for lists, tables and pictures.
// And calls that were made elsewhere, brought into a journal.
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
  // In the order in which calls were recorded, failures included, from 1; 0: of an earlier version, which kept none.
  std::int64_t number = 0;
  double finished = 0.0;     // when it was recorded, seconds since 1970 (UTC); 0: not known
  std::string worker;        // "1", "2", ... on this machine, else a worker's own name; "import"; empty: not known
  int factor = 0;            // index in JournalCalls::factors
  std::vector<int> states;   // of the factor's variables
  double log_value = 0.0;    // worth nothing where it failed
  double seconds = 0.0;      // what it took
  std::string failure = {};  // not empty: it failed for good, and this is what was said
  std::optional<std::vector<int>> witness = {};  // as in FactorValue
};

struct JournalCalls {
  struct Factor {
    std::string name;
    std::vector<std::string> variables;
  };
  std::string model;    // the file that it was begun for
  std::string created;  // UTC
  std::vector<Factor> factors;
  std::vector<JournalCall> calls;  // by number; those without one first, values before failures
  std::vector<std::string>
      damaged;  // rows that do not fit their checksums, each in words; they are not among the calls
};

// Throws kIo as journal_summary.
JournalCalls journal_calls(const std::filesystem::path& path);

// One row per call: number, time, worker, factor, seconds, log_value, failure, and a column for each variable, empty
// where the factor does not have it. States by name where `variables` (of a model) has them, else as numbers from 0. A
// column whose name is that of a variable has call_ before it.
std::string format_calls(const JournalCalls& calls, std::span<const Variable> variables = {});

// "pump=failed, load=2".
std::string call_states(const JournalCalls& calls, const JournalCall& call, std::span<const Variable> variables = {});
// "2026-11-16 11:23:35.120" in UTC; empty for 0.
std::string call_time(double finished);

struct JournalImport {
  std::int64_t num_new = 0;     // evaluations that the journal did not have
  std::int64_t num_known = 0;   // that it had, with the same value
  std::int64_t num_failed = 0;  // rows of failures: left out
};

// Brings values into the journal of a model, which is begun where there is none: rows of a CSV file as format_calls
// writes it. Needed are log_value, the variables of the factor, and the factor where the model has several that are
// computed by programs; seconds may be there. All or nothing: throws kParse as "file:line: ..." for a missing column, a
// state that there is not, a value that is none or above the declared maximum, and one that contradicts another row or
// the journal; kArgument and kIo as OracleSet for the journal.
JournalImport import_calls(const std::filesystem::path& journal, const JsonModel& model,
                           const std::filesystem::path& csv);

}  // namespace treesample
