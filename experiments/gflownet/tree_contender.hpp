// The two searches of `reproduce gflownet` over the states of a program.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "experiments/gflownet/contenders.hpp"

namespace treesample::experiments {

// The paper's tree search with a trained Q_phi: a search evaluates objects, a network (soft DQN) is trained on all that
// were seen, and the next search has it as Q_phi. Rewards that were seen are free.
bool run_tree(const FlowContender& contender, const FlowTask& task, std::uint64_t seed,
              const std::vector<std::int64_t>& budgets, const std::function<bool()>& is_interrupted, Numbers& numbers);

// The search with bounds, where an upper bound of what is below a state is the number of objects there times the
// largest reward. Of what was not evaluated it believes nothing.
bool run_search(const FlowContender& contender, const FlowTask& task, std::uint64_t seed,
                const std::vector<std::int64_t>& budgets, const std::function<bool()>& is_interrupted,
                Numbers& numbers);

}  // namespace treesample::experiments
