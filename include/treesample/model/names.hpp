// Variables and states by the names that people use.
//
// A variable without a name is called x0, x1, ... by its index, and the states of one without state names are called 0,
// 1, ... A name of the model goes before such a number: where a variable is called "x3", that is the one.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "treesample/model/factor_graph.hpp"

namespace treesample {

std::string variable_name(const FactorGraph& graph, int variable);
std::string state_name(const FactorGraph& graph, int variable, int state);

// Looks names up; the graph must outlive it and stay as it is.
class Names {
 public:
  explicit Names(const FactorGraph& graph);

  [[nodiscard]] const FactorGraph& graph() const { return *graph_; }
  // -1 where there is none.
  [[nodiscard]] int find_variable(std::string_view name) const;
  [[nodiscard]] int find_state(int variable, std::string_view name) const;
  // Throw Error (kArgument) that names what there is not and what was probably meant, and for a name that two
  // variables share.
  [[nodiscard]] int variable(std::string_view name) const;
  [[nodiscard]] int state(int variable, std::string_view name) const;

 private:
  const FactorGraph* graph_;
  std::unordered_map<std::string, int> variables_;  // -1: shared
};

// The names of a list, separated by commas: `lung, tub`. Blanks around them do not count. A name with a comma, a quote
// or blanks at its ends stands in double quotes, and a quote within as two: `"to be, or not", "a ""b"""`. Throws
// Error (kArgument) for an empty name and for a quote that is not closed.
std::vector<std::string> split_names(std::string_view text);
// Such a text again.
std::string joined_names(const std::vector<std::string>& names);
// One name as it stands in a list: quoted where it must be.
std::string quoted_name(std::string_view name);

}  // namespace treesample
