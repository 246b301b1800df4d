#include "oracle/journal_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "treesample/error.hpp"
#include "treesample/model/log_value.hpp"

namespace treesample {
namespace {

// "tree", in the field that SQLite provides for this.
constexpr std::int64_t kApplicationId = 0x74726565;

// The tables have no constraints for which SQLite would keep an index: a journal is read as a whole, and only one run
// writes it.
constexpr const char* kTables[] = {
    "CREATE TABLE about (model TEXT, created TEXT, checksum INTEGER)",
    "CREATE TABLE part (name TEXT, fingerprint TEXT)",
    "CREATE TABLE factor (id INTEGER PRIMARY KEY, name TEXT, scope TEXT)",
    "CREATE TABLE evaluation (id INTEGER PRIMARY KEY, factor INTEGER, states TEXT, log_value REAL, seconds REAL, "
    "checksum INTEGER, number INTEGER, finished REAL, worker TEXT, witness TEXT)",
    "CREATE TABLE failure (id INTEGER PRIMARY KEY, factor INTEGER, states TEXT, message TEXT, seconds REAL, "
    "checksum INTEGER, number INTEGER, finished REAL, worker TEXT, witness TEXT)"};
constexpr const char* kTablesWithoutCalls[] = {
    kTables[0], kTables[1], kTables[2],
    "CREATE TABLE evaluation (id INTEGER PRIMARY KEY, factor INTEGER, states TEXT, log_value REAL, seconds REAL, "
    "checksum INTEGER)",
    "CREATE TABLE failure (id INTEGER PRIMARY KEY, factor INTEGER, states TEXT, message TEXT, seconds REAL, "
    "checksum INTEGER)"};

std::int64_t checksum(const JournalHead& head) {
  Fingerprint sum;
  sum.add("head").add(head.model).add(head.created);
  for (const auto& [name, fingerprint] : head.parts) sum.add("part").add(name).add(fingerprint);
  for (const auto& [name, scope] : head.factors) sum.add("factor").add(name).add(scope);
  return sum.number();
}

std::int64_t checksum(const JournalRow& row, const std::string& owner, std::int64_t layout = kLayoutVersion) {
  Fingerprint sum;
  sum.add(row.failure.empty() ? "evaluation" : "failure").add(owner).add(row.id).add(row.factor).add(row.states);
  sum.add(row.log_value).add(row.seconds).add(row.failure);
  if (layout >= kLayoutVersion) sum.add(row.number).add(row.finished).add(row.worker).add(row.witness);
  return sum.number();
}

JournalHead read_head(SqliteFile& file) {
  JournalHead head{.model = file.text("SELECT model FROM about"), .created = file.text("SELECT created FROM about")};
  SqliteStatement parts = file.prepare("SELECT name, fingerprint FROM part ORDER BY rowid");
  while (parts.step()) head.parts.push_back({parts.text(0), parts.text(1)});
  SqliteStatement factors = file.prepare("SELECT id, name, scope FROM factor ORDER BY id");
  while (factors.step()) {
    head.factors.emplace_back(factors.text(1), factors.text(2));
    if (factors.integer(0) != static_cast<std::int64_t>(head.factors.size())) {
      file.fail("the journal is damaged (a factor is missing); it was left as it is");
    }
  }
  return head;
}

// Checks that the tables are those that this program creates: a trigger or a changed column could lose or change rows.
void check_tables(SqliteFile& file, std::int64_t layout) {
  const auto& tables = layout == kLayoutVersion ? kTables : kTablesWithoutCalls;
  const std::set<std::string> expected(std::begin(tables), std::end(tables));
  SqliteStatement rows = file.prepare("SELECT sql FROM sqlite_master");
  std::set<std::string> found;
  while (rows.step()) found.insert(rows.text(0));
  if (found != expected) {
    file.fail("the journal is damaged (its tables are not those that treesample makes); it was left as it is");
  }
}

bool is_states_key(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789 ") == std::string::npos;
}

// Describes what is wrong with a row apart from its checksum; empty if nothing is.
std::string problem_of(const JournalRow& row, bool has_types, int num_factors, std::int64_t factor) {
  if (!has_types) return "its values are not of their types";
  if (factor < 1 || factor > num_factors)
    return fmt::format("it is of factor {}, the journal has {}", factor, num_factors);
  if (!is_states_key(row.states)) return "its states are not numbers";
  if (!(row.seconds >= 0.0 && row.seconds < HUGE_VAL)) return fmt::format("it took {} seconds", row.seconds);
  if (!(row.finished >= 0.0 && row.finished < HUGE_VAL)) return fmt::format("its time is {}", row.finished);
  const std::string problem = log_value_problem(row.log_value);
  return problem.empty() ? "" : "its log-value is " + problem;
}

struct Table {
  const char* name;
  const char* noun;
  std::string select;  // id, factor, states, seconds, checksum, value or message; number, finished, worker, witness
  bool has_failures = false;
  std::int64_t layout = kLayoutVersion;
};

void read_rows(SqliteFile& file, const Table& table, JournalContents& contents) {
  const std::string owner = owner_of(contents.head.parts);
  const auto num_factors = static_cast<int>(contents.head.factors.size());
  SqliteStatement rows = file.prepare(table.select.c_str());
  const bool has_calls = table.layout == kLayoutVersion;
  while (rows.step()) {
    // Types are checked first, because reading a value as another type changes the type of its column.
    const bool has_types =
        rows.is_integer(1) && rows.is_text(2) && rows.is_real(3) && rows.is_integer(4) &&
        (table.has_failures ? rows.is_text(5) : rows.is_real(5)) &&
        (!has_calls || (rows.is_integer(6) && rows.is_real(7) && rows.is_text(8) && rows.is_text(9)));
    JournalRow row{.id = rows.integer(0), .factor = {}, .states = rows.text(2), .seconds = rows.real(3)};
    if (has_calls) {
      row.number = rows.integer(6);
      row.finished = rows.real(7);
      row.worker = rows.text(8);
      row.witness = rows.text(9);
    }
    const std::int64_t factor = rows.integer(1);
    const bool is_known = factor >= 1 && factor <= num_factors;
    if (is_known) row.factor = contents.head.factors[static_cast<std::size_t>(factor - 1)].first;
    if (table.has_failures) {
      row.failure = rows.text(5);
    } else {
      row.log_value = rows.real(5);
    }
    std::string problem = problem_of(row, has_types, num_factors, factor);
    if (problem.empty() && table.layout != kLayoutWithoutChecksums &&
        rows.integer(4) != checksum(row, owner, table.layout)) {
      problem = "its checksum does not fit";
    }
    if (problem.empty()) {
      contents.rows.push_back(std::move(row));
    } else {
      const std::string of = is_known ? fmt::format("factor '{}'", row.factor) : "an unknown factor";
      contents.damaged.push_back(
          {table.name, row.id,
           fmt::format("row {} of its {} ({} at states {}): {}", row.id, table.noun, of, row.states, problem)});
    }
  }
}

}  // namespace

Transaction::Transaction(SqliteFile& file) : file_(file) { file_.execute("BEGIN IMMEDIATE"); }

Transaction::~Transaction() {
  if (is_committed_) return;
  try {
    file_.execute("ROLLBACK");
  } catch (const Error&) {  // SQLite has rolled back by itself
  }
}

void Transaction::commit() {
  file_.execute("COMMIT");
  is_committed_ = true;
}

bool is_empty(SqliteFile& file) { return file.integer("SELECT count(*) FROM sqlite_master") == 0; }

std::int64_t check_is_journal(SqliteFile& file) {
  if (file.integer("PRAGMA application_id") != kApplicationId)
    file.fail("not a journal of treesample", ErrorCode::kParse);
  const std::int64_t version = file.integer("PRAGMA user_version");
  if (version != kLayoutVersion && version != kLayoutWithoutCalls && version != kLayoutWithoutChecksums) {
    file.fail(fmt::format("a journal of layout {}, this version of treesample reads {}", version, kLayoutVersion));
  }
  std::string damage = file.text("PRAGMA quick_check(1)");
  std::replace(damage.begin(), damage.end(), '\n', ' ');
  if (damage != "ok") file.fail(fmt::format("the journal is damaged ({}); it was left as it is", damage));
  return version;
}

JournalContents read_journal(SqliteFile& file, std::int64_t layout) {
  check_tables(file, layout);
  JournalContents contents{.head = read_head(file), .rows = {}, .damaged = {}};
  if (file.integer("SELECT checksum FROM about") != checksum(contents.head)) {
    file.fail(
        "the journal is damaged (its head, which says what it was recorded for, does not fit its checksum); it "
        "was left as it is");
  }
  const auto select = [&](const char* value, const char* table) {
    return fmt::format("SELECT id, factor, states, seconds, checksum, {}{} FROM {} ORDER BY id", value,
                       layout == kLayoutVersion ? ", number, finished, worker, witness" : "", table);
  };
  read_rows(file, {"evaluation", "evaluations", select("log_value", "evaluation"), /*has_failures=*/false, layout},
            contents);
  read_rows(file, {"failure", "failures", select("message", "failure"), /*has_failures=*/true, layout}, contents);
  return contents;
}

JournalContents read_journal_without_checksums(SqliteFile& file) {
  JournalContents contents{.head = read_head(file), .rows = {}, .damaged = {}};
  read_rows(
      file,
      {"evaluation", "evaluations",
       "SELECT row_number() OVER (ORDER BY factor, states), factor, states, seconds, 0, log_value FROM evaluation",
       /*has_failures=*/false, kLayoutWithoutChecksums},
      contents);
  return contents;
}

void write_layout(SqliteFile& file) {
  for (const char* const table : kTables) file.execute(table);
  file.execute(fmt::format("PRAGMA application_id = {}", kApplicationId).c_str());
  file.execute(fmt::format("PRAGMA user_version = {}", kLayoutVersion).c_str());
}

void rewrite_journal(SqliteFile& file, const JournalContents& contents) {
  SqliteStatement names = file.prepare("SELECT name FROM sqlite_master WHERE type = 'table'");
  std::vector<std::string> tables;
  while (names.step()) tables.push_back(names.text(0));
  for (const std::string& table : tables) file.execute(fmt::format("DROP TABLE {}", table).c_str());
  write_layout(file);
  write_head(file, contents.head);
  JournalWriter writer(file, contents.head);
  for (const JournalRow& row : contents.rows) writer.insert(row);
}

void write_head(SqliteFile& file, const JournalHead& head) {
  for (const char* const table : {"about", "part", "factor"})
    file.execute(fmt::format("DELETE FROM {}", table).c_str());
  file.prepare("INSERT INTO about VALUES (?, ?, ?)")
      .bind(1, head.model)
      .bind(2, head.created)
      .bind(3, checksum(head))
      .step();
  SqliteStatement part = file.prepare("INSERT INTO part VALUES (?, ?)");
  for (const auto& [name, fingerprint] : head.parts) part.bind(1, name).bind(2, fingerprint).step();
  SqliteStatement factor = file.prepare("INSERT INTO factor VALUES (?, ?, ?)");
  std::int64_t id = 0;
  for (const auto& [name, scope] : head.factors) factor.bind(1, ++id).bind(2, name).bind(3, scope).step();
}

std::string owner_of(const FingerprintParts& parts) {
  FingerprintParts owner;
  for (const auto& part : parts) {
    if (part.name != kTablesPart) owner.push_back(part);
  }
  return overall_fingerprint(owner);
}

JournalWriter::JournalWriter(SqliteFile& file, const JournalHead& head)
    : owner_(owner_of(head.parts)),
      factors_(head.factors),
      insert_evaluation_(file.prepare("INSERT INTO evaluation VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")),
      insert_failure_(file.prepare("INSERT INTO failure VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")),
      remove_failure_(file.prepare("DELETE FROM failure WHERE id = ?")) {}

std::int64_t JournalWriter::factor_id(const std::string& factor) const {
  for (std::size_t i = 0; i < factors_.size(); ++i) {
    if (factors_[i].first == factor) return static_cast<std::int64_t>(i + 1);
  }
  throw Error(ErrorCode::kInternal, fmt::format("the journal has no factor '{}'", factor));
}

void JournalWriter::insert(const JournalRow& row) {
  SqliteStatement& statement = row.failure.empty() ? insert_evaluation_ : insert_failure_;
  statement.bind(1, row.id).bind(2, factor_id(row.factor)).bind(3, row.states);
  if (row.failure.empty()) {
    statement.bind(4, row.log_value);
  } else {
    statement.bind(4, row.failure);
  }
  statement.bind(5, row.seconds).bind(6, checksum(row, owner_));
  statement.bind(7, row.number).bind(8, row.finished).bind(9, row.worker).bind(10, row.witness).step();
}

void JournalWriter::remove_failure(std::int64_t id) { remove_failure_.bind(1, id).step(); }

}  // namespace treesample
