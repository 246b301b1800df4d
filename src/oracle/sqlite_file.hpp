// The few SQLite calls that a journal needs, with error messages that help the user to act.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "treesample/error.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace treesample {

class SqliteStatement;

class SqliteFile {
 public:
  enum class Access {
    kRead,   // reads the contents as they were when reading began; another process may be writing
    kWrite,  // the only writer; others may read
    kCreate  // the same, but creates a file that is not there
  };
  // Throws kIo.
  SqliteFile(const std::filesystem::path& path, Access access);

  // Runs SQL without parameters and results. All calls throw kIo with the file's name and what is wrong.
  void execute(const char* sql);
  SqliteStatement prepare(const char* sql);
  // The first column of the first row.
  std::int64_t integer(const char* sql);
  std::string text(const char* sql);

  [[noreturn]] void fail(std::string_view message, ErrorCode code = ErrorCode::kIo) const;
  void check(int result) const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  // A file descriptor that holds the lock of the only writer, in addition to SQLite's own locks.
  struct Lock {
    explicit Lock(int file) : descriptor(file) {}
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    ~Lock();
    int descriptor;
  };
  std::string name_;
  std::unique_ptr<Lock> lock_;  // outlives the handle: closing any descriptor of a file releases SQLite's locks
  std::unique_ptr<sqlite3, Close> handle_;
};

// A prepared statement. Parameters are numbered from 1, columns from 0.
class SqliteStatement {
 public:
  SqliteStatement(const SqliteFile& file, sqlite3_stmt* statement) : file_(&file), statement_(statement) {}

  SqliteStatement& bind(int parameter, std::int64_t value);
  SqliteStatement& bind(int parameter, double value);
  SqliteStatement& bind(int parameter, std::string_view value);
  // Returns true if there is a row. If there is none, the statement can be bound again.
  bool step();
  void reset();
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string text(int column) const;
  // Looks at the type of the value in the file, whatever the declared type of the column.
  [[nodiscard]] bool is_integer(int column) const;
  [[nodiscard]] bool is_real(int column) const;
  [[nodiscard]] bool is_text(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  const SqliteFile* file_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

}  // namespace treesample
