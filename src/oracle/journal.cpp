#include "oracle/journal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <sstream>

#include "treesample/error.hpp"

namespace treesample {
namespace {

// FULL: when a commit returns, it is on the disk and not only in the system's memory.
void use_durable_mode(SqliteFile& file) {
  if (file.text("PRAGMA journal_mode = WAL") != "wal") file.fail("the file system does not allow a journal here");
  file.execute("PRAGMA synchronous = FULL");
}

// Names of the parts that differ or that only one side has.
std::vector<std::string> changed_parts(const FingerprintParts& recorded, const FingerprintParts& current) {
  std::map<std::string, std::string> rest;
  for (const auto& [name, fingerprint] : recorded) rest[name] = fingerprint;
  std::vector<std::string> changed;
  for (const auto& [name, fingerprint] : current) {
    const auto found = rest.find(name);
    if (found == rest.end() || found->second != fingerprint) changed.push_back(name);
    if (found != rest.end()) rest.erase(found);
  }
  for (const auto& [name, fingerprint] : rest) changed.push_back(name);
  return changed;
}

JournalContents read_checked(SqliteFile& file, const std::string& name, std::int64_t& layout) {
  layout = check_is_journal(file);
  if (layout == kLayoutWithoutChecksums) {
    file.fail(
        fmt::format("a journal of an earlier version, whose rows have no checksums; 'treesample journal {} "
                    "--repair' checks what can be checked and takes it over",
                    name));
  }
  return read_journal(file, layout);
}

void refuse_damage(SqliteFile& file, const std::string& name, const std::vector<DamagedRow>& damaged) {
  if (damaged.empty()) return;
  const std::string more = damaged.size() == 1 ? "" : fmt::format(", and {} more rows are damaged", damaged.size() - 1);
  file.fail(
      fmt::format("the journal is damaged: {}{}; it was left as it is, 'treesample journal {} --repair' drops "
                  "what is damaged, which will be evaluated anew",
                  damaged[0].text, more, name));
}

}  // namespace

std::string witness_text(const std::optional<std::vector<int>>& witness) {
  if (!witness) return "";
  return witness->empty() ? "w" : fmt::format("w {}", fmt::join(*witness, " "));
}

std::optional<std::vector<int>> parse_witness(const std::string& text) {
  if (text.empty() || text[0] != 'w') return {};
  std::vector<int> places;
  std::istringstream rest(text.substr(1));
  for (int place = 0; rest >> place;) places.push_back(place);
  return places;
}

// Written by hand for speed: a key is made twice for each call, and a batch may have hundreds of calls in a
// millisecond.
std::string states_key(std::span<const int> states) {
  std::string key;
  std::array<char, 12> digits;
  for (const int state : states) {
    if (!key.empty()) key += ' ';
    key.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), state).ptr);
  }
  return key;
}

Journal::Journal(const std::filesystem::path& path, const JournalHeader& header)
    : name_(path.string()), file_(path, SqliteFile::Access::kCreate) {
  if (is_empty(file_)) {
    begin(header);
    return;
  }
  std::int64_t layout = 0;
  JournalContents contents = read_checked(file_, name_, layout);
  refuse_damage(file_, name_, contents.damaged);
  use_durable_mode(file_);
  compare(header, contents.head, layout);
  if (layout != kLayoutVersion) {
    Transaction transaction(file_);
    rewrite_journal(file_, contents);
    transaction.commit();
  }
  for (const JournalRow& row : contents.rows) keep(row);
  writer_.emplace(file_, contents.head);
}

void Journal::begin(const JournalHeader& header) {
  use_durable_mode(file_);
  const JournalHead head{header.model, file_.text("SELECT datetime('now')"), header.parts, header.factors};
  Transaction transaction(file_);
  write_layout(file_);
  write_head(file_, head);
  transaction.commit();
  writer_.emplace(file_, head);
}

void Journal::compare(const JournalHeader& header, JournalHead& recorded, std::int64_t layout) {
  const std::vector<std::string> changed = changed_parts(recorded.parts, header.parts);
  if (changed.empty()) return;
  const bool only_tables = changed.size() == 1 && changed[0] == kTablesPart;
  if (!only_tables || !header.allow_changed_tables) {
    throw Error(ErrorCode::kArgument,
                fmt::format("{}: the journal was recorded for another version of the model: changed {}: {}; undo the "
                            "change or begin a new journal{}",
                            name_, changed.size() == 1 ? "is" : "are", fmt::join(changed, ", "),
                            only_tables ? ", or allow changed tables: recorded values do not depend on them" : ""));
  }
  recorded.parts = header.parts;
  if (layout != kLayoutVersion) return;  // the file is rewritten later
  Transaction transaction(file_);
  write_head(file_, recorded);
  transaction.commit();
}

