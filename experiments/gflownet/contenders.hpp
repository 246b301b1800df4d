// The methods of `reproduce gflownet`: what each knows of a task after a number of different rewards.
//
//   a GFlowNet           P_X is the distribution of the objects that it builds
//   all other methods    P_X has the true reward of what was seen, and for the rest what the method believes: nothing
//                        (Metropolis, search), the mean reward (uniform), its surrogate (black box), or what its
//                        network builds times its Z (tree search, and GFlowNets with a memory)
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/gflownet/flow_tuning.hpp"
#include "experiments/gflownet/judge.hpp"
#include "experiments/gflownet/tasks.hpp"
#include "experiments/run_store.hpp"

namespace treesample::experiments {

struct FlowContender {
  std::string word;
  std::string title;
  // Adds the numbers of a run after each budget. Returns false if it was interrupted.
  using Run = bool (*)(const FlowContender& contender, const FlowTask& task, std::uint64_t seed,
                       const std::vector<std::int64_t>& budgets, const std::function<bool()>& is_interrupted,
                       Numbers& numbers);
  Run run = nullptr;
  bool is_learned = false;            // by the black box, which has limits of its own
  bool has_memory_too = false;        // the same network is also judged with a memory, as WORD.memory
  bool takes_only_listed = false;     // only tasks whose objects can be listed
  bool takes_only_declared = false;   // only tasks of which the largest reward is known
  bool is_for_tuning = false;         // runs only when it is named
  std::optional<FlowOptions> flow{};  // of the network; none: as tuned

  [[nodiscard]] bool takes(const FlowTask& task) const;
};

const std::vector<FlowContender>& flow_contenders();

}  // namespace treesample::experiments
