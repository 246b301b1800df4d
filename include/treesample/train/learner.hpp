// The learner: minibatches from the replay, the squared error of the paper's section 3.3 or another loss, Adam.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "treesample/nn/adam.hpp"
#include "treesample/nn/network_value.hpp"
#include "treesample/train/replay.hpp"

namespace treesample {

struct LearnerOptions {
  std::string architecture = "gnn";               // or "mlp", for problems that all have the same variables
  int iterations = GnnOptions{}.iterations;       // for a graph network
  int global_after = GnnOptions{}.global_after;   // for a graph network: see GnnOptions; 0: no global value
  std::vector<int> hidden = MlpOptions{}.hidden;  // for a perceptron: the widths of its layers
  int batch_size = 128;
  Loss loss = Loss::kSquared;
  // Weight of the squared Bellman residual of the edge that the sample takes from each row (nn/loss.hpp); 0 leaves it
  // out. The learner evaluates the rewards of these edges, so it is only for models of tables. A step takes about twice
  // the time.
  double bellman_weight = 0.0;
  AdamOptions adam = {};
  std::uint64_t seed = 0;  // for the first parameters and the minibatches

  // Throws Error (kArgument) naming the field, its value and what is allowed.
  void validate() const;
};

// A new network for these problems.
Network make_network(const LearnerOptions& options, const ProblemSource& problems);

class Learner {
 public:
  Learner(Network network, const LearnerOptions& options);

  // One minibatch and one step of Adam; returns the error before the step. The minibatch follows only from the seed and
  // the number of the step. Does nothing and returns 0 while the replay is empty. Throws kNumeric, before anything is
  // changed, if error or gradient are not finite or the gradient is beyond 1e18: learning has then diverged, and the
  // present parameters are the last good ones.
  double step(const Replay& replay);

  [[nodiscard]] std::int64_t num_steps() const { return adam_.num_steps; }
  // Changes made to the parameters here take effect from the next step on.
  [[nodiscard]] const Network& network() const { return network_; }
  [[nodiscard]] Network& network() { return network_; }
  [[nodiscard]] const Adam& adam() const { return adam_; }
  [[nodiscard]] Adam& adam() { return adam_; }

 private:
  double accumulate(std::span<const ReplayEntry> batch);
  void check_step(double error) const;

  LearnerOptions options_;
  Network network_;
  Adam adam_;
  FloatBuffer gradient_;
  MlpScratch mlp_scratch_;
  GnnScratch gnn_scratch_;
};

Parameters& parameters_of(Network& network);
const Parameters& parameters_of(const Network& network);

// Passes parameters to the workers of the same process: the newest network and its version. Neither side ever waits for
// the other; the lock is held only while a pointer is copied.
class ParameterBoard {
 public:
  void publish(std::shared_ptr<const Network> network, std::int64_t version);
  struct Posted {
    std::shared_ptr<const Network> network;
    std::int64_t version = -1;  // the number of learner steps that led to it
  };
  [[nodiscard]] Posted newest() const;

 private:
  mutable std::mutex mutex_;
  Posted posted_;
};

}  // namespace treesample
