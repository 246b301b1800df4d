// After decisions the remaining model falls apart into components of atoms that share no clause, group or soft table.
//
// The key of a component lists everything that determines its count: its open atoms, the clauses that have assigned
// atoms and are not yet true, and the residues of its soft tables. Other things need not be listed:
//   - a clause with only open atoms: it is in the component exactly when its atoms are;
//   - a clause of two literals: after propagation it is either true or completely open;
//   - a group: its open atoms tell which states are left;
//   - the states of the fixed variables of a soft table: its residue holds everything that matters about them.
// The key stores these lists in rising order, as differences with 7 bits per byte (the last byte of a number has the
// eighth bit set). Components with equal keys are equal: docs/methods/zeros.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "count/circuit_trace.hpp"
#include "count/count_problem.hpp"
#include "count/zero_trail.hpp"

namespace treesample {

// The place of a component in ComponentStack's memory.
struct Component {
  std::size_t first = 0;  // atoms, clauses and soft tables, stored one after the other
  std::uint32_t num_atoms = 0, num_clauses = 0, num_soft_tables = 0;

  [[nodiscard]] std::size_t end() const { return first + num_atoms + num_clauses + num_soft_tables; }
};

class ComponentStack {
 public:
  // All arguments must outlive it.
  ComponentStack(const CountProblem& problem, std::vector<SoftTable>& soft_tables, const ZeroTrail& trail);

  // Pushes the whole problem as one component, as if nothing were known.
  void push_all();
  // Pushes the components into which the rest of a component falls, the smallest first. Returns the weight of its fixed
  // variables, settled tables and free variables, or 0 at once if a soft table has no entry left.
  CountNumber split(std::size_t index, SplitTrace* trace = nullptr);
  [[nodiscard]] std::size_t size() const { return components_.size(); }
  void shrink(std::size_t size);
  // All components, saved to be put back later.
  struct Saved {
    std::vector<std::uint32_t> memory;
    std::vector<Component> components;
  };
  [[nodiscard]] Saved save() const { return {memory_, components_}; }
  void restore(Saved saved) {
    memory_ = std::move(saved.memory);
    components_ = std::move(saved.components);
  }

  [[nodiscard]] const Component& component(std::size_t index) const { return components_[index]; }
  [[nodiscard]] std::span<const std::uint32_t> atoms(std::size_t index) const {
    return {memory_.data() + components_[index].first, components_[index].num_atoms};
  }
  [[nodiscard]] std::span<const std::uint32_t> clauses(std::size_t index) const {
    return {memory_.data() + components_[index].first + components_[index].num_atoms, components_[index].num_clauses};
  }
  [[nodiscard]] std::span<const std::uint32_t> soft_tables(std::size_t index) const {
    const Component& c = components_[index];
    return {memory_.data() + c.first + c.num_atoms + c.num_clauses, c.num_soft_tables};
  }
  // The literals of a clause of three or more literals.
  [[nodiscard]] std::span<const Literal> literals(std::uint32_t clause) const {
    return {literals_.data() + first_literal_[clause], first_literal_[clause + 1] - first_literal_[clause]};
  }
  // The trail must be as it was when the component was split off.
  void make_key(std::size_t index, std::string& key) const;
  // An upper bound of the count: the sum of the weights of the live states of each variable.
  [[nodiscard]] CountNumber upper_bound(std::size_t index) const;
  // The sum of the weights of the live states.
  [[nodiscard]] CountNumber live_weight(int variable) const;

  [[nodiscard]] std::uint64_t bytes() const;

 private:
  // Lists of numbers in one array, one list per atom or variable.
  struct Lists {
    std::vector<std::uint32_t> first, items;
    [[nodiscard]] std::span<const std::uint32_t> of(std::size_t i) const {
      return {items.data() + first[i], first[i + 1] - first[i]};
    }
    void make(std::size_t size, std::span<const std::pair<std::uint32_t, std::uint32_t>> pairs);
  };

  void walk(std::uint32_t start);
  void reach(std::uint32_t atom);
  void reach_variable(int variable);
  void visit_clause(std::uint32_t clause);
  void visit_soft_table(std::uint32_t table);
  CountNumber fixed_weight(std::size_t index, SplitTrace* trace);
  void push_found(std::size_t index);

  const CountProblem& problem_;
  std::vector<SoftTable>& soft_tables_;
  const ZeroTrail& trail_;
  std::vector<Literal> literals_;  // of the clauses of three or more literals
  std::vector<std::uint32_t> first_literal_;
  Lists clauses_of_;      // by atom
  Lists partners_of_;     // by atom: the other atoms of its clauses of two literals
  Lists soft_tables_of_;  // by variable

  std::vector<std::uint32_t> memory_;
  std::vector<Component> components_;

  // State of one split. The marks of this split are at least first_mark_: a component's mark is its number +
  // first_mark_.
  std::uint32_t first_mark_ = 1, mark_ = 1;
  std::vector<std::uint32_t> atom_mark_, clause_mark_, table_mark_;
  std::vector<std::uint32_t> table_turn_;  // first_mark_ for an unsettled table of the component that is split
  std::vector<std::uint32_t> queue_;
  struct Found {
    std::uint32_t num_atoms = 0, num_clauses = 0, num_soft_tables = 0;
    bool has_clause = false;  // of any length
    int variable = -1;        // of the first atom
  };
  std::vector<Found> found_;
  std::vector<std::uint32_t> order_;
  std::vector<std::size_t> places_;
};

}  // namespace treesample
