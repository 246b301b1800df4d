// A journal as a page to look at (treesample/page/answer_page.hpp).
#pragma once

#include <string>
#include <vector>

#include "treesample/oracle/journal.hpp"
#include "treesample/oracle/journal_entries.hpp"

namespace treesample::cli {

// Of many entries the last ones are shown.
std::string journal_page(const std::string& file, const JournalSummary& summary,
                         const std::vector<JournalEntry>& entries);

}  // namespace treesample::cli
