// A journal as a page to look at (treesample/page/answer_page.hpp).
#pragma once

#include <span>
#include <string>

#include "treesample/oracle/journal.hpp"
#include "treesample/oracle/journal_calls.hpp"

namespace treesample::cli {

// Of many calls the last ones are shown. States by name where `variables` (of a model) has them.
std::string journal_page(const std::string& file, const JournalSummary& summary, const JournalCalls& calls,
                         std::span<const Variable> variables);

}  // namespace treesample::cli
