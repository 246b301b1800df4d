#include "experiments/trace.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/expect_error.hpp"
#include "treesample/error.hpp"
#include "treesample/io/file.hpp"

namespace treesample::experiments {
namespace {

class TraceFile : public testing::TemporaryFolder {
 protected:
  Trace read(const std::string& text) const {
    write_file_atomically(in_folder("trace.csv"), text);
    return read_trace("label", in_folder("trace.csv"));
  }
};

TEST_F(TraceFile, ColumnsAreFoundByName) {
  const Trace trace =
      read("# made by hand\nupper,lower,other,seconds,estimate,evaluations\r\n5,-inf,x,0.5,2,10\r\n4,1,x,2,3,20\n");
  ASSERT_EQ(trace.rows.size(), 2U);
  EXPECT_EQ(trace.label, "label");
  EXPECT_EQ(trace.rows[0].lower, -HUGE_VAL);
  EXPECT_EQ(trace.rows[0].upper, 5.0);
  EXPECT_EQ(trace.rows[1].seconds, 2.0);
  EXPECT_EQ(trace.rows[1].evaluations, 20.0);
  EXPECT_EQ(trace.rows[1].estimate, 3.0);
}

TEST_F(TraceFile, ErrorsNameFileAndLine) {
  const std::string header = "seconds,evaluations,lower,upper,estimate\n";
  for (const auto& [text, part] :
       {std::pair<std::string, std::string>{"seconds,lower\n", "trace.csv:1: no column 'evaluations'"},
        {header + "1,2,3,4,five\n", "trace.csv:2: 'five' is not a number"},
        {header + "1,2,3,4,nan\n", "trace.csv:2: 'nan' is not a number"},
        {header + "1,2,3\n", "trace.csv:2: no field 'upper'"},
        {header, "no rows"},
        {"", "no rows"}}) {
    SCOPED_TRACE(text);
    testing::expect_error(ErrorCode::kParse, part, [&] { read(text); });
  }
}

TEST(TraceReport, HasBandsGapsAndTheEnd) {
  const Trace wide{"wide, \"quoted\"", {{0.0, 1, -HUGE_VAL, 900, 900}, {1.0, 5, 0, 800, 700}, {10.0, 9, 10, 700, 99}}};
  const Trace narrow{"narrow", {{0.1, 1, 90, 110, 100}, {5.0, 5, 99, 101, 100}}};
  const Report report = trace_report({wide, narrow});
  ASSERT_EQ(report.figures.size(), 2U);
  EXPECT_NE(report.figures[0].script.find("filledcurves"), std::string::npos);
  EXPECT_NE(report.figures[0].script.find("set yrange [30:170]"), std::string::npos) << report.figures[0].script;
  EXPECT_NE(report.figures[0].script.find("set logscale x"), std::string::npos);
  EXPECT_NE(report.figures[1].script.find("set logscale y"), std::string::npos);
  ASSERT_EQ(report.tables.size(), 1U);
  EXPECT_EQ(report.tables[0].rows[1],
            (std::vector<std::string>{"narrow", "5.00", "5", "99.0000", "101.0000", "2.0000", "100.0000"}));
  EXPECT_NE(report.csv_files[0].text.find("\"wide, \"\"quoted\"\"\",1,5,0,800,700\n"), std::string::npos);
  EXPECT_THROW(trace_report({}), Error);
}

// One row, at time 0, without a lower bound: nothing to draw, and nothing that fails.
TEST(TraceReport, CopesWithAlmostNothing) {
  const Report report = trace_report({{"t", {{0.0, 0, -HUGE_VAL, 5, 5}}}});
  EXPECT_EQ(report.tables[0].rows[0][3], "-inf");
}

}  // namespace
}  // namespace treesample::experiments
