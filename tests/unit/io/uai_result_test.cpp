#include "treesample/io/uai_result.hpp"

#include <cmath>
#include <limits>
#include <sstream>

#include "support/expect_error.hpp"
#include "treesample/error.hpp"
#include "treesample/io/file.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

using testing::message_of;

class UaiResult : public testing::TemporaryFolder {};

double value_of(const std::string& text) {
  std::istringstream stream(text);
  std::string word, value;
  stream >> word >> value;
  EXPECT_EQ(word, "PR");
  return std::stod(value);
}

TEST_F(UaiResult, LogZIsWrittenToBase10) {
  EXPECT_EQ(format_uai_pr(0.0), "PR\n0\n");
  EXPECT_EQ(format_uai_pr(std::log(1000.0)).substr(0, 3), "PR\n");
  EXPECT_NEAR(value_of(format_uai_pr(std::log(1000.0))), 3.0, 1e-15);
  EXPECT_NEAR(value_of(format_uai_pr(-0.5)), -0.21714724095162588, 1e-16);
}

// Z itself is outside the range of a double.
TEST_F(UaiResult, LogZMayBeLarge) {
  EXPECT_NEAR(value_of(format_uai_pr(2000.0 * std::log(10.0))), 2000.0, 1e-12);
  EXPECT_NEAR(value_of(format_uai_pr(-1e6)), -434294.4819032518, 1e-9);
  EXPECT_EQ(format_uai_pr(kNegInf), "PR\n-inf\n");
  EXPECT_THROW(format_uai_pr(HUGE_VAL), Error);
  EXPECT_THROW(format_uai_pr(std::numeric_limits<double>::quiet_NaN()), Error);
}

TEST_F(UaiResult, MarginalsOfAllVariablesOnOneLine) {
  EXPECT_EQ(format_uai_mar({{0.1, 0.9}, {0.3, 0.7}, {0.2, 0.2, 0.6}}), "MAR\n3 2 0.1 0.9 2 0.3 0.7 3 0.2 0.2 0.6\n");
  EXPECT_EQ(format_uai_mar({{1.0}, {0.0, 1.0 + 1e-15}}), "MAR\n2 1 1 2 0 1\n");
  EXPECT_EQ(format_uai_mar({}), "MAR\n0\n");
  EXPECT_EQ(format_uai_mar({{1e-300, 1.0}}), "MAR\n1 2 1e-300 1\n");
}

TEST_F(UaiResult, RefusesWhatIsNoProbability) {
  EXPECT_NE(message_of(ErrorCode::kArgument,
                       [] {
                         format_uai_mar({{1.0}, {0.5, -0.5}});
                       })
                .find("variable 1"),
            std::string::npos);
  EXPECT_THROW(format_uai_mar({{std::numeric_limits<double>::quiet_NaN()}}), Error);
  EXPECT_THROW(format_uai_mar({{1.1}}), Error);
  EXPECT_THROW(format_uai_mar({{}}), Error);
}

TEST_F(UaiResult, FilesAreReplacedAsAWhole) {
  write_uai_pr(1.0, in_folder("m.uai.PR"));
  write_uai_pr(0.0, in_folder("m.uai.PR"));
  write_uai_mar({{1.0}}, in_folder("m.uai.MAR"));
  EXPECT_EQ(read_file(in_folder("m.uai.PR")), "PR\n0\n");
  EXPECT_EQ(read_file(in_folder("m.uai.MAR")), "MAR\n1 1 1\n");
  EXPECT_THROW(write_uai_mar({{2.0}}, in_folder("m.uai.MAR")), Error);
  EXPECT_EQ(read_file(in_folder("m.uai.MAR")), "MAR\n1 1 1\n");
  EXPECT_EQ(num_files(), 2);
}

}  // namespace
}  // namespace treesample
