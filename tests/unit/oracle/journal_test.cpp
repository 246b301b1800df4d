#include "oracle/journal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/expect_error.hpp"
#include "treesample/io/file.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

using testing::message_of;

JournalHeader header() {
  return {.model = "model.json",
          .parts = {{"the variables", "1"}, {kTablesPart, "2"}, {"file 's.py' of program 'p'", "3"}},
          .factors = {{"f", "a, b"}, {"g", "b"}}};
}

class JournalFile : public testing::TemporaryFolder {
 protected:
  [[nodiscard]] std::filesystem::path path() const { return in_folder("run.journal"); }
  [[nodiscard]] std::string refusal(const JournalHeader& changed) const {
    return message_of(ErrorCode::kArgument, [&] { Journal(path(), changed); });
  }
};

TEST_F(JournalFile, ValuesComeBackToTheBit) {
  const std::vector<double> values = {0.1, kNegInf, -1e300, 5e-324, std::nextafter(1.0, 2.0), 0.0, 3.0};
  {
    Journal journal(path(), header());
    std::vector<JournalEntry> entries;
    for (std::size_t i = 0; i < values.size(); ++i) {
      entries.push_back({"f", states_key(std::vector<int>{0, static_cast<int>(i)}), values[i], 0.25});
    }
    journal.append(entries);
    EXPECT_EQ(journal.find("f", "0 4")->log_value, values[4]);
  }
  Journal journal(path(), header());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto found = journal.find("f", "0 " + std::to_string(i));
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->log_value, values[i]);
    EXPECT_EQ(found->seconds, 0.25);
  }
  EXPECT_FALSE(journal.find("f", "0 7").has_value());
  EXPECT_FALSE(journal.find("g", "0 0").has_value());
  EXPECT_EQ(journal.totals("f").num_evaluations, 7);
  EXPECT_EQ(journal.totals("f").seconds, 7 * 0.25);
  EXPECT_EQ(journal.totals("g").num_evaluations, 0);
}

TEST_F(JournalFile, WhatWasRecordedFirstStays) {
  Journal journal(path(), header());
  journal.append(std::vector<JournalEntry>{{"f", "0 0", -1.0, 1.0}});
  journal.append(std::vector<JournalEntry>{{"f", "0 0", -2.0, 1.0}, {"g", "0", -3.0, 1.0}});
  EXPECT_EQ(journal.find("f", "0 0")->log_value, -1.0);
  EXPECT_EQ(journal.find("g", "0")->log_value, -3.0);
}

TEST_F(JournalFile, TheSummarySaysWhatItHolds) {
  {
    Journal journal(path(), header());
    journal.append(std::vector<JournalEntry>{{"f", "0 0", -1.0, 1.5}, {"f", "0 1", -1.0, 2.0}});
  }
  const JournalSummary summary = journal_summary(path());
  EXPECT_EQ(summary.model, "model.json");
  EXPECT_EQ(summary.created.size(), std::string("2000-01-01 00:00:00").size());
  EXPECT_EQ(summary.fingerprint, overall_fingerprint(header().parts));
  ASSERT_EQ(summary.parts.size(), 3U);
  EXPECT_EQ(summary.parts[2].name, "file 's.py' of program 'p'");
  ASSERT_EQ(summary.factors.size(), 2U);
  EXPECT_EQ(summary.factors[0].scope, "a, b");
  EXPECT_EQ(summary.factors[0].num_evaluations, 2);
  EXPECT_EQ(summary.factors[0].seconds, 3.5);
  EXPECT_EQ(summary.factors[1].name, "g");
  EXPECT_EQ(summary.factors[1].num_evaluations, 0);
  EXPECT_EQ(num_files(), 1);  // no side files are left
}

TEST_F(JournalFile, AChangedModelIsRefusedWithWhatChanged) {
  { Journal(path(), header()); }
  const std::string file = path().string();
  JournalHeader changed = header();
  changed.parts[2].fingerprint = "4";
  EXPECT_EQ(refusal(changed),
            file +
                ": the journal was recorded for another version of the model: changed is: file 's.py' "
                "of program 'p'; undo the change or begin a new journal");
  changed.parts[0].fingerprint = "4";
  changed.parts[2].name = "file 't.py' of program 'p'";
  EXPECT_EQ(refusal(changed),
            file +
                ": the journal was recorded for another version of the model: changed are: the "
                "variables, file 't.py' of program 'p', file 's.py' of program 'p'; undo the change or "
                "begin a new journal");
  changed.allow_changed_tables = true;
  EXPECT_NE(refusal(changed), "");
}

TEST_F(JournalFile, ChangedTablesCanBeAllowed) {
  {
    Journal journal(path(), header());
    journal.append(std::vector<JournalEntry>{{"f", "0 0", -1.0, 1.5}});
  }
  JournalHeader changed = header();
  changed.parts[1].fingerprint = "4";
  EXPECT_NE(refusal(changed).find("allow changed tables"), std::string::npos);
  changed.allow_changed_tables = true;
  EXPECT_EQ(Journal(path(), changed).find("f", "0 0")->log_value, -1.0);
  changed.allow_changed_tables = false;  // it is now the journal of the changed model
  EXPECT_EQ(Journal(path(), changed).find("f", "0 0")->log_value, -1.0);
  EXPECT_NE(refusal(header()), "");
}

