// The single evaluations of a journal (oracle/journal.hpp), for people to look at.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace treesample {

struct JournalEntry {
  std::string factor;
  std::string states;  // of the factor's variables, numbers with blanks between them
  double log_value = 0.0;
  double seconds = 0.0;
  std::string failure = {};  // not empty: what was said when it failed for good, and there is no value
};

// In the order of recording, failures after values; without damaged rows. Throws kIo as journal_summary.
std::vector<JournalEntry> journal_entries(const std::filesystem::path& path);

}  // namespace treesample
