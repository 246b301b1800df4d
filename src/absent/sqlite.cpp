// Replaces src/oracle/sqlite_file.cpp if the library is built without SQLite. A journal then cannot be opened, so no
// other function is ever called.
#include "oracle/sqlite_file.hpp"

namespace treesample {

SqliteFile::Lock::~Lock() = default;
SqliteFile::SqliteFile(const std::filesystem::path& path, Access) : name_(path.string()) {
  throw Error(ErrorCode::kArgument, name_ + ": the library was built without journals (TREESAMPLE_SQLITE)");
}

void SqliteFile::Close::operator()(sqlite3*) const {}
void SqliteFile::execute(const char*) {}
SqliteStatement SqliteFile::prepare(const char*) { return {*this, nullptr}; }
std::int64_t SqliteFile::integer(const char*) { return 0; }
std::string SqliteFile::text(const char*) { return {}; }
void SqliteFile::fail(std::string_view message, ErrorCode code) const { throw Error(code, message); }
void SqliteFile::check(int) const {}

void SqliteStatement::Finalize::operator()(sqlite3_stmt*) const {}
SqliteStatement& SqliteStatement::bind(int, std::int64_t) { return *this; }
SqliteStatement& SqliteStatement::bind(int, double) { return *this; }
SqliteStatement& SqliteStatement::bind(int, std::string_view) { return *this; }
bool SqliteStatement::step() { return false; }
void SqliteStatement::reset() {}
std::int64_t SqliteStatement::integer(int) const { return 0; }
double SqliteStatement::real(int) const { return 0.0; }
std::string SqliteStatement::text(int) const { return {}; }
bool SqliteStatement::is_integer(int) const { return false; }
bool SqliteStatement::is_real(int) const { return false; }
bool SqliteStatement::is_text(int) const { return false; }

}  // namespace treesample
