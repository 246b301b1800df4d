#include "program/program_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

constexpr std::size_t kStepsShown = 8, kStateBytesShown = 60;  // in messages

}  // namespace

ProgramGraph::ProgramGraph(NumberedProgram& program, int max_steps)
    : program_(program), parts_(program.parts()), max_steps_(static_cast<std::uint32_t>(max_steps)) {
  start_ = program.start();
  see(start_, start_, 0, 0.0, 0);
}

void ProgramGraph::see(StateId state, StateId from, int action, double log_sum, std::uint32_t depth) {
  if (state >= nodes_.size()) nodes_.resize(std::max<std::size_t>(state + 1, program_.num_states()));
  Node& node = nodes_[state];
  node = {log_sum, 0, 0, depth, from, action, Kind::kSeen, false};
  bool is_end = false;
  try {
    is_end = program_.is_end(state);
  } catch (const Error& error) {
    add_path(error, state);
  }
  if (is_end) node.kind = Kind::kEnd;
  if (depth > max_steps_) {
    throw_at(state, fmt::format("no end after {} actions (max_steps); does the program end at all?", max_steps_));
  }
  depth_ = std::max(depth_, depth);
  if (!is_end) return;
  node.first = ends_.size();
  ends_.push_back(state);
}

std::span<const Transition> ProgramGraph::expand(StateId state) {
  const std::size_t first = transitions_.size();
  add_actions(state, transitions_);
  std::size_t kept = first;
  for (std::size_t i = first; i < transitions_.size(); ++i) {
    const Transition transition = transitions_[i];
    if (!is_log_reward(transition.log_reward)) {
      throw_at(state,
               fmt::format("the log reward of action {} is {}, {}", program_.action_text(state, transition.action),
                           transition.log_reward, kLogRewardsAllowed),
               ErrorCode::kNumeric);
    }
    if (transition.log_reward != kNegInf && counts(state, transition)) transitions_[kept++] = transition;
  }
  transitions_.resize(kept);
  Node& node = nodes_[state];
  node.kind = Kind::kExpanded;
  node.first = first;
  node.count = static_cast<std::uint32_t>(kept - first);
  return transitions(state);
}

// Where objects are ends, the actions that count are a tree: each state belongs to the first action that led there.
bool ProgramGraph::counts(StateId from, const Transition& transition) {
  const StateId next = transition.next;
  if (next >= nodes_.size() || nodes_[next].kind == Kind::kUnknown) {
    see(next, from, transition.action, nodes_[from].log_sum + transition.log_reward, nodes_[from].depth + 1);
    return true;
  }
  if (parts_.objects == ProgramObjects::kPaths) return true;
  if (nodes_[next].is_on_path) throw_cycle(from, transition.action, next);
  check_no_ancestor(from, transition);
  check_same_sum(from, transition);
  return false;
}

// The states before it on its first path are known only by their depth where no search is on them.
void ProgramGraph::check_no_ancestor(StateId from, const Transition& transition) const {
  StateId state = from;
  while (nodes_[state].depth > nodes_[transition.next].depth) state = nodes_[state].from;
  if (state == transition.next) throw_cycle(from, transition.action, transition.next);
}

void ProgramGraph::check_same_sum(StateId from, const Transition& transition) const {
  constexpr double kTolerance = 1e-9;  // sums along different paths round differently
  const double here = nodes_[from].log_sum + transition.log_reward, first = nodes_[transition.next].log_sum;
  if (std::abs(here - first) <= kTolerance * (1.0 + std::max(std::abs(here), std::abs(first)))) return;
  throw_at(transition.next,
           fmt::format("two paths lead to the state {}, with log rewards that add up to {} and {}, so that it is not "
                       "one object (objects = ends): let the state tell them apart, or declare that objects are paths; "
                       "the other path: {} -{}-> {}",
                       shortened(program_.text(transition.next), kStateBytesShown), first, here, path_text(from),
                       program_.action_text(from, transition.action),
                       shortened(program_.text(transition.next), kStateBytesShown)));
}

void ProgramGraph::enter(StateId state, StateId from, int action) {
  if (nodes_[state].is_on_path) throw_cycle(from, action, state);
  nodes_[state].is_on_path = true;
}

void ProgramGraph::leave_all() {
  for (Node& node : nodes_) node.is_on_path = false;
}

void ProgramGraph::throw_cycle(StateId from, int action, StateId next) const {
  throw_at(from, fmt::format("a cycle: action {} leads from {} back to {}", program_.action_text(from, action),
                             shortened(program_.text(from), kStateBytesShown),
                             shortened(program_.text(next), kStateBytesShown)));
}

std::vector<StateId> ProgramGraph::bottom_up() {
  struct Step {
    StateId state;
    std::uint32_t next = 0;
  };
  std::vector<StateId> order;
  std::vector<bool> is_done(nodes_.size());
  std::vector<Step> path{{start_}};
  enter(start_, start_, 0);
  while (!path.empty()) {
    Step& step = path.back();
    const std::span<const Transition> next = transitions(step.state);
    if (step.next < next.size()) {
      const Transition& transition = next[step.next++];
      if (is_done[transition.next]) continue;
      enter(transition.next, step.state, transition.action);
      path.push_back({transition.next});
      continue;
    }
    order.push_back(step.state);
    is_done[step.state] = true;
    leave(step.state);
    path.pop_back();
  }
  return order;
}

std::vector<int> ProgramGraph::first_actions(StateId state) const {
  std::vector<int> actions(nodes_[state].depth);
  for (std::size_t i = actions.size(); i-- > 0; state = nodes_[state].from) actions[i] = nodes_[state].action;
  return actions;
}

void ProgramGraph::add_actions(StateId state, std::vector<Transition>& out) const {
  try {
    program_.actions(state, out);
  } catch (const Error& error) {
    add_path(error, state);
  }
}

// What a program refuses is a mistake in its states, which the path shows. Other errors, such as those of a process,
// are what they are.
void ProgramGraph::add_path(const Error& error, StateId state) const {
  if (error.code() != ErrorCode::kArgument) throw;
  throw Error(error.code(), fmt::format("{}; the path there: {}", error.what(), path_text(state)));
}

std::string ProgramGraph::path_text(StateId state) const {
  std::vector<StateId> states{state};
  while (states.size() < kStepsShown && states.back() != start_) states.push_back(nodes_[states.back()].from);
  std::string text = states.back() == start_ ? "" : "... ";
  for (std::size_t i = states.size(); i-- > 0;) {
    if (i + 1 < states.size()) {
      text += fmt::format(" -{}-> ", program_.action_text(states[i + 1], nodes_[states[i]].action));
    }
    text += shortened(program_.text(states[i]), kStateBytesShown);
  }
  return text;
}

void ProgramGraph::throw_at(StateId state, const std::string& what, ErrorCode code) const {
  throw Error(code, fmt::format("program: {}; the path there: {}", what, path_text(state)));
}

std::size_t ProgramGraph::bytes() const {
  return nodes_.capacity() * sizeof(Node) + transitions_.capacity() * sizeof(Transition) +
         ends_.capacity() * sizeof(StateId) + program_.bytes();
}

}  // namespace treesample
