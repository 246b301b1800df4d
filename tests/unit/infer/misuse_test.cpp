// Mistakes of callers that no option stands for.
#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "treesample/count/circuit.hpp"
#include "treesample/error.hpp"
#include "treesample/infer/cases.hpp"
#include "treesample/infer/infer.hpp"

namespace treesample {
namespace {

using testing::expect_error;

FactorGraph pair() {
  FactorGraph graph;
  for (int v = 0; v < 2; ++v) graph.add_variable(2);
  graph.add_table({0, 1}, {0.0, 1.0, 2.0, 3.0});
  return graph;
}

TEST(Misuse, AModelOfNoCircuitIsRefused) {
  expect_error(ErrorCode::kArgument, "there is no circuit", [] { Model(std::shared_ptr<const Circuit>()); });
}

TEST(Misuse, CasesNeedSomebodyWhoTakesThem) {
  const std::vector<Case> cases = {{"a", {}}};
  expect_error(ErrorCode::kArgument, "nobody takes", [&] { infer_cases(pair(), cases, {}, {}, {}, {}, nullptr); });
}

TEST(Misuse, AnOrderHasEachVariableOnce) {
  expect_error(ErrorCode::kArgument, "variable 0 is twice", [] {
    infer(pair(), {}, {}, {.elimination_order = {0, 0}});
  });
}

}  // namespace
}  // namespace treesample
