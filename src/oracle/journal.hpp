// The journal of one model: evaluations that have been paid for, and those that failed.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "oracle/journal_layout.hpp"

namespace treesample {

// States as the key of an evaluation: "0 2 1".
std::string states_key(std::span<const int> states);

struct JournalEntry {
  std::string factor;
  std::string states;  // states_key
  double log_value = 0.0;
  double seconds = 0.0;
  std::string failure = {};  // not empty: there is no value, for this reason
  std::optional<std::vector<int>> witness = {};
  std::string worker = {};
  double finished = 0.0;  // seconds since 1970
};

// Positions in a scope as a journal stores them: "w 0 2", and "" for no witness.
std::string witness_text(const std::optional<std::vector<int>>& witness);
std::optional<std::vector<int>> parse_witness(const std::string& text);

// What a journal stores about its model. `factors` are those whose values it records.
struct JournalHeader {
  std::string model;
  FingerprintParts parts;
  std::vector<std::pair<std::string, std::string>> factors = {};  // name, and scope as text
  bool allow_changed_tables = false;
};

// The rows of a journal that a run may be writing. Throws as journal_summary does.
JournalContents read_for_looking(const std::filesystem::path& path);

// Columns of lists of calls (oracle/journal_calls.hpp), and their names for the case that variables have the same
// names.
inline constexpr const char* kCallColumns[] = {"number", "time", "worker", "factor", "seconds", "log_value", "failure"};
std::string call_column(const std::string& column, const std::vector<std::string>& variables);

class Journal {
 public:
  // Opens the journal and checks every row, or begins a new one. Throws kArgument if it belongs to another model,
  // naming what changed; kParse if the file is no journal; and kIo if it is in use, has a damaged row or is damaged
  // otherwise. The file is then unchanged.
  Journal(const std::filesystem::path& path, const JournalHeader& header);

  struct Value {
    double log_value = 0.0;
    double seconds = 0.0;
    std::string failure = {};  // not empty: the evaluation failed, and has never succeeded since
    std::optional<std::vector<int>> witness = {};
  };
  [[nodiscard]] std::optional<Value> find(const std::string& factor, const std::string& states) const;
  // Records all entries or none; they are durable on return. An existing value is kept. A failure is replaced by a
  // value, and by a newer failure.
  void append(std::span<const JournalEntry> entries);
  // Totals of the recorded evaluations of a factor, without failures.
  struct Totals {
    std::int64_t num_evaluations = 0;
    double seconds = 0.0;
  };
  [[nodiscard]] Totals totals(const std::string& factor) const;

 private:
  struct Stored {
    Value value;
    std::int64_t id = 0;
  };
  void begin(const JournalHeader& header);
  void compare(const JournalHeader& header, JournalHead& recorded, std::int64_t layout);
  void keep(const JournalRow& row);
  [[nodiscard]] const Stored* stored(const std::string& factor, const std::string& states) const;

  std::string name_;
  SqliteFile file_;
  std::unordered_map<std::string, std::unordered_map<std::string, Stored>> values_;  // by factor and states
  std::int64_t last_evaluation_ = 0, last_failure_ = 0, last_number_ = 0;            // ids, and the number of a call
  std::optional<JournalWriter> writer_;
};

}  // namespace treesample
