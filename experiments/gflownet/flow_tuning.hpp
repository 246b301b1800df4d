// The settings that were tried for the networks, and those that were chosen.
#pragma once

#include <string>
#include <vector>

#include "experiments/gflownet/flow_network.hpp"

namespace treesample::experiments {

inline constexpr FlowObjective kFlowObjectives[] = {FlowObjective::kTrajectoryBalance,
                                                    FlowObjective::kSubTrajectoryBalance, FlowObjective::kSoftDqn};
const char* word_of(FlowObjective objective);  // tb, subtb, dqn

// Each was run on all tasks with two seeds (README.md).
const std::vector<FlowOptions>& flow_settings();
// The setting with the lowest mean total variation of a task. Pre: `contender` is the word of an objective.
FlowOptions tuned_options(const std::string& task, const std::string& contender);

}  // namespace treesample::experiments
