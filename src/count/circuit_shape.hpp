// The nodes of a circuit (treesample/count/circuit.hpp) in memory.
//
// States are numbered consecutively over all variables. A node is stored as its number of terms and, for each term,
//
//   n, then n fixed states;   m, then m free states, grouped by variable;   k, then k earlier nodes;
//   0, or 1 + the index of its constant.
//
// The first fixed state of a term belongs to the variable that is summed over. The last node is the whole model.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "count/count_number.hpp"

namespace treesample {

struct CircuitTerm {
  std::span<const std::uint32_t> fixed, free, children;
  std::uint32_t constant = 0;  // 0: none
};

struct CircuitShape {
  std::vector<int> num_states;             // by variable
  std::vector<std::uint32_t> first_state;  // by variable, and one entry more for the end
  std::vector<int> variable_of;            // by state
  std::vector<CountNumber> state_weights;  // those of the model
  std::vector<CountNumber> constants;
  std::vector<std::uint64_t> nodes;  // where each node begins in `words`, and the end
  std::vector<std::uint32_t> words;
  double log_range = 0.0;                      // no product is beyond exp(+-log_range)
  double log_constant = 0.0, log_error = 0.0;  // of the factor that Z is multiplied by, and its error

  [[nodiscard]] std::size_t num_nodes() const { return nodes.size() - 1; }
  [[nodiscard]] std::size_t root() const { return num_nodes() - 1; }

  void set_variables(std::vector<int> states) {
    num_states = std::move(states);
    first_state.assign(1, 0);
    for (std::size_t v = 0; v < num_states.size(); ++v) {
      variable_of.insert(variable_of.end(), static_cast<std::size_t>(num_states[v]), static_cast<int>(v));
      first_state.push_back(static_cast<std::uint32_t>(variable_of.size()));
    }
    state_weights.assign(variable_of.size(), CountNumber::one());
  }

  // Calls visit(term) for each term of a node.
  template <typename Visit>
  void for_each_term(std::size_t node, Visit visit) const {
    const std::uint32_t* word = words.data() + nodes[node];
    const auto list = [&word]() -> std::span<const std::uint32_t> {
      const std::uint32_t size = *word++;
      word += size;
      return {word - size, size};
    };
    for (std::uint32_t left = *word++; left > 0; --left) {
      CircuitTerm term;
      term.fixed = list();
      term.free = list();
      term.children = list();
      term.constant = *word++;
      visit(term);
    }
  }
  // Calls visit(states of one variable) for each free variable of a term.
  template <typename Visit>
  void for_each_free(const CircuitTerm& term, Visit visit) const {
    for (std::size_t first = 0; first < term.free.size();) {
      std::size_t last = first + 1;
      while (last < term.free.size() && variable_of[term.free[last]] == variable_of[term.free[first]]) ++last;
      visit(term.free.subspan(first, last - first));
      first = last;
    }
  }
};

}  // namespace treesample
