// Variables and states by the names that people use.
//
// A variable without a name is called x0, x1, ... by its index. States without names are called 0, 1, ... Names in the
// model take precedence over these: if a variable is called "x3", then "x3" means that variable.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "treesample/model/factor_graph.hpp"

namespace treesample {

std::string variable_name(const FactorGraph& graph, int variable);
std::string state_name(const FactorGraph& graph, int variable, int state);

// Looks names up. The graph must outlive it and must not change.
class Names {
 public:
  explicit Names(const FactorGraph& graph);

  [[nodiscard]] const FactorGraph& graph() const { return *graph_; }
  // -1 if there is no such variable.
  [[nodiscard]] int find_variable(std::string_view name) const;
  [[nodiscard]] int find_state(int variable, std::string_view name) const;
  // Both throw Error (kArgument) for an unknown name, suggesting the one that was probably meant, and for a name that
  // two variables share.
  [[nodiscard]] int variable(std::string_view name) const;
  [[nodiscard]] int state(int variable, std::string_view name) const;

 private:
  const FactorGraph* graph_;
  std::unordered_map<std::string, int> variables_;  // by name; -1: several variables share it
};

// The names in a list separated by commas: `lung, tub`. Blanks around names are ignored. A name with a comma, a quote
// or blanks at its ends goes in double quotes, where a quote is written twice: `"to be, or not", "a ""b"""`. Throws
// Error (kArgument) for an empty name and for a quote that is not closed.
std::vector<std::string> split_names(std::string_view text);
// The inverse: the text of such a list.
std::string joined_names(const std::vector<std::string>& names);
// One name as it appears in a list, quoted if necessary.
std::string quoted_name(std::string_view name);

}  // namespace treesample
