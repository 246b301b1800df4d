// What the contenders of `reproduce gflownet` share: a task of which nothing is seen yet, and the time that they take.
#pragma once

#include <ctime>
#include <memory>
#include <optional>
#include <vector>

#include "experiments/gflownet/flow_network.hpp"
#include "experiments/gflownet/judge.hpp"
#include "experiments/gflownet/tasks.hpp"

namespace treesample::experiments {

// Where objects cannot be listed, so many draws are judged.
inline constexpr int kJudgedSamples = 1'000;

struct RunStart {
  RunStart(const FlowTask& task, std::uint64_t seed, std::unique_ptr<FlowProgram> made)
      : program(std::move(made)), seen(program->states()) {
    if (task.can_list()) truth.emplace(program->states());
    log_z = truth ? truth->log_z() : task.log_z(seed);
  }
  RunStart(const FlowTask& task, std::uint64_t seed) : RunStart(task, seed, task.make(seed)) {}

  std::unique_ptr<FlowProgram> program;
  SeenRewards seen;
  std::optional<FlowTruth> truth;
  double log_z = 0.0;
};

// Processor seconds of this thread.
class ProcessorClock {
 public:
  [[nodiscard]] double seconds() const { return now() - start_; }

 private:
  static double now() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
  double start_ = now();
};

// The weights of the listed ends: log rewards of what was seen, and `elsewhere`.
std::vector<double> remembered(const RunStart& start, std::vector<double> elsewhere);
// log Z times the probability with which the network builds each end.
std::vector<double> network_weights(FlowNetwork& network, const FlowTruth& truth);
// From objects that the network builds.
Judged judge_built(FlowNetwork& network, double true_log_z, std::uint64_t seed);

}  // namespace treesample::experiments
