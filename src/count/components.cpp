#include "count/components.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace treesample {
namespace {

void append_number(std::string& key, std::uint32_t number) {
  for (; number >= 128; number >>= 7) key.push_back(static_cast<char>(number & 127U));
  key.push_back(static_cast<char>(number | 128U));
}

// Appends the differences of rising numbers, plus 1 each, then a 0.
void append_list(std::string& key, std::span<const std::uint32_t> list) {
  std::uint32_t last = 0;
  for (const std::uint32_t number : list) {
    append_number(key, number + 1 - last);
    last = number + 1;
  }
  append_number(key, 0);
}

}  // namespace

void ComponentStack::Lists::make(std::size_t size, std::span<const std::pair<std::uint32_t, std::uint32_t>> pairs) {
  first.assign(size + 1, 0);
  for (const auto& [from, to] : pairs) ++first[from + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  items.reserve(pairs.size());
  for (const auto& [from, to] : pairs) items.push_back(to);
}

ComponentStack::ComponentStack(const CountProblem& problem, std::vector<SoftTable>& soft_tables, const ZeroTrail& trail)
    : problem_(problem), soft_tables_(soft_tables), trail_(trail) {
  using Pair = std::pair<std::uint32_t, std::uint32_t>;
  std::vector<Pair> of_clauses, of_pairs, of_tables;
  first_literal_.push_back(0);
  for (const Clause& clause : problem.clauses) {
    if (clause.size() == 2) {
      const auto a = static_cast<std::uint32_t>(atom_of(clause[0])), b = static_cast<std::uint32_t>(atom_of(clause[1]));
      of_pairs.emplace_back(a, b);
      of_pairs.emplace_back(b, a);
    } else if (clause.size() > 2) {
      const auto number = static_cast<std::uint32_t>(first_literal_.size() - 1);
      for (const Literal literal : clause) of_clauses.emplace_back(atom_of(literal), number);
      literals_.insert(literals_.end(), clause.begin(), clause.end());
      first_literal_.push_back(static_cast<std::uint32_t>(literals_.size()));
    }
  }
  for (std::uint32_t t = 0; t < soft_tables.size(); ++t) {
    for (const int v : soft_tables[t].scope()) of_tables.emplace_back(v, t);
  }
  for (auto* const pairs : {&of_clauses, &of_pairs, &of_tables}) {
    std::sort(pairs->begin(), pairs->end());
    pairs->erase(std::unique(pairs->begin(), pairs->end()), pairs->end());
  }
  const auto num_atoms = static_cast<std::size_t>(problem.num_atoms());
  clauses_of_.make(num_atoms, of_clauses);
  partners_of_.make(num_atoms, of_pairs);
  soft_tables_of_.make(problem.variables.size(), of_tables);
  atom_mark_.assign(num_atoms, 0);
  clause_mark_.assign(first_literal_.size() - 1, 0);
  table_mark_.assign(soft_tables.size(), 0);
  table_turn_.assign(soft_tables.size(), 0);
}

void ComponentStack::push_all() {
  Component all{.first = memory_.size(),
                .num_atoms = static_cast<std::uint32_t>(atom_mark_.size()),
                .num_clauses = static_cast<std::uint32_t>(clause_mark_.size()),
                .num_soft_tables = static_cast<std::uint32_t>(table_mark_.size())};
  for (const std::uint32_t count : {all.num_atoms, all.num_clauses, all.num_soft_tables}) {
    for (std::uint32_t i = 0; i < count; ++i) memory_.push_back(i);
  }
  components_.push_back(all);
}

void ComponentStack::shrink(std::size_t size) {
  if (size < components_.size()) memory_.resize(components_[size].first);
  components_.resize(size);
}

inline void ComponentStack::reach(std::uint32_t atom) {
  if (atom_mark_[atom] >= first_mark_ || !trail_.is_open(static_cast<int>(atom))) return;
  atom_mark_[atom] = mark_;
  ++found_.back().num_atoms;
  queue_.push_back(atom);
}

void ComponentStack::reach_variable(int v) {
  const CountVariable& variable = problem_.variables[v];
  for (int a = 0; a < variable.num_atoms(); ++a) reach(static_cast<std::uint32_t>(variable.first_atom + a));
}

inline void ComponentStack::visit_clause(std::uint32_t clause) {
  if (clause_mark_[clause] >= first_mark_) return;
  const std::span<const Literal> all = literals(clause);
  for (const Literal literal : all) {
    if (trail_.value(literal) <= 0) continue;
    clause_mark_[clause] = first_mark_;  // the clause is true: it was examined, and is in no component
    return;
  }
  clause_mark_[clause] = mark_;
  ++found_.back().num_clauses;
  found_.back().has_clause = true;
  for (const Literal literal : all) reach(literal >> 1);
}

void ComponentStack::visit_soft_table(std::uint32_t table) {
  // A table that is settled, now or by an earlier decision, connects nothing.
  if (table_turn_[table] != first_mark_ || table_mark_[table] >= first_mark_) return;
  table_mark_[table] = mark_;
  ++found_.back().num_soft_tables;
  for (const int v : soft_tables_[table].scope()) reach_variable(v);
}

// Visits everything that is connected with the atom.
void ComponentStack::walk(std::uint32_t start) {
  found_.push_back({.variable = problem_.variable_of_atom[start]});
  mark_ = first_mark_ + static_cast<std::uint32_t>(found_.size());
  queue_.clear();
  reach(start);
  while (!queue_.empty()) {
    const std::uint32_t atom = queue_.back();
    queue_.pop_back();
    for (const std::uint32_t partner : partners_of_.of(atom)) {
      if (!trail_.is_open(static_cast<int>(partner))) continue;
      found_.back().has_clause = true;
      reach(partner);
    }
    for (const std::uint32_t clause : clauses_of_.of(atom)) visit_clause(clause);
    const int v = problem_.variable_of_atom[atom];
    if (problem_.variables[v].is_group()) reach_variable(v);
    for (const std::uint32_t table : soft_tables_of_.of(static_cast<std::size_t>(v))) visit_soft_table(table);
  }
}

CountNumber ComponentStack::live_weight(int v) const {
  const CountVariable& variable = problem_.variables[v];
  if (variable.is_hidden) return CountNumber::one();
  CountNumber sum;
  for (int s = 0; s < variable.num_states; ++s) {
    if (trail_.is_live(v, s)) sum += variable.weights[s];
  }
  return sum;
}

// Returns the weight of the variables that became fixed and of the tables that became constant. Marks the other tables.
CountNumber ComponentStack::fixed_weight(std::size_t index, SplitTrace* trace) {
  CountNumber weight = CountNumber::one();
  for (const std::uint32_t atom : atoms(index)) {
    const Literal literal = positive(static_cast<int>(atom));
    const int value = trail_.value(literal);
    if (value == 0) continue;
    const int v = problem_.variable_of_atom[atom];
    const CountVariable& variable = problem_.variables[v];
    if (variable.is_group() && value < 0) continue;
    const int state = variable.is_group() ? static_cast<int>(atom) - variable.first_atom : (value > 0 ? 1 : 0);
    if (variable.is_hidden) continue;
    if (variable.has_weights) weight *= variable.weights[state];
    if (trace != nullptr) trace->fixed.emplace_back(v, state);
  }
  for (const std::uint32_t table : soft_tables(index)) {
    const SoftTable::Status& status = soft_tables_[table].status(trail_.live());
    if (status.is_settled) {
      weight *= status.weight;
      if (trace != nullptr) trace->constant *= status.weight;
    } else {
      table_turn_[table] = first_mark_;
    }
  }
  return weight;
}

CountNumber ComponentStack::split(std::size_t index, SplitTrace* trace) {
  if (first_mark_ > UINT32_MAX / 2) {  // marks are reset
    for (auto* const marks : {&atom_mark_, &clause_mark_, &table_mark_, &table_turn_}) {
      std::fill(marks->begin(), marks->end(), 0);
    }
    first_mark_ = 1;
  }
  mark_ = first_mark_;
  found_.clear();
  CountNumber weight = fixed_weight(index, trace);
  if (!weight.is_zero()) {
    for (std::size_t i = 0; i < components_[index].num_atoms; ++i) {
      const std::uint32_t atom = memory_[components_[index].first + i];
      if (atom_mark_[atom] >= first_mark_ || !trail_.is_open(static_cast<int>(atom))) continue;
      walk(atom);
      Found& found = found_.back();
      const CountVariable& variable = problem_.variables[found.variable];
      const auto num_own = static_cast<std::uint32_t>(variable.is_group() ? trail_.num_live(found.variable) : 1);
      if (found.has_clause || found.num_soft_tables > 0 || found.num_atoms > num_own) continue;
      weight *= live_weight(found.variable);  // nothing restricts the variable any more
      for (int s = 0; trace != nullptr && !variable.is_hidden && s < variable.num_states; ++s) {
        if (trail_.is_live(found.variable, s)) trace->free.emplace_back(found.variable, s);
      }
      found = {};
    }
    push_found(index);
  }
  first_mark_ += static_cast<std::uint32_t>(found_.size()) + 1;
  return weight;
}

// Pushes the lists of the component, in its order, by the marks of their items.
void ComponentStack::push_found(std::size_t index) {
  const Component parent = components_[index];
  std::size_t end = memory_.size();
  places_.assign(3 * found_.size(), 0);
  const std::size_t first_new = components_.size();
  order_.clear();
  for (std::uint32_t f = 0; f < found_.size(); ++f) {
    if (found_[f].num_atoms > 0) order_.push_back(f);
  }
  std::stable_sort(order_.begin(), order_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return found_[a].num_atoms < found_[b].num_atoms; });
  for (const std::size_t f : order_) {
    const Found& found = found_[f];
    places_[3 * f] = end;
    places_[3 * f + 1] = end + found.num_atoms;
    places_[3 * f + 2] = end + found.num_atoms + found.num_clauses;
    components_.push_back({end, found.num_atoms, found.num_clauses, found.num_soft_tables});
    end = components_.back().end();
  }
  if (components_.size() == first_new) return;
  memory_.resize(end);
  std::size_t from = parent.first;
  const auto hand_out = [&](std::uint32_t count, const std::vector<std::uint32_t>& marks, std::size_t kind) {
    for (const std::size_t last = from + count; from < last; ++from) {
      const std::uint32_t item = memory_[from];
      if (marks[item] <= first_mark_) continue;
      const std::size_t f = marks[item] - first_mark_ - 1;
      if (found_[f].num_atoms > 0) memory_[places_[3 * f + kind]++] = item;
    }
  };
  hand_out(parent.num_atoms, atom_mark_, 0);
  hand_out(parent.num_clauses, clause_mark_, 1);
  hand_out(parent.num_soft_tables, table_mark_, 2);
}

