// A GFlowNet (Bengio et al. 2021): a network that builds objects with probabilities in proportion to their rewards.
//
// Three objectives, each as it was published:
//
//   trajectory balance      (log Z + sum log P_F - log R(x) - sum log P_B)^2               Malkin et al. 2022
//   sub-trajectory balance  the same for all pieces of a trajectory, from F(s) to F(s'), weights lambda^length;
//                           F is an output of the network                                  Madan et al. 2023
//   soft DQN                Q(s, a) -> log P_B(s | s') + log sum exp Q_target(s', .), or log R(x) at the end;
//                           Huber loss; P_F = softmax Q, log Z = log sum exp Q(s_0, .)     Tiapkin et al. 2024
//
// P_B is uniform over the parents. All values have one offset, the first guess of log Z, so that a network need not
// learn the scale of the rewards.
//
// To make the most of each reward, a round draws trajectories from the policy (mixed with the uniform one), asks for
// the rewards of their objects, and trains on them: one batch, or more where much was seen. The further updates of the
// round are trained on trajectories to objects that were seen before, drawn backwards from P_B: half of the objects
// uniformly and half by reward.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "experiments/gflownet/flow_program.hpp"
#include "experiments/gflownet/seen_rewards.hpp"
#include "treesample/nn/adam.hpp"
#include "treesample/nn/mlp.hpp"

namespace treesample::experiments {

enum class FlowObjective { kTrajectoryBalance, kSubTrajectoryBalance, kSoftDqn };

struct FlowOptions {
  FlowObjective objective = FlowObjective::kTrajectoryBalance;
  std::vector<int> hidden = {128, 128};
  double learning_rate = 1e-3;
  double log_z_rate = 0.03;   // of log Z in trajectory balance
  double exploration = 0.05;  // the share of the uniform policy
  int batch = 16;             // trajectories in an update
  int updates = 8;            // in a round
  double lambda = 0.9;        // of sub-trajectory balance
  double target_rate = 0.1;   // of soft DQN: the target network moves by this share of the difference in each update
};

// Steps of trajectories, one trajectory after the other.
struct Trajectories {
  std::vector<int> rows;  // the encoded state of each step
  std::vector<int> actions;
  std::vector<double> log_back;     // log P_B of each step
  std::vector<int> allowed;         // the allowed actions of each step, one step after the other
  std::vector<std::size_t> limits;  // where those of each step end
  std::vector<std::size_t> begin;   // the first step of each trajectory, and the number of all steps
  std::vector<double> log_rewards;  // of each trajectory's object
  [[nodiscard]] std::size_t count() const { return log_rewards.size(); }
  [[nodiscard]] std::size_t num_steps() const { return actions.size(); }
  [[nodiscard]] std::span<const int> allowed_at(std::size_t step) const {
    const std::size_t first = step == 0 ? 0 : limits[step - 1];
    return std::span(allowed).subspan(first, limits[step] - first);
  }
};

class FlowNetwork {
 public:
  FlowNetwork(FlowProgram& program, FlowOptions options, std::uint64_t seed);

  // Rounds until the limit of `seen` is reached or `most_rounds` were made; fewer if `should_stop` says so.
  void train(SeenRewards& seen, std::int64_t most_rounds, const std::function<bool()>& should_stop);

  // Updates on trajectories to objects that were seen, and nothing is asked for.
  void train_on(SeenRewards& seen, std::int64_t updates, const std::function<bool()>& should_stop);

  // log P_F of the actions of several states: probabilities of actions[i] are entries i of the result.
  struct Choices {
    std::vector<std::vector<Transition>> actions;
    std::vector<std::vector<double>> log_policy;
  };
  Choices choices(std::span<const StateId> states);
  // Builds an object; returns it and the log probability of its trajectory.
  std::pair<StateId, double> build(Random& random);
  [[nodiscard]] double log_z() { return value(start_); }
  // Of a state: log Z at the start; elsewhere the log flow, which trajectory balance does not know (0).
  [[nodiscard]] double value(StateId state);
  [[nodiscard]] FlowProgram& program() { return program_; }

 private:
  Trajectories draw(SeenRewards& seen);
  Trajectories replay(SeenRewards& seen);
  void add_step(Trajectories& batch, StateId state, int action, double log_back);
  void update(const Trajectories& batch);
  // Both write the derivative of the loss with respect to the outputs q of the rows.
  void differentiate_balance(const Trajectories& batch, std::span<const float> q, std::span<float> g);
  void differentiate_dqn(const Trajectories& batch, std::span<const float> q, std::span<const float> target_q,
                         std::span<float> g) const;
  [[nodiscard]] std::vector<double> pieces_gradient(std::span<const double> potentials) const;
  [[nodiscard]] std::vector<float> outputs(std::span<const int> rows);
  [[nodiscard]] double flow_of(std::span<const float> q, std::size_t step) const;
  double log_back_to(StateId state);
  double value_of_end(StateId end);
  void set_offset(const Trajectories& batch);
  void move_target();

  FlowProgram& program_;
  FlowOptions options_;
  Random random_;
  StateId start_;
  Mlp network_, target_;
  Adam adam_, log_z_adam_;
  FloatBuffer gradient_, log_z_, log_z_gradient_;  // of log_z_, the first entry counts: log Z minus the offset
  std::size_t num_outputs_ = 0;
  double offset_ = 0.0;
  bool has_offset_ = false;
  MlpScratch scratch_;
  std::vector<Transition> transitions_;
};

// Every end with the probability that the network builds it, by visiting all states, layer by layer.
std::vector<std::pair<StateId, double>> end_probabilities(FlowNetwork& network);

}  // namespace treesample::experiments
