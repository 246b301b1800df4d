// Learning from contradictions: see zero_trail.hpp.
#include <algorithm>
#include <utility>

#include "count/zero_trail.hpp"

namespace treesample {

// Calls visit(literal) for each of the false literals that imply the value of the atom.
template <typename Visit>
void ZeroTrail::for_each_in(const Reason& reason, int atom, Visit visit) const {
  switch (reason.kind) {
    case Reason::kNone:
      return;
    case Reason::kLiteral:
      visit(opposite(reason.data));
      return;
    case Reason::kGroup: {
      const CountVariable& variable = problem_->variables[problem_->variable_of_atom[atom]];
      for (int other = variable.first_atom; other < variable.first_atom + variable.num_states; ++other) {
        if (other != atom) visit(positive(other));
      }
      return;
    }
    case Reason::kClause:
      for (const Literal literal : literals(reason.data)) {
        if (atom_of(literal) != atom) visit(literal);
      }
      return;
  }
}

void ZeroTrail::see(Literal literal) {
  const int atom = atom_of(literal);
  if (is_seen_[atom] != 0 || levels_[atom] == 0) return;
  is_seen_[atom] = 1;
  to_clear_.push_back(atom);
  activity_[problem_->variable_of_atom[atom]] += 1.0;
  if (levels_[atom] < conflict_level_) clause_.push_back(literal);
}

// Sets clause_ to the clause of the first unique implication point, with that literal first.
void ZeroTrail::find_first_point() {
  clause_.assign(1, 0);
  int num_left = 0;  // literals of the level that are still to be replaced
  const auto see_and_count = [&](Literal literal) {
    const std::size_t size = clause_.size(), num_seen = to_clear_.size();
    see(literal);
    if (to_clear_.size() > num_seen && clause_.size() == size) ++num_left;
  };
  for (const Literal literal : conflict_) see_and_count(literal);
  for (std::size_t place = trail_.size();;) {
    do --place;
    while (is_seen_[atom_of(trail_[place])] == 0 || levels_[atom_of(trail_[place])] < conflict_level_);
    const Literal literal = trail_[place];
    if (--num_left == 0) {
      clause_[0] = opposite(literal);
      return;
    }
    for_each_in(reasons_[atom_of(literal)], atom_of(literal), see_and_count);
  }
}

// Leaves out literals that follow from the others.
void ZeroTrail::minimise() {
  std::size_t kept = 1;
  for (std::size_t i = 1; i < clause_.size(); ++i) {
    const int atom = atom_of(clause_[i]);
    bool follows = reasons_[atom].kind != Reason::kNone;
    for_each_in(reasons_[atom], atom, [&](Literal literal) {
      follows = follows && (is_seen_[atom_of(literal)] != 0 || levels_[atom_of(literal)] == 0);
    });
    if (!follows) clause_[kept++] = clause_[i];
  }
  clause_.resize(kept);
}

void ZeroTrail::learn() {
  conflict_level_ = 0;
  for (const Literal literal : conflict_) conflict_level_ = std::max(conflict_level_, levels_[atom_of(literal)]);
  if (conflict_level_ == 0) return;  // the model is impossible, and the search ends by itself
  find_first_point();
  minimise();
  for (const int atom : to_clear_) is_seen_[atom] = 0;
  to_clear_.clear();
  ++num_learned_;
  keep_learned();
}

void ZeroTrail::keep_learned() {
  Pending pending{.literal = clause_[0]};
  if (clause_.size() > 1) {
    // Among the literals, the second watch must be the last to become open when levels are undone.
    const auto by_level = [&](Literal a, Literal b) { return levels_[atom_of(a)] < levels_[atom_of(b)]; };
    std::iter_swap(clause_.begin() + 1, std::max_element(clause_.begin() + 1, clause_.end(), by_level));
    if (clause_.size() > 2 && learned_.size() >= most_learned_) forget_clauses();
    const ClauseRef ref = add_clause(clause_, num_levels());
    if (clause_.size() == 2) {
      pending.reason = {Reason::kLiteral, opposite(clause_[1])};
    } else {
      pending.reason = {Reason::kClause, ref};
      learned_.push_back(ref);
    }
  }
  constexpr std::size_t kMostPending = 64;
  if (pending_.size() >= kMostPending) pending_.erase(pending_.begin());
  pending_.push_back(pending);
}

// True if all literals but the first one are false.
bool ZeroTrail::says_something(const Pending& pending) const {
  if (pending.reason.kind == Reason::kNone) return true;
  if (pending.reason.kind == Reason::kLiteral) return values_[pending.reason.data] > 0;
  const std::span<const Literal> clause = literals(pending.reason.data);
  return std::all_of(clause.begin(), clause.end(),
                     [&](Literal literal) { return literal == pending.literal || values_[literal] < 0; });
}

bool ZeroTrail::assert_learned() {
  if (!has_learning_) return true;
  std::size_t kept = 0;
  bool is_possible = true;
  for (const Pending pending : pending_) {  // a copy, because earlier places are overwritten
    const bool says = says_something(pending);
    int from_level = 0;
    for_each_in(pending.reason, atom_of(pending.literal),
                [&](Literal literal) { from_level = std::max(from_level, levels_[atom_of(literal)]); });
    // A clause that implies its literal stays pending for lower levels. A clause that is open again at its own level is
    // left to the watches.
    if (says && from_level < level_) pending_[kept++] = pending;
    if (!says || !is_possible || values_[pending.literal] > 0) continue;
    if (values_[pending.literal] < 0) {
      is_possible = false;
      conflict_.assign(1, pending.literal);
      for_each_in(pending.reason, atom_of(pending.literal), [&](Literal literal) { conflict_.push_back(literal); });
      continue;
    }
    assign(pending.literal, pending.reason);
    levels_[atom_of(pending.literal)] = from_level;
  }
  pending_.resize(kept);
  if (is_possible && propagate()) return true;
  ++num_conflicts_;
  learn();
  return false;
}

// The number of levels among the literals of the clause being learned: the fewer, the more often it will imply
// something.
std::uint32_t ZeroTrail::num_levels() {
  level_list_.clear();
  for (const Literal literal : clause_) level_list_.push_back(levels_[atom_of(literal)]);
  std::sort(level_list_.begin(), level_list_.end());
  return static_cast<std::uint32_t>(std::unique(level_list_.begin(), level_list_.end()) - level_list_.begin());
}

// Removes the worse half of the learned clauses, judged by numbers of levels and literals, but keeps those that are
// pending or reasons in the trail. Rewrites the arena, and with it all watches.
void ZeroTrail::forget_clauses() {
  std::vector<char> is_needed(arena_.size(), 0);
  for (const Literal literal : trail_) {
    const Reason reason = reasons_[atom_of(literal)];
    if (reason.kind == Reason::kClause) is_needed[reason.data] = 1;
  }
  for (const Pending& pending : pending_) {
    if (pending.reason.kind == Reason::kClause) is_needed[pending.reason.data] = 1;
  }
  std::vector<std::uint32_t> old(std::move(arena_));
  std::vector<ClauseRef> moved_to(old.size(), 0);
  arena_ = {};
  std::vector<ClauseRef> learned(std::move(learned_));
  learned_.clear();
  for (auto& list : watches_) list.clear();
  const auto badness = [&](ClauseRef ref) { return std::pair(old[ref + 1], old[ref]); };
  const auto middle = learned.begin() + static_cast<std::ptrdiff_t>(learned.size() / 2);
  std::nth_element(learned.begin(), middle, learned.end(),
                   [&](ClauseRef a, ClauseRef b) { return badness(a) < badness(b); });
  const auto limit = badness(*middle);
  for (std::uint32_t ref = 0; ref < old.size(); ref += old[ref] + kHeader) {
    const bool is_learned = old[ref + 1] != 0;
    constexpr std::uint32_t kAlwaysGood = 2;  // levels
    const bool is_good = !is_learned || badness(ref) < limit || old[ref + 1] <= kAlwaysGood;
    if (!is_good && is_needed[ref] == 0) continue;
    moved_to[ref] = add_clause({old.data() + ref + kHeader, old[ref]}, old[ref + 1]);
    if (is_learned) learned_.push_back(moved_to[ref]);
  }
  for (const Literal literal : trail_) {
    Reason& reason = reasons_[atom_of(literal)];
    if (reason.kind == Reason::kClause) reason.data = moved_to[reason.data];
  }
  for (Pending& pending : pending_) {
    if (pending.reason.kind == Reason::kClause) pending.reason.data = moved_to[pending.reason.data];
  }
  constexpr std::size_t kMore = 100;
  most_learned_ = std::max(most_learned_, 2 * learned_.size()) + kMore;
}

void ZeroTrail::decay_activity() {
  for (double& activity : activity_) activity *= 0.5;
}

}  // namespace treesample
