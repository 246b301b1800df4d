// The layout of a journal in its file, and the checks when it is read.
//
// Every row has a checksum over everything that its value depends on (the variables, programs and files for which the
// journal was recorded), and over its number, factor, states, value and seconds. The head, which describes what the
// journal was recorded for, has one too. A change of one byte always changes the checksum. Rows are damaged if they do
// not match their checksum, or have values of another type or beyond model/log_value.hpp. They are reported and never
// used.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "oracle/fingerprint.hpp"
#include "oracle/sqlite_file.hpp"

namespace treesample {

// An evaluation or, if `failure` is not empty, the message of its permanent failure.
struct JournalRow {
  std::int64_t id = 0;  // evaluations and failures are numbered separately, from 1
  std::string factor;
  std::string states;  // states_key
  double log_value = 0.0;
  double seconds = 0.0;
  std::string failure = {};
  std::int64_t number = 0;   // of the call, including failures, from 1; 0 if not known
  double finished = 0.0;     // seconds since 1970; 0 if not known
  std::string worker = {};   // empty if not known
  std::string witness = {};  // witness_text
};

struct JournalHead {
  std::string model, created;
  FingerprintParts parts = {};
  std::vector<std::pair<std::string, std::string>> factors = {};  // name, scope as text; ids count from 1
};

struct DamagedRow {
  std::string table;
  std::int64_t id = 0;
  std::string text;  // "row 3 of its evaluations (factor 'f' at states 0 1): its checksum does not fit"
};

struct JournalContents {
  JournalHead head;
  std::vector<JournalRow> rows;
  std::vector<DamagedRow> damaged;
};

inline constexpr std::int64_t kLayoutVersion = 3;
inline constexpr std::int64_t kLayoutWithoutCalls = 2;  // has no numbers, times, workers and witnesses
inline constexpr std::int64_t kLayoutWithoutChecksums = 1;

// True for a file without content: a new one, or one from a run that was killed while it began the journal.
bool is_empty(SqliteFile& file);
// Throws kIo unless it is a journal whose pages are whole; returns its layout.
std::int64_t check_is_journal(SqliteFile& file);

// Reads a whole journal of kLayoutVersion or kLayoutWithoutCalls. Throws kIo if its tables or its head are damaged.
JournalContents read_journal(SqliteFile& file, std::int64_t layout = kLayoutVersion);
// The same for a journal of kLayoutWithoutChecksums, whose rows can only be checked for type and range.
JournalContents read_journal_without_checksums(SqliteFile& file);

// Writes the tables of a new journal and its head, or a changed head. Both must be called within a transaction.
void write_layout(SqliteFile& file);
// Replaces all tables of an earlier layout and copies their rows.
void rewrite_journal(SqliteFile& file, const JournalContents& contents);
void write_head(SqliteFile& file, const JournalHead& head);

// Everything on which a row's values depend: all parts except the tables.
std::string owner_of(const FingerprintParts& parts);

// Inserts and removes rows of one journal.
class JournalWriter {
 public:
  JournalWriter(SqliteFile& file, const JournalHead& head);
  void insert(const JournalRow& row);
  void remove_failure(std::int64_t id);

 private:
  [[nodiscard]] std::int64_t factor_id(const std::string& factor) const;

  std::string owner_;
  std::vector<std::pair<std::string, std::string>> factors_;
  SqliteStatement insert_evaluation_, insert_failure_, remove_failure_;
};

// All changes are made together, or rolled back if they are not committed.
class Transaction {
 public:
  explicit Transaction(SqliteFile& file);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  void commit();

 private:
  SqliteFile& file_;
  bool is_committed_ = false;
};

}  // namespace treesample
