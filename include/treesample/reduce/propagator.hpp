// Finds the states that can still occur, by generalised arc consistency over the -inf entries of table factors.
//
// D_v, the domain of v, is the set of states that are left. A state s in D_v has a support in a table psi_m over v if
// some entry psi_m(x) > -inf has x_v = s and x_u in D_u for all u in the scope. Propagation removes states without a
// support in one of their tables until none is left to remove. No configuration of positive density is ever lost; an
// empty domain proves that there is none. Function factors, and tables without -inf entries, remove nothing and cost
// nothing.
// A clause removes states only when one of its literals is left that can hold. It is looked at until two such literals
// are found, which are kept in its first places.
//
// An entry of a table is one bit. The states of each scope variable have a field of bits of their own in the entry's
// number, last variable lowest:
//
//   number of an entry   [ x_first | ... | x_last ]     high bits = which word, low 6 bits = place in it
//
// so that "x_v in D_v" is one mask per word, and a table of up to 64 entries is checked with a few instructions. Only
// words with a possible entry are kept: at most 12 bytes per entry above -inf. Domains are restored by a trail of
// overwritten words; tables have no state of their own, so that backtracking costs only as much as was changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "treesample/model/factor_graph.hpp"

namespace treesample {

class Propagator {
 public:
  // Propagates the model before any decision. is_consistent() tells the outcome, which undo() cannot revert. The graph
  // need not outlive the propagator.
  explicit Propagator(const FactorGraph& graph);

  // False once a domain is empty, until undo() returns to an earlier mark.
  [[nodiscard]] bool is_consistent() const { return is_consistent_; }
  // assign() keeps only this state, remove() removes it; both propagate. They return false if no configuration of
  // positive density agrees with the domains; the domains are then undefined until undo(). Must not be called while
  // inconsistent. Indices are not checked: this is for inner loops.
  bool assign(int variable, int state);
  bool remove(int variable, int state);

  // A later undo(mark()) restores the present domains; undo(0) restores those after construction.
  [[nodiscard]] std::size_t mark() const { return trail_.size(); }
  void undo(std::size_t mark);

  [[nodiscard]] int num_variables() const { return static_cast<int>(num_left_.size()); }
  [[nodiscard]] int num_left(int variable) const { return num_left_[variable]; }
  [[nodiscard]] bool is_fixed(int variable) const { return num_left_[variable] == 1; }
  [[nodiscard]] bool is_left(int variable, int state) const {
    return (domains_[first_domain_word_[variable] + static_cast<std::size_t>(state / 64)] >> (state % 64) & 1) != 0;
  }
  // The lowest remaining state that is at least `from`, or -1.
  [[nodiscard]] int next_left(int variable, int from) const;
  // The state of a fixed variable.
  [[nodiscard]] int state(int variable) const { return next_left(variable, 0); }

  // True if some table with a -inf entry contains the variable.
  [[nodiscard]] bool is_constrained(int variable) const { return !constraints_of_[variable].empty(); }
  // The factor that caused the last contradiction; -1 if it was a call of assign or remove.
  [[nodiscard]] int failed_factor() const { return failed_factor_; }
  // Words of tables looked at so far: a measure of time that is the same on every machine.
  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  // One variable of a table: the bits of an entry's number that are its state.
  struct Field {
    int variable = 0;
    int low_shift = 0;                // place of the field's part within a word
    int num_low_bits = 0;             // width of that part
    int word_shift = 0;               // place of the rest in the number of the word
    std::uint32_t word_mask = 0;      // width of the rest, as a mask
    std::size_t first_mask = 0;       // in masks_ and used_: one word per value of the rest
    std::uint64_t first_pattern = 0;  // places in a word whose low part is 0

    [[nodiscard]] std::size_t mask_of_word(std::uint32_t word) const {
      return first_mask + (word >> word_shift & word_mask);
    }
    [[nodiscard]] std::size_t mask_of_state(int state) const {
      return first_mask + static_cast<std::size_t>(state >> num_low_bits);
    }
    [[nodiscard]] std::uint64_t pattern(int state) const {
      return first_pattern << ((state & ((1 << num_low_bits) - 1)) << low_shift);
    }
  };
  struct Constraint {
    int factor = 0;
    std::size_t first_field = 0, last_field = 0;      // in fields_
    std::size_t first_word = 0, last_word = 0;        // in words_ and entries_
    std::size_t first_literal = 0, last_literal = 0;  // in literals_, of a clause
  };
  struct ScopeLiteral {
    int variable = 0;
    ClauseLiteral literal;
  };
  struct Overwritten {
    int variable = 0;
    std::uint32_t word = 0;  // in domains_
    std::uint64_t old = 0;
  };

  void add_constraint(const FactorGraph& graph, int factor);
  void add_clause(const FactorGraph& graph, int factor);
  void add_fields(const FactorGraph& graph, const std::vector<int>& scope);
  void set_domain_word(int variable, std::size_t word, std::uint64_t value);
  void enqueue(int variable, int except);
  bool propagate();
  bool revise(int constraint_index);
  bool revise_clause(int constraint_index);
  [[nodiscard]] bool can_hold(const ScopeLiteral& literal) const;
  bool has_all_supports(const Constraint& constraint) const;
  bool fail(int factor);

  std::vector<std::size_t> first_domain_word_;
  std::vector<std::uint64_t> domains_;
  std::vector<int> num_left_;
  std::vector<Overwritten> trail_;
  std::vector<Field> fields_;
  std::vector<ScopeLiteral> literals_;
  std::vector<Constraint> constraints_;
  std::vector<std::vector<int>> constraints_of_;  // per variable
  std::vector<std::uint32_t> words_;              // numbers of the words that have a possible entry ...
  std::vector<std::uint64_t> entries_;            // ... and their bits
  std::vector<std::uint64_t> masks_, used_;       // per field: entries inside the domain; entries found possible
  std::vector<int> queue_;                        // constraints to revise
  std::vector<char> is_queued_;
  std::int64_t work_ = 0;
  int failed_factor_ = -1;
  bool is_consistent_ = true;
  bool was_consistent_ = true;  // after construction
};

}  // namespace treesample
