// Rewards of ends that were not evaluated, learned from those that were (blackbox/black_box.hpp).
#pragma once

#include <optional>
#include <vector>

#include "program/program_graph.hpp"
#include "program/program_rewards.hpp"
#include "space/run_watch.hpp"
#include "treesample/blackbox/black_box.hpp"
#include "treesample/program/infer_program.hpp"

namespace treesample {

// The ends of a graph whose states are all expanded, as configurations of a black box: `encode` gives the states of
// its variables; without it they are the numbers that the end consists of, or else the actions of the first path there.
class ProgramEncoding {
 public:
  // `order` is ProgramGraph::bottom_up(). Throws Error (kArgument) where the numbers of `encode` are negative, are not
  // as many for each end, or are the same for two ends.
  ProgramEncoding(const ProgramGraph& graph, const std::vector<StateId>& order);

  // Whether a black box can enumerate the configurations.
  [[nodiscard]] bool fits() const { return num_cells_ <= BlackBox::kMostEnumerated; }
  [[nodiscard]] const std::vector<int>& num_states() const { return num_states_; }
  // Whether states are levels: numbers whose order matters.
  [[nodiscard]] bool is_ordered() const { return is_ordered_; }
  [[nodiscard]] const std::vector<int>& states(StateId end) const { return states_[graph_.end_place(end)]; }
  // The log of the sum of the weights of all paths to an end, without its reward: what the black box adds to it.
  [[nodiscard]] double log_weight(StateId end) const { return log_weights_[graph_.end_place(end)]; }
  // The place of a configuration, the last variable changing fastest, and the end there.
  [[nodiscard]] std::size_t cell(const std::vector<int>& states) const;
  [[nodiscard]] std::optional<StateId> end_at(std::size_t cell) const;

 private:
  void read_states();
  void check_features(StateId end, const std::vector<int>& states) const;
  [[nodiscard]] bool has_natural_features() const;
  void weigh(const std::vector<StateId>& order);
  void place();

  const ProgramGraph& graph_;
  std::vector<std::vector<int>> states_;  // by the place of the end
  std::vector<int> num_states_;
  std::vector<double> log_weights_;
  std::vector<std::int64_t> ends_;  // by cell; -1 where there is none
  double num_cells_ = 1.0;
  bool is_ordered_ = false;
};

struct ProgramGuess {
  StopReason stop = StopReason::kBudget;
  std::vector<double> values;  // by the place of the end: what is believed of V(end)
  double log_z = 0.0;          // an estimate
  std::optional<LogBounds> interval = {};
  double confidence = 0.0;
};

// Evaluates rewards until a limit is reached.
ProgramGuess learn_rewards(const ProgramEncoding& encoding, const ProgramGraph& graph, ProgramRewards& rewards,
                           const ProgramOptions& options, const Limits& limits, const RunWatch& watch);

}  // namespace treesample
