// What a journal of paid evaluations holds. OracleSet writes journals; this looks at one.
//
// A journal is an SQLite file in WAL mode with synchronous=FULL: when an evaluation has been recorded,
// it survives the death of the process and of the machine. Keys are the factor's name and the states
// of its scope. A fingerprint of everything that values depend on (variables, scopes, commands, the
// contents of files that the commands name) keeps values of different models apart; it guards
// against mistakes, not against attackers.
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
    double seconds = 0.0;  // paid for them
  };
  // A part of the model, such as "the command of program 'simulator'", and its fingerprint.
  struct Part {
    std::string name;
    std::string fingerprint;
  };
  std::string model;        // the file that it was begun for
  std::string created;      // UTC
  std::string fingerprint;  // of all parts
  std::vector<Part> parts;
  std::vector<Factor> factors;
};

// Throws kIo for a file that is missing, in use by a run, damaged or no journal. Changes nothing.
JournalSummary journal_summary(const std::filesystem::path& path);

}  // namespace treesample
