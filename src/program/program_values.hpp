// The value of each state, from the values of ends:
//
//   V(s) = log sum over the actions of s that count of exp(log reward + V(next state))
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "program/program_graph.hpp"
#include "treesample/program/infer_program.hpp"

namespace treesample {

struct ProgramValues {
  std::vector<double> v;      // by state
  std::vector<double> error;  // |V - v| is at most this, by rounding
};

// `leaf` gives the value of an end, or of a state that is not expanded. `order` is ProgramGraph::bottom_up().
ProgramValues program_values(const ProgramGraph& graph, const std::vector<StateId>& order,
                             const std::function<double(StateId)>& leaf);

// The best path where `leaf` gives the values: the largest sum of log rewards and the value of its last state. None
// where nothing is above -inf.
std::optional<ProgramPath> best_path(const ProgramGraph& graph, const std::vector<StateId>& order,
                                     const std::function<double(StateId)>& leaf);

// The distribution of these values: an action has the probability exp(log reward + V(next state) - V(s)). It keeps the
// graph. Null where V(start) is -inf.
std::shared_ptr<const ProgramDistribution> program_distribution(std::shared_ptr<const ProgramGraph> graph,
                                                                std::vector<StateId> order, std::vector<double> v);

}  // namespace treesample
