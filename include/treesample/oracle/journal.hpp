// The contents of a journal of paid evaluations. OracleSet writes journals; these functions examine one.
//
// A journal is an SQLite file in WAL mode with synchronous=FULL: an evaluation that has been recorded survives the
// death of the process and of the machine. Keys are the factor's name and the states of its scope. Each row has a
// checksum, and a row that does not match its checksum is never used. Failures are recorded too. A fingerprint of
// everything that values depend on (variables, scopes, commands, the contents of files that the commands name) keeps
// values of different models apart; it guards against mistakes, not against attackers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace treesample {

struct JournalSummary {
  struct Factor {
    std::string name;
    std::string scope;  // names of the variables
    std::int64_t num_evaluations = 0;
    double seconds = 0.0;           // time that the evaluations took
    std::int64_t num_failures = 0;  // evaluations that failed permanently
    std::string last_failure = {};  // states and message; empty if there are no failures
  };
  // A part of the model, such as "the command of program 'simulator'", and its fingerprint.
  struct Part {
    std::string name;
    std::string fingerprint;
  };
  std::string model;        // the file for which the journal was begun
  std::string created;      // UTC
  std::string fingerprint;  // of all parts
  std::vector<Part> parts = {};
  std::vector<Factor> factors = {};
  std::vector<std::string> damaged = {};  // descriptions of rows that do not match their checksums
};

// Throws kIo for a file that is missing, in use by a run, of an earlier layout, or damaged in more than single rows;
// kParse for a file that is no journal. Changes nothing.
JournalSummary journal_summary(const std::filesystem::path& path);

struct JournalRepair {
  bool had_no_checksums = false;  // true if it had the first layout, which had no checksums; its rows have them now
  std::vector<std::string> dropped;
  std::int64_t num_kept = 0;
};

// Removes damaged rows, so that a run evaluates them again. Converts a journal of the first layout after checking types
// and ranges; nothing else can be checked there. Throws kIo as journal_summary does; the file is then unchanged.
JournalRepair repair_journal(const std::filesystem::path& path);

}  // namespace treesample