void ComponentStack::make_key(std::size_t index, std::string& key) const {
  key.clear();
  append_list(key, atoms(index));
  std::uint32_t last = 0;
  for (const std::uint32_t clause : clauses(index)) {
    const std::span<const Literal> all = literals(clause);
    const bool is_touched =
        std::any_of(all.begin(), all.end(), [&](Literal literal) { return trail_.value(literal) != 0; });
    if (!is_touched) continue;
    append_number(key, clause + 1 - last);
    last = clause + 1;
  }
  append_number(key, 0);
  last = 0;
  for (const std::uint32_t table : soft_tables(index)) {
    append_number(key, table + 1 - last);
    append_number(key, soft_tables_[table].status(trail_.live()).residue);
    last = table + 1;
  }
}

CountNumber ComponentStack::upper_bound(std::size_t index) const {
  CountNumber bound = CountNumber::one();
  int last = -1;
  for (const std::uint32_t atom : atoms(index)) {
    const int v = problem_.variable_of_atom[atom];
    if (v != last) bound *= live_weight(v);
    last = v;
  }
  return bound;
}

std::uint64_t ComponentStack::bytes() const {
  return sizeof(std::uint32_t) * (memory_.capacity() + literals_.capacity() + clauses_of_.items.capacity() +
                                  partners_of_.items.capacity() + atom_mark_.capacity() * 5);
}

}  // namespace treesample
