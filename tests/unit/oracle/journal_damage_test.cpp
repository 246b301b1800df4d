// Journals whose bytes were changed: every row is right or refused, and what is refused can be dropped.
#include <gtest/gtest.h>

#include "oracle/journal.hpp"
#include "support/expect_error.hpp"
#include "treesample/io/file.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/oracle/journal.hpp"

namespace treesample {
namespace {

using testing::message_of;

JournalHeader header() {
  return {.model = "model.json",
          .parts = {{"the variables", "1"}, {kTablesPart, "2"}, {"file 's.py' of program 'p'", "3"}},
          .factors = {{"f", "a, b"}, {"g", "b"}}};
}

const std::vector<JournalEntry> kEntries = {
    {"f", "0 0", -1.25, 0.5}, {"f", "0 1", kNegInf, 0.25}, {"g", "2", 3.0, 0.125}, {"g", "1", 0.0, 0.5, "diverged"}};

class DamagedJournal : public testing::TemporaryFolder {
 protected:
  void SetUp() override {
    TemporaryFolder::SetUp();
    Journal(path(), header()).append(kEntries);
  }
  [[nodiscard]] std::filesystem::path path() const { return in_folder("run.journal"); }
  void edit(const std::string& sql) const { SqliteFile(path(), SqliteFile::Access::kWrite).execute(sql.c_str()); }
  [[nodiscard]] std::string refusal() const {
    return message_of(ErrorCode::kIo, [&] { Journal(path(), header()); });
  }
};

TEST_F(DamagedJournal, EveryChangedFieldOfARowIsNamed) {
  const std::string start =
      path().string() + ": the journal is damaged: row 1 of its evaluations (factor 'f' at states ";
  for (const auto& [change, expected] : std::vector<std::pair<std::string, std::string>>{
           {"log_value = -1.5", "0 0): its checksum does not fit"},
           {"log_value = 9e999", "0 0): its log-value is inf, allowed are"},
           {"log_value = 1e300", "0 0): its log-value is 1e+300, allowed are"},
           {"log_value = 'abc'", "0 0): its values are not of their types"},
           {"log_value = x'00ff'", "0 0): its values are not of their types"},
           {"log_value = NULL", "0 0): its values are not of their types"},
           {"seconds = 0.75", "0 0): its checksum does not fit"},
           {"seconds = -5", "0 0): it took -5 seconds"},
           {"seconds = 9e999", "0 0): it took inf seconds"},
           {"states = '0 2'", "0 2): its checksum does not fit"},
           {"states = 'zero'", "zero): its states are not numbers"},
           {"checksum = checksum + 1", "0 0): its checksum does not fit"},
           {"checksum = NULL", "0 0): its values are not of their types"}}) {
    SCOPED_TRACE(change);
    edit("CREATE TABLE old AS SELECT * FROM evaluation; UPDATE evaluation SET " + change +
         " WHERE id = 1; DROP TABLE old");
    const std::string message = refusal();
    EXPECT_EQ(message.rfind(start + expected, 0), 0U) << message;
    EXPECT_NE(message.find("; it was left as it is, 'treesample journal"), std::string::npos) << message;
    ASSERT_EQ(journal_summary(path()).damaged.size(), 1U);
    EXPECT_EQ(journal_summary(path()).factors[0].num_evaluations, 1);
    std::filesystem::remove(path());
    Journal(path(), header()).append(kEntries);
  }
  edit("UPDATE evaluation SET factor = 2 WHERE id = 1");
  EXPECT_NE(refusal().find("row 1 of its evaluations (factor 'g' at states 0 0): its checksum"), std::string::npos);
  edit("UPDATE evaluation SET factor = 9 WHERE id = 1; UPDATE failure SET message = 'converged'");
  EXPECT_NE(refusal().find("(an unknown factor at states 0 0): it is of factor 9, the journal has 2, and 1 more rows"),
            std::string::npos)
      << refusal();
}

TEST_F(DamagedJournal, ARowOfAnotherJournalDoesNotFit) {
  JournalHeader other = header();
  other.parts[2].fingerprint = "4";
  Journal(in_folder("other"), other).append(std::vector<JournalEntry>{{"f", "5 5", -1.0, 0.5}});
  edit("ATTACH '" + in_folder("other").string() +
       "' AS other; INSERT INTO evaluation SELECT id + 10, factor, states, " +
       "log_value, seconds, checksum, number, finished, worker, witness FROM other.evaluation");
  EXPECT_NE(refusal().find("row 11 of its evaluations (factor 'f' at states 5 5): its checksum"), std::string::npos);
}

TEST_F(DamagedJournal, ChangedTablesAndHeadsAreRefused) {
  const std::string whole = read_file(path());
  for (const char* const sql :
       {"CREATE TRIGGER t AFTER INSERT ON evaluation BEGIN DELETE FROM evaluation; END", "DROP TABLE part",
        "ALTER TABLE evaluation RENAME COLUMN seconds TO time", "DELETE FROM factor WHERE id = 1", "DELETE FROM about",
        "UPDATE part SET fingerprint = '7' WHERE name = 'the variables'",
        "UPDATE factor SET name = 'h' WHERE id = 2"}) {
    edit(sql);
    const std::string message = refusal();
    EXPECT_NE(message.find("the journal is damaged ("), std::string::npos) << sql << ": " << message;
    EXPECT_NE(message_of(ErrorCode::kIo, [&] { repair_journal(path()); }).find("left as it is"), std::string::npos);
    write_file_atomically(path(), whole);
  }
}

TEST_F(DamagedJournal, RepairDropsWhatIsDamagedAndKeepsTheRest) {
  edit("UPDATE evaluation SET log_value = 7 WHERE id = 2; UPDATE failure SET seconds = 9");
  const JournalRepair repair = repair_journal(path());
  EXPECT_FALSE(repair.had_no_checksums);
  EXPECT_EQ(repair.num_kept, 2);
  EXPECT_EQ(repair.dropped,
            (std::vector<std::string>{"row 2 of its evaluations (factor 'f' at states 0 1): its checksum does not fit",
                                      "row 1 of its failures (factor 'g' at states 1): its checksum does not fit"}));
  Journal journal(path(), header());
  EXPECT_EQ(journal.find("f", "0 0")->log_value, -1.25);
  EXPECT_FALSE(journal.find("f", "0 1").has_value());
  journal.append(std::vector<JournalEntry>{{"f", "0 1", -2.0, 1.0}});
  EXPECT_EQ(journal.find("f", "0 1")->log_value, -2.0);
}

TEST_F(DamagedJournal, AJournalWithoutChecksumsIsTakenOverOnlyWhenAsked) {
  edit(
      "PRAGMA user_version = 1; DROP TABLE failure; DROP TABLE evaluation; CREATE TABLE evaluation (factor INTEGER NOT "
      "NULL REFERENCES factor, states TEXT NOT NULL, log_value REAL NOT NULL, seconds REAL NOT NULL, PRIMARY KEY "
      "(factor, states)) WITHOUT ROWID; INSERT INTO evaluation VALUES (1, '0 0', -1.25, 0.5), (2, '2', 9e999, 1), (1, "
      "'0 1', -9e999, 1)");
  EXPECT_NE(refusal().find("a journal of an earlier version, whose rows have no checksums; 'treesample journal"),
            std::string::npos);
  const JournalRepair repair = repair_journal(path());
  EXPECT_TRUE(repair.had_no_checksums);
  EXPECT_EQ(repair.num_kept, 2);
  ASSERT_EQ(repair.dropped.size(), 1U);
  EXPECT_NE(repair.dropped[0].find("(factor 'g' at states 2): its log-value is inf"), std::string::npos);
  const Journal journal(path(), header());
  EXPECT_EQ(journal.find("f", "0 0")->log_value, -1.25);
  EXPECT_EQ(journal.find("f", "0 1")->log_value, kNegInf);
  EXPECT_FALSE(journal.find("g", "2").has_value());
}

// Whatever byte changes: the same values or an error, and a value may be missing only where SQLite cannot know of it.
TEST_F(DamagedJournal, NoByteThatChangesGivesAnotherValue) {
  const std::string whole = read_file(path());
  int num_refused = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const unsigned char mask = i % 3 == 0 ? 0xff : static_cast<unsigned char>(1U << (i % 8));
    std::string changed = whole;
    changed[i] = static_cast<char>(static_cast<unsigned char>(changed[i]) ^ mask);
    if (whole[i] == 0 && i % 16 != 0) continue;  // most of a page is free
    write_file_atomically(path(), changed);
    try {
      const Journal journal(path(), header());
      for (const JournalEntry& entry : kEntries) {
        const auto found = journal.find(entry.factor, entry.states);
        if (!found) continue;
        EXPECT_EQ(found->log_value, entry.log_value) << i;
        EXPECT_EQ(found->seconds, entry.seconds) << i;
        EXPECT_EQ(found->failure, entry.failure) << i;
      }
    } catch (const Error& error) {
      ++num_refused;
      EXPECT_NE(std::string(error.what()).find("run.journal"), std::string::npos) << error.what();
    }
  }
  EXPECT_GT(num_refused, 300);
}

TEST_F(DamagedJournal, AFailureMakesWayForAValueAndForANewerFailure) {
  Journal journal(path(), header());
  EXPECT_EQ(journal.find("g", "1")->failure, "diverged");
  EXPECT_EQ(journal.totals("g").num_evaluations, 1);
  journal.append(std::vector<JournalEntry>{{"g", "1", 0.0, 0.75, "again"}});
  EXPECT_EQ(journal.find("g", "1")->failure, "again");
  journal.append(std::vector<JournalEntry>{{"g", "1", -4.0, 1.0}});
  journal.append(std::vector<JournalEntry>{{"g", "1", 0.0, 1.0, "too late"}});
  EXPECT_EQ(journal.find("g", "1")->log_value, -4.0);
  EXPECT_EQ(journal.find("g", "1")->failure, "");
}

}  // namespace
}  // namespace treesample
