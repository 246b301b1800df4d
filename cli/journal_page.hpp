// A journal as a page to look at (treesample/page/answer_page.hpp).
#pragma once

#include <optional>
#include <string>

#include "treesample/io/json_model.hpp"
#include "treesample/oracle/journal.hpp"
#include "treesample/oracle/journal_calls.hpp"

namespace treesample::cli {

// If there are many calls, only the last ones are shown. With a model, the page has names of states and an estimate of
// log Z. A page that will be written again reads itself anew after `reload_seconds`; 0: it does not.
std::string journal_page(const std::string& file, const JournalSummary& summary, const JournalCalls& calls,
                         const std::optional<JsonModel>& model, double reload_seconds = 0.0);

}  // namespace treesample::cli
