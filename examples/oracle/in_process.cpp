// The same model with the simulator as a C++ function. It uses four threads, and a journal, so that a second run of
// this program pays for nothing.
//
//   in_process [JOURNAL]        default network.journal; "" for none
#include <fmt/format.h>

#include <exception>

#include "network.hpp"
#include "treesample/oracle/oracle_set.hpp"
#include "treesample/search/q_uct_search.hpp"

namespace ts = treesample;

namespace {

ts::FactorGraph make_model() {
  ts::FactorGraph model;
  const auto log_table = [](std::vector<double> values) {
    for (double& value : values) value = std::log(value);
    return values;
  };
  for (const char* name : {"power_west", "power_east"}) {
    const int power = model.add_variable({.num_states = 2, .name = name, .state_names = {"ok", "failed"}});
    model.add_table({power}, log_table({0.95, 0.05}));
  }
  std::vector<int> scope;
  for (const network::Link& link : network::kLinks) {
    const int power = scope.size() < 4 ? 0 : 1;
    scope.push_back(model.add_variable({.num_states = 2, .name = link.name, .state_names = {"up", "down"}}));
    model.add_table({power, scope.back()}, log_table({0.9, 0.1, 0.2, 0.8}));
  }
  model.add_factor(ts::Factor::function(scope, network::log_likelihood, /*log_max=*/0.0));
  return model;
}

void run(const std::string& journal) {
  // "1" is the version of the simulator. With another version the journal would be refused.
  ts::OracleSet oracles(make_model(), "1", {.num_workers = 4, .journal = journal});
  const ts::FactorGraph& model = oracles.graph();
  // Ask for all states with at most one link down before the search: the four workers share them.
  std::vector<int> states(network::kLinks.size(), 0);
  const int likelihood = model.num_factors() - 1;
  oracles.submit({{likelihood, states}});
  for (int& state : states) {
    state = 1;
    oracles.submit({{likelihood, states}});
    state = 0;
  }
  while (oracles.num_pending() > 0) oracles.wait_any();

  const ts::SpaceKind kind = ts::SpaceKind::kAndOr;
  const ts::SearchSpace space = make_search_space(model, search_order(model, kind, {}), kind);
  const ts::QUctResult result = q_uct_search(model, space, {}, {.budget = 2000});
  const ts::OracleCounts counts = oracles.counts()[0];
  fmt::print("log Z {:.3f}{} after {} evaluations; simulator: {} paid, {} from the journal\n",
             result.approximation->log_value(), result.approximation->is_exact() ? " (exact)" : "",
             result.report.spent.reward_evaluations, counts.paid, counts.from_journal);
  const std::vector<std::vector<double>> marginals = result.approximation->marginals();
  for (int v = 0; v < model.num_variables(); ++v) {
    fmt::print("  P({} {}) = {:.3f}\n", model.variable(v).name, model.variable(v).state_names[1], marginals[v][1]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc > 1 ? argv[1] : "network.journal");
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
