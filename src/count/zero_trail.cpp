#include "count/zero_trail.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace treesample {
namespace {

constexpr int kWordBits = 64;

}  // namespace

ZeroTrail::ZeroTrail(const CountProblem& problem, bool has_learning)
    : problem_(&problem),
      has_learning_(has_learning),
      values_(2 * problem.variable_of_atom.size(), 0),
      levels_(problem.variable_of_atom.size(), 0),
      reasons_(problem.variable_of_atom.size()),
      implied_(values_.size()),
      watches_(values_.size()),
      is_seen_(problem.variable_of_atom.size(), 0),
      activity_(problem.variables.size(), 0.0) {
  for (const CountVariable& variable : problem.variables) {
    live_.first_word.push_back(static_cast<std::uint32_t>(live_.words.size()));
    num_live_.push_back(variable.num_states);
    for (int left = variable.num_states; left > 0; left -= kWordBits) {
      live_.words.push_back(left >= kWordBits ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1);
    }
  }
  live_.first_word.push_back(static_cast<std::uint32_t>(live_.words.size()));
  for (const Clause& clause : problem.clauses) {
    if (clause.size() >= 2) {
      add_clause(clause, 0);
    } else if (clause.empty() || !assign(clause.front(), {})) {
      is_consistent_ = false;
    }
  }
  is_consistent_ = is_consistent_ && propagate();
}

// Returns false if the literal already has the opposite value.
bool ZeroTrail::assign(Literal literal, Reason reason) {
  if (values_[literal] != 0) return values_[literal] > 0;
  const int atom = atom_of(literal);
  values_[literal] = 1;
  values_[opposite(literal)] = -1;
  levels_[atom] = level_;
  reasons_[atom] = reason;
  trail_.push_back(literal);
  const int v = problem_->variable_of_atom[atom];
  const CountVariable& variable = problem_->variables[v];
  if (!variable.is_group()) {
    live_.words[live_.first_word[v]] = is_negative(literal) ? 1 : 2;
    num_live_[v] = 1;
  } else if (is_negative(literal)) {
    const int state = atom - variable.first_atom;
    live_.words[live_.first_word[v] + static_cast<std::uint32_t>(state / kWordBits)] &=
        ~(std::uint64_t{1} << (state % kWordBits));
    --num_live_[v];
  }
  return true;
}

void ZeroTrail::undo(const Mark& mark) {
  for (; trail_.size() > mark.size; trail_.pop_back()) {
    const Literal literal = trail_.back();
    const int atom = atom_of(literal);
    values_[literal] = values_[opposite(literal)] = 0;
    const int v = problem_->variable_of_atom[atom];
    const CountVariable& variable = problem_->variables[v];
    if (!variable.is_group()) {
      live_.words[live_.first_word[v]] = 3;
      num_live_[v] = 2;
    } else if (is_negative(literal)) {
      const int state = atom - variable.first_atom;
      live_.words[live_.first_word[v] + static_cast<std::uint32_t>(state / kWordBits)] |= std::uint64_t{1}
                                                                                          << (state % kWordBits);
      ++num_live_[v];
    }
  }
  next_ = trail_.size();
  level_ = mark.level;
}

bool ZeroTrail::decide(Literal literal) {
  ++level_;
  assign(literal, {});
  if (propagate()) return true;
  ++num_conflicts_;
  if (has_learning_) learn();
  return false;
}

bool ZeroTrail::fail(std::span<const Literal> literals) {
  conflict_.assign(literals.begin(), literals.end());
  return false;
}

bool ZeroTrail::propagate() {
  while (next_ < trail_.size()) {
    const Literal literal = trail_[next_++];
    ++num_propagations_;
    for (const Literal follows : implied_[literal]) {
      if (values_[follows] > 0) continue;
      if (values_[follows] < 0) return fail(std::array{opposite(literal), follows});
      assign(follows, {Reason::kLiteral, literal});
    }
    if (problem_->variables[problem_->variable_of_atom[atom_of(literal)]].is_group() && !propagate_group(literal)) {
      return false;
    }
    if (!propagate_clauses(literal)) return false;
  }
  return true;
}