void Journal::keep(const JournalRow& row) {
  std::int64_t& last = row.failure.empty() ? last_evaluation_ : last_failure_;
  last = std::max(last, row.id);
  last_number_ = std::max(last_number_, row.number);
  Stored& place = values_[row.factor][row.states];
  if (place.id > 0 && place.value.failure.empty()) return;  // the value that was recorded first stays
  place = {{row.log_value, row.seconds, row.failure, parse_witness(row.witness)}, row.id};
}

const Journal::Stored* Journal::stored(const std::string& factor, const std::string& states) const {
  const auto of_factor = values_.find(factor);
  if (of_factor == values_.end()) return nullptr;
  const auto found = of_factor->second.find(states);
  return found == of_factor->second.end() ? nullptr : &found->second;
}

std::optional<Journal::Value> Journal::find(const std::string& factor, const std::string& states) const {
  const Stored* const found = stored(factor, states);
  return found == nullptr ? std::nullopt : std::optional(found->value);
}

void Journal::append(std::span<const JournalEntry> entries) {
  std::vector<JournalRow> rows;
  std::int64_t last_evaluation = last_evaluation_, last_failure = last_failure_, number = last_number_;
  Transaction transaction(file_);
  for (const JournalEntry& entry : entries) {
    const Stored* const old = stored(entry.factor, entry.states);
    if (old != nullptr && old->value.failure.empty()) continue;
    if (old != nullptr) writer_->remove_failure(old->id);
    const std::int64_t id = entry.failure.empty() ? ++last_evaluation : ++last_failure;
    rows.push_back({id, entry.factor, entry.states, entry.log_value, entry.seconds, entry.failure, ++number,
                    entry.finished, entry.worker, witness_text(entry.witness)});
    writer_->insert(rows.back());
  }
  transaction.commit();
  for (const JournalRow& row : rows) keep(row);
}

Journal::Totals Journal::totals(const std::string& factor) const {
  Totals totals;
  const auto of_factor = values_.find(factor);
  if (of_factor == values_.end()) return totals;
  for (const auto& [states, stored] : of_factor->second) {
    if (!stored.value.failure.empty()) continue;
    ++totals.num_evaluations;
    totals.seconds += stored.value.seconds;
  }
  return totals;
}

// The contents at this moment; a run may be writing the journal.
JournalContents read_for_looking(const std::filesystem::path& path) {
  SqliteFile file(path, SqliteFile::Access::kRead);
  file.execute("BEGIN");
  std::int64_t layout = 0;
  return read_checked(file, path.string(), layout);
}

JournalSummary journal_summary(const std::filesystem::path& path) {
  const JournalContents contents = read_for_looking(path);
  JournalSummary summary{.model = contents.head.model,
                         .created = contents.head.created,
                         .fingerprint = overall_fingerprint(contents.head.parts),
                         .parts = contents.head.parts};
  for (const auto& [name, scope] : contents.head.factors) summary.factors.push_back({.name = name, .scope = scope});
  for (const JournalRow& row : contents.rows) {
    const auto factor = std::find_if(summary.factors.begin(), summary.factors.end(),
                                     [&](const JournalSummary::Factor& other) { return other.name == row.factor; });
    if (row.failure.empty()) {
      ++factor->num_evaluations;
      factor->seconds += row.seconds;
    } else {
      ++factor->num_failures;
      factor->last_failure = fmt::format("at states {}: {}", row.states, row.failure);
    }
  }
  for (const DamagedRow& row : contents.damaged) summary.damaged.push_back(row.text);
  return summary;
}

JournalRepair repair_journal(const std::filesystem::path& path) {
  SqliteFile file(path, SqliteFile::Access::kWrite);
  JournalRepair repair;
  const std::int64_t layout = check_is_journal(file);
  repair.had_no_checksums = layout == kLayoutWithoutChecksums;
  const JournalContents contents =
      repair.had_no_checksums ? read_journal_without_checksums(file) : read_journal(file, layout);
  repair.num_kept = static_cast<std::int64_t>(contents.rows.size());
  for (const DamagedRow& row : contents.damaged) repair.dropped.push_back(row.text);
  Transaction transaction(file);
  if (layout != kLayoutVersion) rewrite_journal(file, contents);
  for (const DamagedRow& row : contents.damaged) {
    if (layout != kLayoutVersion) break;  // these columns were not copied
    file.execute(fmt::format("DELETE FROM {} WHERE id = {}", row.table, row.id).c_str());
  }
  transaction.commit();
  return repair;
}

}  // namespace treesample
