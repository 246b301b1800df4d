// Certified bounds of most probable states against enumeration with 113 bits.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "support/configurations.hpp"
#include "torture/torture.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/exact/map_search.hpp"
#include "treesample/reduce/evidence.hpp"

namespace treesample {
namespace {

using testing::below;
using testing::num_trials;
using testing::Quad;
using testing::torture_model;
using testing::TortureModel;

using States = std::vector<int>;

std::map<States, Quad> log_sums(const TortureModel& model, const std::vector<int>& variables) {
  std::map<States, std::vector<Quad>> values;
  std::size_t i = 0;
  testing::for_each_configuration(model.graph, [&](const Assignment& x) {
    States y;
    for (const int v : variables) y.push_back(x[v]);
    values[y].push_back(model.log_densities[i++]);
  });
  std::map<States, Quad> sums;
  for (const auto& [y, all] : values) sums[y] = testing::quad_log_sum_exp(all);
  return sums;
}

TEST(Torture, BoundsOfMostProbableStatesHold) {
  Random random(1, "map torture");
  for (int trial = 0; trial < num_trials(400); ++trial) {
    const TortureModel model = torture_model(random, {.max_variables = 5, .has_functions = false});
    SCOPED_TRACE(model.text);
    MapOptions options{.k = 1 + below(random, 3),
                       .max_expanded = below(random, 2) == 0 ? 16 * below(random, 3) : INT64_MAX};
    if (below(random, 2) == 0) {
      options.variables = random.permutation(model.graph.num_variables());
      options.variables.resize(static_cast<std::size_t>(1 + below(random, model.graph.num_variables())));
    }
    options.log_sum = [&](const std::vector<int>& variables, const States& states) {
      Evidence given;
      for (std::size_t i = 0; i < variables.size(); ++i) given.push_back({variables[i], states[i]});
      return Elimination(condition(model.graph, given).graph).bounds();
    };
    const std::size_t bytes = below(random, 2) == 0 ? 16 : std::size_t{1} << 20;
    const MapResult found = map_search(model.graph, {.bytes = bytes}, options);
    const std::map<States, Quad> sums = log_sums(model, found.variables);
    Quad best = -HUGE_VALQ;
    for (const auto& [y, value] : sums) best = fmaxq(best, value);
    EXPECT_GE(static_cast<Quad>(found.log_upper), best);
    for (const MapResult::Found& one : found.best) {
      EXPECT_LE(static_cast<Quad>(one.log_value.lower), sums.at(one.states));
      EXPECT_GE(static_cast<Quad>(one.log_value.upper), sums.at(one.states));
    }
    if (found.best.empty()) continue;
    EXPECT_GE(static_cast<Quad>(found.gap()), best - sums.at(found.best.front().states));
  }
}

}  // namespace
}  // namespace treesample