bool ZeroTrail::propagate_group(Literal literal) {
  const int v = problem_->variable_of_atom[atom_of(literal)];
  const CountVariable& variable = problem_->variables[v];
  const int end = variable.first_atom + variable.num_states;
  if (!is_negative(literal)) {
    for (int atom = variable.first_atom; atom < end; ++atom) {
      const Literal other = positive(atom);
      if (other == literal) continue;
      if (values_[other] > 0) return fail(std::array{opposite(literal), opposite(other)});
      if (values_[other] == 0) assign(opposite(other), {Reason::kLiteral, literal});
    }
    return true;
  }
  if (num_live_[v] > 1) return true;
  for (int atom = variable.first_atom; atom < end; ++atom) {
    if (values_[positive(atom)] < 0) continue;
    assign(positive(atom), {Reason::kGroup, 0});
    return true;
  }
  conflict_.clear();
  for (int atom = variable.first_atom; atom < end; ++atom) conflict_.push_back(positive(atom));
  return false;
}

bool ZeroTrail::propagate_clauses(Literal literal) {
  const Literal is_false = opposite(literal);
  std::vector<Watch>& list = watches_[is_false];
  std::size_t kept = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Watch watch = list[i];
    if (values_[watch.other] > 0) {
      list[kept++] = watch;
      continue;
    }
    Literal* const clause = arena_.data() + watch.clause + kHeader;
    const std::uint32_t size = arena_[watch.clause];
    if (clause[0] == is_false) std::swap(clause[0], clause[1]);
    const Literal first = clause[0];
    if (values_[first] > 0) {
      list[kept++] = {watch.clause, first};
      continue;
    }
    std::uint32_t k = 2;
    while (k < size && values_[clause[k]] < 0) ++k;
    if (k < size) {
      std::swap(clause[1], clause[k]);
      watches_[clause[1]].push_back({watch.clause, first});
      continue;
    }
    list[kept++] = {watch.clause, first};
    if (values_[first] < 0) {
      for (++i; i < list.size(); ++i) list[kept++] = list[i];
      list.resize(kept);
      return fail({clause, size});
    }
    assign(first, {Reason::kClause, watch.clause});
  }
  list.resize(kept);
  return true;
}

ZeroTrail::ClauseRef ZeroTrail::add_clause(std::span<const Literal> clause, std::uint32_t num_levels) {
  if (clause.size() == 2) {
    implied_[opposite(clause[0])].push_back(clause[1]);
    implied_[opposite(clause[1])].push_back(clause[0]);
    return 0;
  }
  const auto ref = static_cast<ClauseRef>(arena_.size());
  arena_.push_back(static_cast<std::uint32_t>(clause.size()));
  arena_.push_back(num_levels);
  arena_.insert(arena_.end(), clause.begin(), clause.end());
  watch(ref);
  return ref;
}

void ZeroTrail::watch(ClauseRef ref) {
  const std::span<const Literal> clause = literals(ref);
  watches_[clause[0]].push_back({ref, clause[1]});
  watches_[clause[1]].push_back({ref, clause[0]});
}

std::uint64_t ZeroTrail::bytes() const {
  constexpr std::uint64_t kList = sizeof(std::vector<Watch>);
  std::uint64_t bytes = values_.capacity() + arena_.capacity() * sizeof(std::uint32_t) +
                        trail_.capacity() * sizeof(Literal) + levels_.capacity() * (sizeof(int) + sizeof(Reason) + 2);
  for (const auto& list : implied_) bytes += list.capacity() * sizeof(Literal) + kList;
  for (const auto& list : watches_) bytes += list.capacity() * sizeof(Watch) + kList;
  return bytes;
}

}  // namespace treesample
