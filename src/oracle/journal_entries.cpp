#include "treesample/oracle/journal_entries.hpp"

#include "oracle/journal_layout.hpp"

namespace treesample {

std::vector<JournalEntry> journal_entries(const std::filesystem::path& path) {
  SqliteFile file(path, /*create=*/false);
  const JournalContents contents =
      check_is_journal(file) == kLayoutWithoutChecksums ? read_journal_without_checksums(file) : read_journal(file);
  std::vector<JournalEntry> entries;
  for (const JournalRow& row : contents.rows) {
    entries.push_back({row.factor, row.states, row.log_value, row.seconds, row.failure});
  }
  return entries;
}

}  // namespace treesample
