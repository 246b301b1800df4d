#include "treesample/model/only_if.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {

std::vector<double> only_if_table(int num_states_of_other, std::span<const int> states, int num_states) {
  check_argument(!states.empty(), "add_only_if", "there are no states in which the variable matters");
  const auto width = static_cast<std::size_t>(num_states);
  std::vector<double> table(static_cast<std::size_t>(num_states_of_other) * width, kNegInf);
  for (std::size_t first = 0; first < table.size(); first += width) table[first] = 0.0;
  for (const int s : states) {
    check_argument(s >= 0 && s < num_states_of_other, "add_only_if",
                   fmt::format("state {} of the other variable, allowed are 0 to {}", s, num_states_of_other - 1));
    for (std::size_t i = 0; i < width; ++i) table[static_cast<std::size_t>(s) * width + i] = 0.0;
  }
  return table;
}

int add_only_if(FactorGraph& graph, int variable, int other, std::span<const int> states) {
  for (const int v : {variable, other}) {
    check_argument(v >= 0 && v < graph.num_variables(), "add_only_if",
                   fmt::format("variable {}, allowed are 0 to {}", v, graph.num_variables() - 1));
  }
  return graph.add_table({other, variable}, only_if_table(graph.num_states(other), states, graph.num_states(variable)));
}

}  // namespace treesample
