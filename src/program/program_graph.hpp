// The part of a program's states that a run has seen: which state leads where, and by which first path it was found.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/program/program.hpp"

namespace treesample {

// The log rewards that a program may give: -inf, and numbers so far from the largest double that sums stay finite.
inline constexpr double kLargestLogReward = 1e100;
inline bool is_log_reward(double value) { return value == kNegInf || std::abs(value) <= kLargestLogReward; }
inline constexpr const char* kLogRewardsAllowed = "allowed are -inf and numbers from -1e+100 to 1e+100";

class ProgramGraph {
 public:
  // Sees the start. The program must outlive this object. A path of more than `max_steps` actions is an error.
  ProgramGraph(NumberedProgram& program, int max_steps);

  [[nodiscard]] NumberedProgram& program() const { return program_; }
  [[nodiscard]] const ProgramParts& parts() const { return parts_; }
  [[nodiscard]] StateId start() const { return start_; }
  [[nodiscard]] std::size_t num_states() const { return nodes_.size(); }

  // The largest number of actions on the first path to a state.
  [[nodiscard]] int depth() const { return static_cast<int>(depth_); }

  [[nodiscard]] bool is_end(StateId state) const { return nodes_[state].kind == Kind::kEnd; }
  [[nodiscard]] bool is_expanded(StateId state) const { return nodes_[state].kind == Kind::kExpanded; }
  [[nodiscard]] bool is_on_path(StateId state) const { return nodes_[state].is_on_path; }
  // Of the first path to the state.
  [[nodiscard]] double log_sum(StateId state) const { return nodes_[state].log_sum; }

  // Asks the program for the actions of a state that is neither expanded nor an end, and keeps those that count
  // (ProgramObjects); those of log reward -inf never do. Throws Error, as infer_program does.
  std::span<const Transition> expand(StateId state);
  // The actions that count. Empty unless the state is expanded. Invalid after the next expand().
  [[nodiscard]] std::span<const Transition> transitions(StateId state) const {
    const Node& node = nodes_[state];
    return node.kind == Kind::kExpanded ? std::span(transitions_).subspan(node.first, node.count)
                                        : std::span<const Transition>();
  }

  // The ends in the order in which they were seen, and the place of one in that list.
  [[nodiscard]] const std::vector<StateId>& ends() const { return ends_; }
  [[nodiscard]] std::size_t end_place(StateId end) const { return nodes_[end].first; }

  // A search marks the states of the path that it is on. An action that leads back to one of them closes a cycle:
  // enter() throws Error, which shows it.
  void enter(StateId state, StateId from, int action);
  void leave(StateId state) { nodes_[state].is_on_path = false; }
  void leave_all();

  // All states, each after those that its actions lead to. Throws Error where there is a cycle.
  [[nodiscard]] std::vector<StateId> bottom_up();

  // The actions of the first path to a state.
  [[nodiscard]] std::vector<int> first_actions(StateId state) const;
  // "(0, 0) -right-> (1, 0) -end-> (1, 0, 1)": the first path to the state.
  [[nodiscard]] std::string path_text(StateId state) const;
  // Throws Error: "program: <what>; the path there: ...".
  [[noreturn]] void throw_at(StateId state, const std::string& what, ErrorCode code = ErrorCode::kArgument) const;
  // The program's actions of a state. What it refuses is thrown with the path to the state.
  void add_actions(StateId state, std::vector<Transition>& out) const;

  [[nodiscard]] std::size_t bytes() const;

 private:
  // Called where an error was caught: throws it again.
  [[noreturn]] void add_path(const Error& error, StateId state) const;

  enum class Kind : std::uint8_t { kUnknown, kSeen, kExpanded, kEnd };
  struct Node {
    double log_sum = 0.0;
    std::uint64_t first = 0;  // the first of its transitions, or the place of an end
    std::uint32_t count = 0;  // of transitions
    std::uint32_t depth = 0;  // of the first path
    StateId from = 0;         // the state before, on the first path
    int action = 0;           // and the action
    Kind kind = Kind::kUnknown;
    bool is_on_path = false;
  };

  void see(StateId state, StateId from, int action, double log_sum, std::uint32_t depth);
  bool counts(StateId from, const Transition& transition);
  void check_same_sum(StateId from, const Transition& transition) const;
  void check_no_ancestor(StateId from, const Transition& transition) const;
  [[noreturn]] void throw_cycle(StateId from, int action, StateId next) const;

  NumberedProgram& program_;
  const ProgramParts parts_;
  const std::uint32_t max_steps_;
  std::uint32_t depth_ = 0;
  StateId start_ = 0;
  std::vector<Node> nodes_;
  std::vector<Transition> transitions_;
  std::vector<StateId> ends_;
};

// Expands all states that can be reached, unless `is_over` says before one of them that it is enough: then the result
// is false.
template <class IsOver>
bool expand_all(ProgramGraph& graph, const IsOver& is_over) {
  struct Step {
    StateId state;
    std::uint32_t next = 0;  // the place of the next transition
  };
  std::vector<Step> path;
  bool goes_on = true;
  const auto enter = [&](StateId state, StateId from, int action) {
    graph.enter(state, from, action);
    const bool is_done = graph.is_end(state) || graph.is_expanded(state);
    goes_on = is_done || !is_over();
    if (is_done || !goes_on) {
      graph.leave(state);
      return;
    }
    graph.expand(state);
    path.push_back({state});
  };
  enter(graph.start(), graph.start(), 0);
  while (goes_on && !path.empty()) {
    Step& step = path.back();
    const std::span<const Transition> transitions = graph.transitions(step.state);
    if (step.next == transitions.size()) {
      graph.leave(step.state);
      path.pop_back();
      continue;
    }
    const Transition transition = transitions[step.next++];
    enter(transition.next, step.state, transition.action);
  }
  for (const Step& step : path) graph.leave(step.state);
  return goes_on;
}

}  // namespace treesample
