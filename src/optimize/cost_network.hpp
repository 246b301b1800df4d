// Cost functions whose costs are shifted to their variables and on to a lower bound, with a trail to undo it.
//
//   cost(x) = bottom + sum over v of unary_v(x_v) + sum over f of table_f(x_S) - sum over v in S of shift_{f,v}(x_v)
//
// All three parts stay >= 0, so that `bottom` is a lower bound. Projection takes the least cost that f has for a state
// of v to unary_v; extension gives a part of unary_v back to f; and the least of unary_v goes to `bottom`. Tables are
// never changed: what was shifted stands beside them, so that functions of any number of variables are treated alike.
// A state whose cost reaches `top - bottom` is removed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "optimize/cost_tables.hpp"

namespace treesample {

class CostNetwork {
 public:
  // A variable in the scope of a function.
  struct Place {
    int variable = 0;
    std::size_t stride = 1;  // in the table
    std::size_t shift = 0;   // where its shifts begin
  };
  struct Function {
    int first_place = 0, num_places = 0;
    const Cost* table = nullptr;
  };
  struct Use {
    int function = 0, place = 0;  // the place by its index in the scope
  };
  // What changed since the last call of clear_changes(), for each variable.
  enum Change : std::uint8_t { kNone = 0, kRemoved = 1, kRaised = 2 };

  // The tables must outlive the object.
  explicit CostNetwork(const CostTables& model);

  [[nodiscard]] int num_variables() const { return static_cast<int>(size_.size()); }
  [[nodiscard]] int num_functions() const { return static_cast<int>(functions_.size()); }
  [[nodiscard]] int size(int v) const { return size_[v]; }  // states that are left
  [[nodiscard]] std::span<const int> states(int v) const {
    return {live_.data() + first_state_[v], static_cast<std::size_t>(size_[v])};
  }
  [[nodiscard]] bool has(int v, int state) const { return position_[first_state_[v] + state] < size_[v]; }
  [[nodiscard]] Cost unary(int v, int state) const { return unary_[first_state_[v] + state]; }
  [[nodiscard]] Cost bottom() const { return bottom_; }
  [[nodiscard]] Cost top() const { return top_; }
  [[nodiscard]] std::span<const Use> uses(int v) const { return uses_[v]; }
  [[nodiscard]] std::span<const Place> places(int f) const {
    return {places_.data() + functions_[f].first_place, static_cast<std::size_t>(functions_[f].num_places)};
  }
  // Open variables are those with more than one state left.
  [[nodiscard]] std::span<const int> open() const { return {open_.data(), static_cast<std::size_t>(num_open_)}; }

  void set_top(Cost top) { top_ = top; }
  // False: no state is left, or the bottom has reached the top.
  [[nodiscard]] bool remove(int v, int state);
  [[nodiscard]] bool assign(int v, int state);
  // The least unary cost goes to the bottom. False as above.
  [[nodiscard]] bool lift(int v);
  // Removes all states that cost too much. False as above.
  [[nodiscard]] bool prune();
  // From now on only states of these variables are removed by prune(); none: of all. Returns those before.
  [[nodiscard]] std::vector<int> exchange_focus(std::vector<int> variables) {
    return std::exchange(focus_, std::move(variables));
  }
  [[nodiscard]] bool has_focus() const { return !focus_.empty(); }

  // least[i] = the least cost of f given the i-th state of the variable at `place`, where the variables at the places
  // in `mask` add their unary costs. kTopLine and more: impossible.
  void least(int f, int place, std::uint64_t mask, std::span<Cost> least);
  // Takes the least costs of f to the variable at `place`. False as above.
  [[nodiscard]] bool project(int f, int place);
  // The same after as much as helps was extended from the variables in `mask`.
  [[nodiscard]] bool extend_and_project(int f, int place, std::uint64_t mask);
  // Moves a share of the unary costs of v to f.
  void extend(int f, int place, std::span<const Cost> amounts);

  // Undone to the last mark, which is removed.
  void mark();
  void undo();
  [[nodiscard]] int num_marks() const { return static_cast<int>(marks_.size()); }

  [[nodiscard]] std::uint8_t changes(int v) const { return changes_[v]; }
  [[nodiscard]] const std::vector<int>& changed() const { return changed_; }
  void clear_changes();
  // Units of work so far.
  [[nodiscard]] std::int64_t num_steps() const { return num_steps_; }

 private:
  struct Term {
    std::size_t offset = 0;
    Cost cost = 0;
  };
  struct Saved {
    Cost* where = nullptr;
    Cost old = 0;
  };
  struct Mark {
    std::size_t num_saved = 0, num_removed = 0;
    Cost bottom = 0;
    int num_open = 0;
  };

  void set(Cost& where, Cost value) {
    if (!marks_.empty()) saved_.push_back({&where, where});
    where = value;
  }
  void note(int v, Change change);
  void scan(const Cost* table, int place, std::span<Cost> least);
  Cost least_of(const Cost* table, std::size_t depth) const;
  void set_terms(int f, std::size_t at, std::uint64_t mask);
  void extend_for(int f, int place, std::uint64_t mask, std::span<const Cost> gains);

  std::vector<int> first_state_, size_, live_, position_;
  std::vector<int> open_, open_position_;
  int num_open_ = 0;
  std::vector<Cost> unary_, shifts_;
  std::vector<Function> functions_;
  std::vector<Place> places_;
  std::vector<std::vector<Use>> uses_;
  Cost bottom_ = 0, top_ = kTopLine;
  std::vector<int> focus_;
  std::vector<Saved> saved_;
  std::vector<int> removed_;  // the variables that lost a state
  std::vector<Mark> marks_;
  std::vector<std::uint8_t> changes_;
  std::vector<int> changed_;
  std::vector<std::vector<Term>> terms_;  // scratch, by place: what each state that is left adds
  std::size_t num_places_ = 0;            // scratch: of the function that is looked at
  std::vector<int> loops_;                // scratch: the other places with several states
  std::vector<Cost> amounts_, gains_;
  std::int64_t num_steps_ = 0;
};

}  // namespace treesample
