#include "journal_page.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "treesample/io/json_text.hpp"
#include "treesample/page/answer_page.hpp"
#include "treesample/text.hpp"

namespace treesample::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostEntries = 20'000;

Json entry_json(const JournalEntry& entry) {
  Json value;
  if (entry.failure.empty()) value = std::isfinite(entry.log_value) ? Json(entry.log_value) : Json("-inf");
  return {{"factor", entry.factor},
          {"states", entry.states},
          {"value", std::move(value)},
          {"seconds", entry.seconds},
          {"failure", entry.failure}};
}

}  // namespace

std::string journal_page(const std::string& file, const JournalSummary& summary,
                         const std::vector<JournalEntry>& entries) {
  Json factors = Json::array(), parts = Json::array(), rows = Json::array();
  for (const JournalSummary::Factor& factor : summary.factors) {
    factors.push_back({{"name", factor.name},
                       {"scope", factor.scope},
                       {"evaluations", factor.num_evaluations},
                       {"seconds", factor.seconds},
                       {"failures", factor.num_failures},
                       {"last_failure", factor.last_failure}});
  }
  for (const JournalSummary::Part& part : summary.parts) parts.push_back(Json::array({part.name, part.fingerprint}));
  const std::size_t first = entries.size() - std::min(entries.size(), kMostEntries);
  for (std::size_t i = first; i < entries.size(); ++i) rows.push_back(entry_json(entries[i]));
  const std::string title = printable("Journal: " + std::filesystem::path(file).filename().string());
  const Json data = {{"kind", "journal"},
                     {"title", title},
                     {"file", file},
                     {"model", summary.model},
                     {"created", summary.created},
                     {"fingerprint", summary.fingerprint},
                     {"parts", std::move(parts)},
                     {"factors", std::move(factors)},
                     {"num_left_out", first},
                     {"rows", std::move(rows)},
                     {"damaged", summary.damaged}};
  return page_of(title, json_text(data));
}

}  // namespace treesample::cli
