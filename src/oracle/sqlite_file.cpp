#include "oracle/sqlite_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include "treesample/error.hpp"

namespace treesample {

namespace {

std::filesystem::path folder_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

}  // namespace

SqliteFile::Lock::~Lock() {
  if (descriptor >= 0) ::close(descriptor);
}

SqliteFile::SqliteFile(const std::filesystem::path& path, Access access) : name_(path.string()) {
  constexpr int kBusyMilliseconds = 1000;  // because another run may just be ending
  sqlite3* handle = nullptr;
  const int result = sqlite3_open_v2(
      path.c_str(), &handle, SQLITE_OPEN_READWRITE | (access == Access::kCreate ? SQLITE_OPEN_CREATE : 0), nullptr);
  handle_.reset(handle);
  // SQLite then tries to open the file for reading only, and reports that it does not exist.
  const bool is_unmade = result == SQLITE_CANTOPEN && access == Access::kCreate && !std::filesystem::exists(path);
  if (is_unmade && ::access(folder_of(path).c_str(), W_OK) != 0 && errno != ENOENT) {
    fail(fmt::format("cannot be written: {}", std::generic_category().message(errno)), ErrorCode::kWrite);
  }
  check(result);
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, kBusyMilliseconds);
  if (access == Access::kRead) return;
  lock_ = std::make_unique<Lock>(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (lock_->descriptor < 0) return;  // SQLite will say why the file cannot be written
  const auto last = std::chrono::steady_clock::now() + std::chrono::milliseconds(kBusyMilliseconds);
  while (::flock(lock_->descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return;  // the file system has no such locks
    if (std::chrono::steady_clock::now() > last) fail("the journal is in use by another run");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void SqliteFile::Close::operator()(sqlite3* handle) const { sqlite3_close(handle); }

void SqliteFile::fail(std::string_view message, ErrorCode code) const {
  throw Error(code, fmt::format("{}: {}", name_, message));
}

void SqliteFile::check(int result) const {
  sqlite3* const handle = handle_.get();
  const std::string reason = handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(result);
  const int system_error = handle != nullptr ? sqlite3_system_errno(handle) : 0;
  const std::string cause = system_error == 0 ? "" : ": " + std::generic_category().message(system_error);
  // The disk has no room for the memory that is mapped to the file (-shm). SQLite calls that an error of the disk.
  const bool is_full = (result & 0xff) == SQLITE_IOERR && (system_error == ENOSPC || system_error == EDQUOT);
  switch (is_full ? SQLITE_FULL : result & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
      return;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      fail("the journal is in use by another run");
    case SQLITE_NOTADB:
      fail("not a journal of treesample", ErrorCode::kParse);
    case SQLITE_CORRUPT:
      fail(fmt::format("the journal is damaged ({}); it was left as it is", reason));
    case SQLITE_FULL:
      fail("cannot be written: the disk is full; what was recorded before is safe", ErrorCode::kWrite);
    case SQLITE_IOERR:
      fail(fmt::format("cannot be read or written ({}{}); what was recorded before is safe", reason, cause),
           result == SQLITE_IOERR_READ || result == SQLITE_IOERR_SHORT_READ ? ErrorCode::kIo : ErrorCode::kWrite);
    case SQLITE_READONLY:
      fail("cannot be written: it is read-only", ErrorCode::kWrite);
    case SQLITE_CANTOPEN:
      fail(fmt::format("cannot be opened{}", cause));
    default:
      fail(fmt::format("the journal cannot be used ({}, SQLite code {})", reason, result));
  }
}

void SqliteFile::execute(const char* sql) { check(sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr)); }

SqliteStatement SqliteFile::prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  check(sqlite3_prepare_v3(handle_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr));
  return {*this, statement};
}

std::int64_t SqliteFile::integer(const char* sql) {
  SqliteStatement statement = prepare(sql);
  return statement.step() ? statement.integer(0) : 0;
}

std::string SqliteFile::text(const char* sql) {
  SqliteStatement statement = prepare(sql);
  return statement.step() ? statement.text(0) : "";
}

void SqliteStatement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

SqliteStatement& SqliteStatement::bind(int parameter, std::int64_t value) {
  file_->check(sqlite3_bind_int64(statement_.get(), parameter, value));
  return *this;
}

SqliteStatement& SqliteStatement::bind(int parameter, double value) {
  file_->check(sqlite3_bind_double(statement_.get(), parameter, value));
  return *this;
}

SqliteStatement& SqliteStatement::bind(int parameter, std::string_view value) {
  file_->check(
      sqlite3_bind_text(statement_.get(), parameter, value.data(), static_cast<int>(value.size()), SQLITE_TRANSIENT));
  return *this;
}

bool SqliteStatement::step() {
  const int result = sqlite3_step(statement_.get());
  if (result == SQLITE_ROW) return true;
  if (result != SQLITE_DONE) {
    try {
      file_->check(result);
    } catch (...) {
      reset();  // a failed statement would keep its transaction open
      throw;
    }
  }
  reset();
  return false;
}

void SqliteStatement::reset() { sqlite3_reset(statement_.get()); }

std::int64_t SqliteStatement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }

double SqliteStatement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }

std::string SqliteStatement::text(int column) const {
  const unsigned char* const text = sqlite3_column_text(statement_.get(), column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  return text == nullptr ? "" : std::string(reinterpret_cast<const char*>(text), size);
}

bool SqliteStatement::is_integer(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_INTEGER;
}

bool SqliteStatement::is_real(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_FLOAT;
}

bool SqliteStatement::is_text(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_TEXT; }

}  // namespace treesample
