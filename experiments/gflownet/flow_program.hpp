// A program (treesample/program/program.hpp) as a GFlowNet sees it: states that a network can read, numbered actions,
// and the parents of a state, which the backward policy P_B chooses from.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "treesample/program/program.hpp"

namespace treesample::experiments {

class FlowProgram {
 public:
  virtual ~FlowProgram() = default;
  virtual NumberedProgram& states() = 0;
  [[nodiscard]] virtual int num_actions() const = 0;  // actions are below this number
  [[nodiscard]] virtual int num_values() const = 0;   // entries of encoded states are below this number
  // Adds the states from which one action leads here: `next` is such a parent, `action` leads from it to here.
  virtual void parents(StateId state, std::vector<Transition>& out) = 0;
};

// For the environments in program/environments.
template <class Environment>
class EnvironmentFlow final : public FlowProgram {
 public:
  explicit EnvironmentFlow(Environment environment) : states_(std::move(environment)) {}
  NumberedProgram& states() override { return states_; }
  [[nodiscard]] int num_actions() const override { return states_.program().num_actions(); }
  [[nodiscard]] int num_values() const override { return states_.program().num_values(); }
  void parents(StateId id, std::vector<Transition>& out) override {
    const auto state = states_.state(id);  // a copy: the states move in memory when there are more of them
    states_.program().parents(state, [&](int action, const auto& parent) {
      out.push_back({.log_reward = 0.0, .next = states_.id_of(parent), .action = action});
    });
  }

 private:
  HashedProgram<Environment> states_;
};

template <class Environment>
std::unique_ptr<FlowProgram> flow_program(Environment environment) {
  return std::make_unique<EnvironmentFlow<Environment>>(std::move(environment));
}

}  // namespace treesample::experiments
