#include "oracle/journal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "treesample/error.hpp"

namespace treesample {
namespace {

// "tree" and the version of the layout below, in the places that SQLite has for this.
constexpr std::int64_t kApplicationId = 0x74726565;
constexpr std::int64_t kLayoutVersion = 1;

constexpr const char* kLayout = R"(
  CREATE TABLE about (model TEXT NOT NULL, created TEXT NOT NULL);
  CREATE TABLE part (name TEXT PRIMARY KEY, fingerprint TEXT NOT NULL);
  CREATE TABLE factor (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, scope TEXT NOT NULL);
  CREATE TABLE evaluation (factor INTEGER NOT NULL REFERENCES factor, states TEXT NOT NULL, log_value REAL NOT NULL,
                           seconds REAL NOT NULL, PRIMARY KEY (factor, states)) WITHOUT ROWID;
  PRAGMA application_id = 1953654117;
  PRAGMA user_version = 1;
)";

// All or nothing: rolled back unless committed.
class Transaction {
 public:
  explicit Transaction(SqliteFile& file) : file_(file) { file_.execute("BEGIN IMMEDIATE"); }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction() {
    if (is_committed_) return;
    try {
      file_.execute("ROLLBACK");
    } catch (const Error&) {  // SQLite has rolled back by itself
    }
  }
  void commit() {
    file_.execute("COMMIT");
    is_committed_ = true;
  }

 private:
  SqliteFile& file_;
  bool is_committed_ = false;
};

// True for a file without content: new, or of a run that was killed while it began the journal.
bool is_empty(SqliteFile& file) { return file.integer("SELECT count(*) FROM sqlite_master") == 0; }

void check_is_journal(SqliteFile& file) {
  if (file.integer("PRAGMA application_id") != kApplicationId) file.fail("not a journal of treesample");
  const std::int64_t version = file.integer("PRAGMA user_version");
  if (version != kLayoutVersion) {
    file.fail(fmt::format("a journal of layout {}, this version of treesample reads {}", version, kLayoutVersion));
  }
  const std::string damage = file.text("PRAGMA quick_check(1)");
  if (damage != "ok") file.fail(fmt::format("the journal is damaged ({}); it was left as it is", damage));
}

// FULL: a commit is on the disk, not only in the system's memory, when it returns.
void use_durable_mode(SqliteFile& file) {
  if (file.text("PRAGMA journal_mode = WAL") != "wal") file.fail("the file system does not allow a journal here");
  file.execute("PRAGMA synchronous = FULL");
}

FingerprintParts read_parts(SqliteFile& file) {
  FingerprintParts parts;
  SqliteStatement rows = file.prepare("SELECT name, fingerprint FROM part ORDER BY rowid");
  while (rows.step()) parts.push_back({rows.text(0), rows.text(1)});
  return parts;
}

void write_parts(SqliteFile& file, const FingerprintParts& parts) {
  SqliteStatement insert = file.prepare("INSERT OR REPLACE INTO part VALUES (?, ?)");
  for (const auto& [name, fingerprint] : parts) insert.bind(1, name).bind(2, fingerprint).step();
}

// Names of the parts that only one side has or that differ.
std::vector<std::string> changed_parts(const FingerprintParts& recorded, const FingerprintParts& current) {
  std::map<std::string, std::string> rest;
  for (const auto& [name, fingerprint] : recorded) rest[name] = fingerprint;
  std::vector<std::string> changed;
  for (const auto& [name, fingerprint] : current) {
    const auto found = rest.find(name);
    if (found == rest.end() || found->second != fingerprint) changed.push_back(name);
    if (found != rest.end()) rest.erase(found);
  }
  for (const auto& [name, fingerprint] : rest) changed.push_back(name);
  return changed;
}

}  // namespace

std::string states_key(std::span<const int> states) { return fmt::format("{}", fmt::join(states, " ")); }

Journal::Journal(const std::filesystem::path& path, const JournalHeader& header)
    : name_(path.string()), file_(path, /*create=*/true) {
  if (is_empty(file_)) {
    begin(header);
  } else {
    check_is_journal(file_);
    use_durable_mode(file_);
    compare(header);
  }
  find_ = std::make_unique<SqliteStatement>(file_.prepare(
      "SELECT log_value, seconds FROM evaluation WHERE factor = (SELECT id FROM factor WHERE name = ?1) AND states = "
      "?2"));
  insert_ = std::make_unique<SqliteStatement>(
      file_.prepare("INSERT INTO evaluation VALUES ((SELECT id FROM factor WHERE name = ?1), ?2, ?3, ?4) "
                    "ON CONFLICT (factor, states) DO NOTHING"));
}

void Journal::begin(const JournalHeader& header) {
  use_durable_mode(file_);
  Transaction transaction(file_);
  file_.execute(kLayout);
  file_.prepare("INSERT INTO about VALUES (?, datetime('now'))").bind(1, header.model).step();
  write_parts(file_, header.parts);
  SqliteStatement insert = file_.prepare("INSERT INTO factor (name, scope) VALUES (?, ?)");
  for (const auto& [name, scope] : header.factors) insert.bind(1, name).bind(2, scope).step();
  transaction.commit();
}

void Journal::compare(const JournalHeader& header) {
  const std::vector<std::string> changed = changed_parts(read_parts(file_), header.parts);
  if (changed.empty()) return;
  const bool only_tables = changed.size() == 1 && changed[0] == kTablesPart;
  if (!only_tables || !header.allow_changed_tables) {
    throw Error(ErrorCode::kArgument,
                fmt::format("{}: the journal was recorded for another version of the model: changed {}: {}; undo the "
                            "change or begin a new journal{}",
                            name_, changed.size() == 1 ? "is" : "are", fmt::join(changed, ", "),
                            only_tables ? ", or allow changed tables: recorded values do not depend on them" : ""));
  }
  Transaction transaction(file_);
  write_parts(file_, header.parts);
  transaction.commit();
}

std::optional<Journal::Value> Journal::find(const std::string& factor, const std::string& states) {
  find_->bind(1, factor).bind(2, states);
  if (!find_->step()) return {};
  const Value value{find_->real(0), find_->real(1)};
  find_->reset();
  return value;
}

void Journal::append(std::span<const JournalEntry> entries) {
  Transaction transaction(file_);
  for (const JournalEntry& entry : entries) {
    insert_->bind(1, entry.factor).bind(2, entry.states).bind(3, entry.log_value).bind(4, entry.seconds).step();
  }
  transaction.commit();
}

Journal::Totals Journal::totals(const std::string& factor) {
  SqliteStatement rows = file_.prepare(
      "SELECT count(*), total(seconds) FROM evaluation WHERE factor = (SELECT id FROM factor WHERE name = ?)");
  rows.bind(1, factor).step();
  return {rows.integer(0), rows.real(1)};
}

JournalSummary journal_summary(const std::filesystem::path& path) {
  SqliteFile file(path, /*create=*/false);
  check_is_journal(file);
  JournalSummary summary;
  summary.model = file.text("SELECT model FROM about");
  summary.created = file.text("SELECT created FROM about");
  summary.parts = read_parts(file);
  summary.fingerprint = overall_fingerprint(summary.parts);
  SqliteStatement rows = file.prepare(
      "SELECT name, scope, count(states), total(seconds) FROM factor LEFT JOIN evaluation ON factor = id "
      "GROUP BY id ORDER BY id");
  while (rows.step()) summary.factors.push_back({rows.text(0), rows.text(1), rows.integer(2), rows.real(3)});
  return summary;
}

}  // namespace treesample
