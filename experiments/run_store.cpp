#include "run_store.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cmath>
#include <memory>

#include "treesample/error.hpp"

namespace treesample::experiments {
namespace {

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

// Null if the statement is refused; the reason is in sqlite3_errmsg.
Statement prepare(sqlite3* database, const char* sql) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(database, sql, -1, &statement, nullptr);
  return Statement(statement);
}

void bind_text(const Statement& statement, int index, const std::string& text) {
  sqlite3_bind_text(statement.get(), index, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
}

std::string text_of(const Statement& statement, int column) {
  const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement.get(), column));
  return text == nullptr ? "" : std::string(text, sqlite3_column_bytes(statement.get(), column));
}

// Long values (a whole table of hyperparameters) are not worth printing.
std::string shown(const std::string& value) { return value.size() > 40 ? "..." : "'" + value + "'"; }

}  // namespace

RunStore::RunStore(const std::filesystem::path& file, const Fingerprint& fingerprint) : file_(file) {
  const int code = sqlite3_open(file.c_str(), &database_);
  try {
    if (code != SQLITE_OK) fail("cannot open");
    // Exclusive, because two processes that work on the same run would do everything twice. The lock ends with the
    // process, however it ends.
    execute("PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;");
    make_or_check(fingerprint);
  } catch (...) {
    sqlite3_close(database_);
    throw;
  }
}

RunStore::~RunStore() { sqlite3_close(database_); }

void RunStore::fail(const char* action) const {
  const int code = sqlite3_errcode(database_);
  const bool is_busy = code == SQLITE_BUSY;
  const int system_error = sqlite3_system_errno(database_);
  const bool is_full =
      code == SQLITE_FULL || (code == SQLITE_IOERR && (system_error == ENOSPC || system_error == EDQUOT));
  throw Error(is_full || code == SQLITE_READONLY ? ErrorCode::kWrite : ErrorCode::kIo,
              fmt::format("{}: {}: {}", file_.string(), action,
                          is_busy ? "another process is working on this run" : sqlite3_errmsg(database_)));
}

void RunStore::execute(const char* sql) const {
  if (sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail("not a usable run file");
}

// Checks both directions: an option that is missing this time is also a difference.
void RunStore::check_same(const std::map<std::string, std::string>& known,
                          const std::map<std::string, std::string>& asked) const {
  const auto text_in = [](const std::map<std::string, std::string>& options, const std::string& name) {
    const auto found = options.find(name);
    return found == options.end() ? "none" : shown(found->second);
  };
  std::map<std::string, std::string> all = asked;
  all.insert(known.begin(), known.end());
  for (const auto& [name, value] : all) {
    if (known.contains(name) && asked.contains(name) && known.at(name) == asked.at(name)) continue;
    throw_argument(file_.string(), fmt::format("holds a run of other options: {} ({}, now {}); choose another folder, "
                                               "or delete this file to start anew",
                                               name, text_in(known, name), text_in(asked, name)));
  }
}

void RunStore::make_or_check(const Fingerprint& fingerprint) {
  execute(
      "BEGIN IMMEDIATE;"
      "CREATE TABLE IF NOT EXISTS options(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
      "CREATE TABLE IF NOT EXISTS results(key TEXT, name TEXT, value REAL NOT NULL, PRIMARY KEY(key, name))"
      "  WITHOUT ROWID;");
  std::map<std::string, std::string> known;
  const Statement read = prepare(database_, "SELECT name, value FROM options");
  if (!read) fail("not a usable run file");
  while (sqlite3_step(read.get()) == SQLITE_ROW) known[text_of(read, 0)] = text_of(read, 1);
  if (known.empty()) {
    const Statement write = prepare(database_, "INSERT INTO options VALUES(?, ?)");
    if (!write) fail("not a usable run file");
    for (const auto& [name, value] : fingerprint) {
      sqlite3_reset(write.get());
      bind_text(write, 1, name);
      bind_text(write, 2, value);
      if (sqlite3_step(write.get()) != SQLITE_DONE) fail("cannot write");
    }
  } else if (!fingerprint.empty()) {
    check_same(known, {fingerprint.begin(), fingerprint.end()});
  }
  execute("COMMIT;");
}

void RunStore::add(const std::string& key, const Numbers& numbers) {
  execute("BEGIN IMMEDIATE;");
  try {
    const Statement write = prepare(database_, "INSERT INTO results VALUES(?, ?, ?)");
    if (!write) fail("cannot write");
    for (const auto& [name, value] : numbers) {
      check_argument(!std::isnan(value), "RunStore::add", fmt::format("{} of {} is not a number", name, key));
      sqlite3_reset(write.get());
      bind_text(write, 1, key);
      bind_text(write, 2, name);
      sqlite3_bind_double(write.get(), 3, value);
      if (sqlite3_step(write.get()) != SQLITE_DONE) fail("cannot write");
    }
    execute("COMMIT;");
  } catch (...) {
    sqlite3_exec(database_, "ROLLBACK;", nullptr, nullptr, nullptr);
    throw;
  }
}

std::map<std::string, Numbers> RunStore::finished() const {
  std::map<std::string, Numbers> all;
  const Statement read = prepare(database_, "SELECT key, name, value FROM results");
  if (!read) fail("cannot read");
  int code = 0;
  while ((code = sqlite3_step(read.get())) == SQLITE_ROW) {
    all[text_of(read, 0)][text_of(read, 1)] = sqlite3_column_double(read.get(), 2);
  }
  if (code != SQLITE_DONE) fail("cannot read");
  return all;
}

std::map<std::string, Numbers> read_run(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return {};
  return RunStore(file, {}).finished();
}

}  // namespace treesample::experiments