TEST_F(JournalFile, OneRunAtATime) {
  const Journal first(path(), header());
  EXPECT_EQ(message_of(ErrorCode::kIo, [&] { Journal(path(), header()); }),
            path().string() + ": the journal is in use by another run");
}

TEST_F(JournalFile, OtherFilesAreRefusedAndLeftAlone) {
  const std::string text(5000, 'x');
  write_file_atomically(path(), text);
  EXPECT_EQ(message_of(ErrorCode::kParse, [&] { Journal(path(), header()); }),
            path().string() + ": not a journal of treesample");
  EXPECT_EQ(read_file(path()), text);
  const std::filesystem::path other = in_folder("other.db");
  { SqliteFile(other, SqliteFile::Access::kCreate).execute("CREATE TABLE t (x)"); }
  const std::string before = read_file(other);
  EXPECT_EQ(message_of(ErrorCode::kParse, [&] { Journal(other, header()); }),
            other.string() + ": not a journal of treesample");
  EXPECT_EQ(message_of(ErrorCode::kParse, [&] { journal_summary(other); }),
            other.string() + ": not a journal of treesample");
  EXPECT_EQ(read_file(other), before);
}

TEST_F(JournalFile, MissingFilesAndFoldersAreSaid) {
  EXPECT_EQ(message_of(ErrorCode::kIo, [&] { journal_summary(path()); }),
            path().string() + ": cannot be opened: No such file or directory");
  EXPECT_EQ(message_of(ErrorCode::kIo, [&] { Journal(in_folder("no/such/file"), header()); }),
            in_folder("no/such/file").string() + ": cannot be opened: No such file or directory");
  EXPECT_EQ(num_files(), 0);
}

TEST_F(JournalFile, AnEmptyFileIsANewJournal) {
  write_file_atomically(path(), "");  // what a run leaves that is killed at the very beginning
  EXPECT_EQ(Journal(path(), header()).totals("f").num_evaluations, 0);
}

TEST_F(JournalFile, DamageIsFoundAndTheFileIsLeftAsItIs) {
  {
    Journal journal(path(), header());
    std::vector<JournalEntry> entries;
    for (int i = 0; i < 2000; ++i) entries.push_back({"f", states_key(std::vector<int>{i, i}), -1.0 * i, 1.0});
    journal.append(entries);
  }
  const std::string whole = read_file(path());
  std::string zeroed = whole;
  std::fill(zeroed.begin() + static_cast<std::ptrdiff_t>(whole.size() / 2), zeroed.end(), '\0');
  for (const std::string& damaged : {whole.substr(0, whole.size() / 2), zeroed}) {
    write_file_atomically(path(), damaged);
    const std::string message = message_of(ErrorCode::kIo, [&] { Journal(path(), header()); });
    EXPECT_NE(message.find("the journal is damaged"), std::string::npos) << message;
    EXPECT_EQ(read_file(path()), damaged);
  }
}

class FingerprintFile : public testing::TemporaryFolder {
 protected:
  [[nodiscard]] std::string after(const std::string& old_text, const std::string& new_text) const {
    std::string text = R"({"variables": [{"name": "a", "states": ["x", "y"]}, {"name": "b", "states": 2}],
      "programs": {"p": {"command": ["sh", "s.py", "--fast"], "files": ["data"], "timeout_seconds": 5}},
      "factors": [{"scope": ["a"], "values": [1, 2]}, {"name": "f", "scope": ["a", "b"], "program": "p", "cost": 1}]})";
    if (!old_text.empty()) text.replace(text.find(old_text), old_text.size(), new_text);
    JsonModel model = parse_json_model(text, "m.json");
    model.folder = in_folder("");
    return overall_fingerprint(fingerprint_parts(model));
  }
};

TEST_F(FingerprintFile, CoversEverythingThatValuesDependOnAndNothingElse) {
  write_file_atomically(in_folder("s.py"), "1");
  write_file_atomically(in_folder("data"), "2");
  const std::string original = after("", "");
  EXPECT_EQ(after("", ""), original);
  EXPECT_EQ(after("\"timeout_seconds\": 5", "\"timeout_seconds\": 6"), original);
  EXPECT_EQ(after("\"cost\": 1", "\"cost\": 2"), original);
  EXPECT_NE(after("\"y\"", "\"z\""), original);
  EXPECT_NE(after("\"states\": 2", "\"states\": 3"), original);
  EXPECT_NE(after("[1, 2]", "[1, 3]"), original);
  EXPECT_NE(after("[\"a\", \"b\"]", "[\"b\", \"a\"]"), original);
  EXPECT_NE(after("\"f\"", "\"g\""), original);
  EXPECT_NE(after("--fast", "--slow"), original);
  EXPECT_NE(after("\"s.py\", \"--fast\"", "\"s.py--fast\""), original);
  write_file_atomically(in_folder("s.py"), "changed");
  EXPECT_NE(after("", ""), original);
  write_file_atomically(in_folder("s.py"), "1");
  EXPECT_EQ(after("", ""), original);
  write_file_atomically(in_folder("data"), "changed");
  EXPECT_NE(after("", ""), original);
}

TEST_F(FingerprintFile, ADeclaredFileMustExist) {
  write_file_atomically(in_folder("s.py"), "1");
  EXPECT_EQ(message_of(ErrorCode::kIo, [&] { return after("", ""); }), in_folder("data").string() + ": cannot be read");
}

}  // namespace
}  // namespace treesample
