// Clauses that are being made smaller, with the clauses of each literal.
#pragma once

#include <cstdint>
#include <vector>

#include "count/count_problem.hpp"

namespace treesample {

class ClauseStore {
 public:
  explicit ClauseStore(int num_atoms)
      : values_(2 * static_cast<std::size_t>(num_atoms), 0), clauses_of_(values_.size()) {}

  // Adds a clause of sorted literals; one of one literal is a fact. Literals that are false are left out.
  void add(Clause clause);
  void remove(int index);
  // Removes a literal from a clause.
  void strengthen(int index, Literal literal);
  void set_true(Literal literal);
  // Works off the facts: true clauses go, false literals leave. Returns false at a contradiction.
  bool settle();

  [[nodiscard]] bool is_impossible() const { return is_impossible_; }
  [[nodiscard]] int value(Literal literal) const { return values_[literal]; }
  [[nodiscard]] int size() const { return static_cast<int>(clauses_.size()); }
  // Empty: it was removed.
  [[nodiscard]] const Clause& clause(int index) const { return clauses_[index]; }
  [[nodiscard]] const std::vector<int>& clauses_of(Literal literal) const { return clauses_of_[literal]; }
  [[nodiscard]] const std::vector<Literal>& facts() const { return facts_; }
  // A bit for each of 64 classes of atoms: the literals of a clause are among those of another one only if its bits
  // are.
  [[nodiscard]] std::uint64_t signature(int index) const { return signatures_[index]; }
  // Clauses that were added or became shorter since the last call.
  [[nodiscard]] std::vector<int> take_changed();
  [[nodiscard]] std::vector<Clause> left() const;

 private:
  void sign(int index);

  std::vector<signed char> values_;
  std::vector<std::vector<int>> clauses_of_;
  std::vector<Clause> clauses_;
  std::vector<std::uint64_t> signatures_;
  std::vector<Literal> facts_;
  std::vector<int> changed_;
  std::size_t next_fact_ = 0;
  bool is_impossible_ = false;
};

}  // namespace treesample
