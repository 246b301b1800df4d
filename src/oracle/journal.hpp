// The journal of one model: evaluations that have been paid for.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oracle/fingerprint.hpp"
#include "oracle/sqlite_file.hpp"

namespace treesample {

// States as the key of an evaluation: "0 2 1".
std::string states_key(std::span<const int> states);

struct JournalEntry {
  std::string factor;
  std::string states;  // states_key
  double log_value = 0.0;
  double seconds = 0.0;
};

// What a journal says about its model. `factors` are those whose values it records.
struct JournalHeader {
  std::string model;
  FingerprintParts parts;
  std::vector<std::pair<std::string, std::string>> factors = {};  // name, scope as text
  bool allow_changed_tables = false;
};

class Journal {
 public:
  // Opens the journal or begins a new one. Throws kArgument when it belongs to another model, naming
  // what changed, and kIo when it is in use, damaged or no journal; the file is then unchanged.
  Journal(const std::filesystem::path& path, const JournalHeader& header);

  struct Value {
    double log_value;
    double seconds;
  };
  std::optional<Value> find(const std::string& factor, const std::string& states);
  // Records all or nothing; durable on return. A key that is there already is kept as it is.
  void append(std::span<const JournalEntry> entries);
  // Recorded evaluations of a factor.
  struct Totals {
    std::int64_t num_evaluations = 0;
    double seconds = 0.0;
  };
  Totals totals(const std::string& factor);

 private:
  void begin(const JournalHeader& header);
  void compare(const JournalHeader& header);

  std::string name_;
  SqliteFile file_;
  std::unique_ptr<SqliteStatement> find_, insert_;
};

}  // namespace treesample
