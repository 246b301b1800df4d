#include "experiments/gflownet/flow_tuning.hpp"

#include <algorithm>
#include <map>

namespace treesample::experiments {

const char* word_of(FlowObjective objective) {
  switch (objective) {
    case FlowObjective::kTrajectoryBalance:
      return "tb";
    case FlowObjective::kSubTrajectoryBalance:
      return "subtb";
    case FlowObjective::kSoftDqn:
      return "dqn";
  }
  return "";
}

const std::vector<FlowOptions>& flow_settings() {
  static const std::vector<FlowOptions> settings = [] {
    std::vector<FlowOptions> all;
    for (const int updates : {4, 16, 64, 256}) {
      for (const double rate : {1e-3, 3e-3}) all.push_back({.learning_rate = rate, .updates = updates});
    }
    return all;
  }();
  return settings;
}

FlowOptions tuned_options(const std::string& task, const std::string& contender) {
  constexpr std::size_t kUsual = 5;
  // The number of the setting for tb, subtb, dqn, of tasks for which it is not the usual one for all of them.
  static const std::map<std::string, std::vector<std::size_t>> chosen = {{"chain-6", {4, 5, 4}},
                                                                         {"dag-5", {0, 5, 5}},
                                                                         {"factor-graphs-1-10", {3, 5, 5}},
                                                                         {"hypergrid-8", {4, 5, 5}},
                                                                         {"factor-graphs-2-6", {5, 5, 4}},
                                                                         {"ising-10", {3, 3, 3}}};
  const auto objective = std::find_if(std::begin(kFlowObjectives), std::end(kFlowObjectives),
                                      [&](FlowObjective one) { return contender == word_of(one); });
  const auto row = chosen.find(task);
  const std::size_t setting =
      row == chosen.end() ? kUsual : row->second[static_cast<std::size_t>(objective - std::begin(kFlowObjectives))];
  FlowOptions options = flow_settings()[setting];
  options.objective = *objective;
  return options;
}

}  // namespace treesample::experiments
