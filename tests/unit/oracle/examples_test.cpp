// The Python example that the documentation shows must work as it is.
#include <gtest/gtest.h>

#include <filesystem>

#include "treesample/math/log_domain.hpp"
#include "treesample/oracle/oracle_set.hpp"

namespace treesample {
namespace {

TEST(OracleExamples, ThePythonSimulatorComputesItsFactor) {
  const std::filesystem::path examples = std::filesystem::path(TREESAMPLE_SOURCE_DIR) / "examples/oracle";
  const JsonModel model = read_json_model(examples / "model.json");
  OracleSet oracles(model, {});
  const int likelihood = oracles.graph().num_factors() - 1;
  std::vector<int> x(static_cast<std::size_t>(oracles.graph().num_variables()), 0);
  const double all_up = oracles.graph().log_value(likelihood, x);
  EXPECT_LT(all_up, 0.0);
  EXPECT_GT(all_up, -20.0);
  x[2] = 1;  // ab: its traffic takes the way over ac
  const double one_down = oracles.graph().log_value(likelihood, x);
  EXPECT_NE(one_down, kNegInf);
  EXPECT_NE(one_down, all_up);
  x[3] = 1;  // and ac: nothing could have arrived
  EXPECT_EQ(oracles.graph().log_value(likelihood, x), kNegInf);
  EXPECT_EQ(oracles.counts()[0].failures, 0);
}

}  // namespace
}  // namespace treesample
