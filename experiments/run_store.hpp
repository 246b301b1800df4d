// Stores finished instances of a run on disk, so that an interrupted run can continue where it stopped.
//
// One SQLite file per run. Each finished instance is a key with named numbers, added in one transaction: after a
// SIGKILL an instance is there as a whole or not at all. The file also holds the fingerprint of the run (every option
// that a number depends on); a file of another run is refused, not mixed in.
//
// Results are always read back from the file, also those that were just computed. So a change that the file makes to a
// number (0 for -0) does not depend on whether the run was interrupted.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

struct sqlite3;

namespace treesample::experiments {

// Named numbers of one instance. Infinities are legal, NaN is not.
using Numbers = std::map<std::string, double>;

// Everything on which a number depends: names and values of options, seed, version.
using Fingerprint = std::vector<std::pair<std::string, std::string>>;

class RunStore {
 public:
  // Opens or creates the file; ":memory:" stores nothing on disk. Throws Error: kIo if it is not a run file, cannot be
  // written or is in use by another process; kArgument if it belongs to a run with other options. Without a fingerprint
  // any run is accepted.
  RunStore(const std::filesystem::path& file, const Fingerprint& fingerprint);
  ~RunStore();
  RunStore(const RunStore&) = delete;
  RunStore& operator=(const RunStore&) = delete;

  // Stores an instance, which must not be there yet. Must not be called by several threads at once.
  void add(const std::string& key, const Numbers& numbers);
  // All instances so far.
  [[nodiscard]] std::map<std::string, Numbers> finished() const;

 private:
  void execute(const char* sql) const;
  void make_or_check(const Fingerprint& fingerprint);
  void check_same(const std::map<std::string, std::string>& known,
                  const std::map<std::string, std::string>& asked) const;
  [[noreturn]] void fail(const char* action) const;

  std::filesystem::path file_;
  sqlite3* database_ = nullptr;
};

// The instances of a file, whatever its fingerprint. Throws as RunStore does.
std::map<std::string, Numbers> read_run(const std::filesystem::path& file);

}  // namespace treesample::experiments
