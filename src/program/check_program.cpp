// Looks for wrong declarations of a program where few states are enough to see them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "program/program_graph.hpp"
#include "program/program_rewards.hpp"
#include "treesample/error.hpp"
#include "treesample/program/infer_program.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

class ProgramCheck {
 public:
  ProgramCheck(NumberedProgram& program, int most_states, int most_rewards)
      : program_(program), graph_(program, most_states), limits_{.calls = most_rewards} {}

  std::string run(std::size_t most_states) {
    explore(most_states);
    if (graph_.parts().has_log_paths) compare_paths();
    compare_bounds();
    return fmt::format("{} {}, {} of {} evaluated: no mistake was found", counted(num_expanded_, "state"),
                       is_complete_ ? "(all of them)" : "(the first ones)", rewards_.num_known(),
                       counted(static_cast<std::int64_t>(graph_.ends().size()), "end"));
  }

 private:
  void explore(std::size_t most_states);
  void expand(StateId state);
  void compare_twice(StateId state);
  void compare_paths();
  void compare_bounds();

  NumberedProgram& program_;
  ProgramGraph graph_;
  const Limits limits_;
  ProgramRewards rewards_{graph_, limits_, nullptr};
  std::vector<StateId> queue_;  // breadth first
  std::unordered_map<StateId, std::size_t> depths_;
  std::size_t num_visited_ = 0;  // of the queue
  std::int64_t num_expanded_ = 0;
  bool is_complete_ = false;
  bool is_graded_ = true;  // all paths to a state have the same length, as far as they were seen
};

void ProgramCheck::explore(std::size_t most_states) {
  queue_.push_back(graph_.start());
  depths_[graph_.start()] = 0;
  for (; num_visited_ < queue_.size() && queue_.size() < most_states; ++num_visited_) {
    if (!graph_.is_end(queue_[num_visited_])) expand(queue_[num_visited_]);
  }
  is_complete_ = num_visited_ == queue_.size();
  if (is_complete_) {
    queue_ = graph_.bottom_up();  // finds cycles
    std::reverse(queue_.begin(), queue_.end());
  }
  if (limits_.calls > 0) rewards_.evaluate(graph_.ends());
}

void ProgramCheck::expand(StateId state) {
  compare_twice(state);
  ++num_expanded_;
  for (const Transition& t : graph_.expand(state)) {
    const auto [place, is_new] = depths_.try_emplace(t.next, depths_[state] + 1);
    if (is_new) queue_.push_back(t.next);
    is_graded_ = is_graded_ && place->second == depths_[state] + 1;
  }
}

void ProgramCheck::compare_twice(StateId state) {
  std::vector<Transition> first, again;
  graph_.add_actions(state, first);
  graph_.add_actions(state, again);
  const auto is_same = [](const Transition& a, const Transition& b) {
    return a.next == b.next && a.action == b.action && a.log_reward == b.log_reward;
  };
  if (!std::equal(first.begin(), first.end(), again.begin(), again.end(), is_same)) {
    graph_.throw_at(state, "the state has other actions, or other log rewards, when it is asked again");
  }
}

// An end stands for a whole number of objects, each with exp(log_paths) paths. The number of paths is known where all
// of them were seen: everywhere, or up to the depth of the first state that was not visited.
void ProgramCheck::compare_paths() {
  if (!is_complete_ && !is_graded_) return;
  std::unordered_map<StateId, double> num_paths{{graph_.start(), 1.0}};
  for (const StateId state : queue_) {
    for (const Transition& t : graph_.transitions(state)) num_paths[t.next] += num_paths[state];
  }
  for (const StateId end : graph_.ends()) {
    if (!is_complete_ && depths_[end] > depths_[queue_[num_visited_]]) continue;
    const double log_paths = program_.log_paths(end), objects = num_paths[end] / std::exp(log_paths);
    constexpr double kRounding = 1e-6;
    if (objects > 1.0 - kRounding && std::abs(objects - std::round(objects)) <= kRounding * objects) continue;
    graph_.throw_at(end, fmt::format("log_paths says that {:.6g} paths lead to each object of this end, but {:.6g} "
                                     "paths lead to the end, which is no multiple of that",
                                     std::exp(log_paths), num_paths[end]));
  }
}

void ProgramCheck::compare_bounds() {
  if (!graph_.parts().has_upper) return;
  for (const StateId end : graph_.ends()) {
    if (!rewards_.is_known(end) || !(rewards_.value(end) > program_.upper(end) + 1e-9)) continue;
    graph_.throw_at(end, fmt::format("upper is {}, but the log reward of this end is {}", program_.upper(end),
                                     rewards_.value(end)));
  }
}

}  // namespace

std::string check_program(NumberedProgram& program, int most_states, int most_rewards) {
  check_range("check_program", "most_states", most_states, 1, 100'000'000);
  check_range("check_program", "most_rewards", most_rewards, 0, 100'000'000);
  program.compare_merged(true);
  try {
    std::string text = ProgramCheck(program, most_states, most_rewards).run(static_cast<std::size_t>(most_states));
    program.compare_merged(false);
    return text;
  } catch (...) {
    program.compare_merged(false);
    throw;
  }
}

}  // namespace treesample
