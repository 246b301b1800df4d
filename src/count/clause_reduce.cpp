#include "count/clause_reduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "count/clause_probe.hpp"
#include "count/clause_store.hpp"

namespace treesample {
namespace {

constexpr int kMostRounds = 8;
constexpr std::int64_t kMostSteps = 300'000'000;  // literals looked at for subsumption, in all rounds
constexpr std::size_t kMostResolved = 16;         // clauses of one of the two literals of an atom
constexpr std::size_t kLongestResolvent = 64;

class ClauseReducer {
 public:
  ClauseReducer(const ClauseSet& set, const std::vector<AtomRole>& roles, const ShouldStop& should_stop,
                const ClauseSwitches& switches)
      : num_atoms_(set.num_atoms),
        roles_(roles),
        should_stop_(should_stop),
        stop_(should_stop),
        switches_(switches),
        store_(set.num_atoms),
        is_gone_(static_cast<std::size_t>(set.num_atoms), 0) {
    for (const Clause& clause : set.clauses) store_.add(clause);
  }

  ReducedClauses run() {
    for (int round = 0; round < kMostRounds && store_.settle() && !stop_.is_asked(StopCheck::kStepsBetweenLooks);
         ++round) {
      const std::int64_t before = num_changes();
      const ProbeSwitches probes{switches_.fails, switches_.vivifies};
      probe_clauses(store_, num_atoms_, probes, should_stop_, result_.report);
      if (store_.settle() && switches_.equivalents) merge_equivalents();
      if (store_.settle() && switches_.subsumes) subsume();
      if (store_.settle() && switches_.resolves) resolve();
      if (num_changes() == before) break;
    }
    store_.settle();
    return finish();
  }

 private:
  [[nodiscard]] std::int64_t num_changes() const {
    const ClauseReport& r = result_.report;
    return static_cast<std::int64_t>(store_.facts().size()) + r.num_equivalent + r.num_resolved + r.num_strengthened +
           r.num_vivified;
  }

  void merge_equivalents();
  void merge(const std::vector<Literal>& literals);
  void subsume();
  void subsume_by(int index);
  void resolve();
  bool resolve_atom(int atom);
  ReducedClauses finish();

  const int num_atoms_;
  const std::vector<AtomRole>& roles_;
  const ShouldStop& should_stop_;
  StopCheck stop_;
  const ClauseSwitches switches_;
  ClauseStore store_;
  std::vector<char> is_gone_;  // atoms that were replaced or resolved
  std::int64_t num_steps_ = 0;
  ReducedClauses result_;
};

// Tarjan's algorithm, without recursion, over "not a implies b and not b implies a" for each clause of two literals.
void ClauseReducer::merge_equivalents() {
  const std::size_t num_literals = 2 * static_cast<std::size_t>(num_atoms_);
  std::vector<std::vector<Literal>> implied(num_literals);
  for (int c = 0; c < store_.size(); ++c) {
    const Clause& clause = store_.clause(c);
    if (clause.size() != 2) continue;
    implied[opposite(clause[0])].push_back(clause[1]);
    implied[opposite(clause[1])].push_back(clause[0]);
  }
  struct Visit {
    Literal literal;
    std::size_t next = 0;
  };
  std::vector<int> number(num_literals, 0), lowest(num_literals, 0);
  std::vector<char> is_open(num_literals, 0);
  std::vector<Literal> open;
  std::vector<Visit> path;
  std::vector<std::vector<Literal>> found;
  int last = 0;
  for (Literal start = 0; start < num_literals; ++start) {
    if (number[start] != 0 || implied[start].empty()) continue;
    path.push_back({start});
    while (!path.empty()) {
      auto& [literal, next] = path.back();
      if (next == 0) {
        number[literal] = lowest[literal] = ++last;
        open.push_back(literal);
        is_open[literal] = 1;
      }
      bool goes_down = false;
      while (!goes_down && next < implied[literal].size()) {
        const Literal to = implied[literal][next++];
        if (number[to] == 0) {
          path.push_back({to});
          goes_down = true;
        } else if (is_open[to] != 0) {
          lowest[literal] = std::min(lowest[literal], number[to]);
        }
      }
      if (goes_down) continue;
      const Literal done = path.back().literal;
      path.pop_back();
      if (!path.empty()) lowest[path.back().literal] = std::min(lowest[path.back().literal], lowest[done]);
      if (lowest[done] != number[done]) continue;
      std::vector<Literal> component;
      do {
        component.push_back(open.back());
        is_open[open.back()] = 0;
        open.pop_back();
      } while (component.back() != done);
      if (component.size() > 1) found.push_back(std::move(component));
    }
  }
  for (const std::vector<Literal>& component : found) {
    if (!store_.is_impossible()) merge(component);
  }
}

// Each component comes with its mirror image of opposite literals, which then finds its atoms gone.
void ClauseReducer::merge(const std::vector<Literal>& literals) {
  Literal kept = literals.front();
  for (const Literal literal : literals) {
    if (std::find(literals.begin(), literals.end(), opposite(literal)) != literals.end()) {
      store_.set_true(literal);
      store_.set_true(opposite(literal));  // impossible
      return;
    }
    if (roles_[atom_of(literal)] == AtomRole::kCounted && roles_[atom_of(kept)] != AtomRole::kCounted) kept = literal;
  }
  for (const Literal literal : literals) {
    if (literal == kept || is_gone_[atom_of(literal)] != 0 || store_.value(literal) != 0) continue;
    if (is_gone_[atom_of(kept)] != 0 || store_.value(kept) != 0) return;
    const auto replace = [&](Literal from, Literal to) {
      for (const int index : std::vector<int>(store_.clauses_of(from))) {
        Clause clause = store_.clause(index);
        store_.remove(index);
        std::erase(clause, from);
        if (std::find(clause.begin(), clause.end(), opposite(to)) != clause.end()) continue;
        if (std::find(clause.begin(), clause.end(), to) == clause.end()) {
          clause.insert(std::upper_bound(clause.begin(), clause.end(), to), to);
        }
        store_.add(std::move(clause));
      }
    };
    replace(literal, kept);
    replace(opposite(literal), opposite(kept));
    is_gone_[atom_of(literal)] = 1;
    result_.equivalent.emplace_back(atom_of(literal), is_negative(literal) ? opposite(kept) : kept);
    ++result_.report.num_equivalent;
  }
}

void ClauseReducer::subsume() {
  for (std::vector<int> changed = store_.take_changed(); !changed.empty(); changed = store_.take_changed()) {
    for (const int index : changed) {
      if (num_steps_ > kMostSteps || stop_.is_asked(100)) return;
      if (!store_.clause(index).empty()) subsume_by(index);
    }
    if (!store_.settle()) return;
  }
}

// Whether the literals of a clause are in a longer one, up to one, whose opposite is in it.
struct Match {
  bool is_match = false;
  std::optional<Literal> resolved = {};  // that opposite
};

Match match(const Clause& shorter, const Clause& longer) {
  Match match;
  std::size_t j = 0;
  for (const Literal literal : shorter) {
    while (j < longer.size() && (longer[j] >> 1) < (literal >> 1)) ++j;
    if (j == longer.size() || (longer[j] >> 1) != (literal >> 1)) return {};
    if (longer[j] != literal) {
      if (match.resolved) return {};
      match.resolved = longer[j];
    }
    ++j;
  }
  match.is_match = true;
  return match;
}

void ClauseReducer::subsume_by(int index) {
  const Clause clause = store_.clause(index);
  constexpr std::size_t kLong = 64;
  if (clause.size() > kLong) return;
  const auto num_uses = [&](Literal literal) {
    return store_.clauses_of(literal).size() + store_.clauses_of(opposite(literal)).size();
  };
  const Literal rarest =
      *std::min_element(clause.begin(), clause.end(), [&](Literal a, Literal b) { return num_uses(a) < num_uses(b); });
  for (const Literal literal : {rarest, opposite(rarest)}) {
    num_steps_ += static_cast<std::int64_t>(store_.clauses_of(literal).size());
    for (const int other : std::vector<int>(store_.clauses_of(literal))) {
      const Clause& longer = store_.clause(other);
      if (other == index || longer.size() < clause.size()) continue;
      if ((store_.signature(index) & ~store_.signature(other)) != 0) continue;
      num_steps_ += static_cast<std::int64_t>(longer.size());
      const Match found = match(clause, longer);
      if (!found.is_match) continue;
      if (found.resolved) {
        store_.strengthen(other, *found.resolved);
        ++result_.report.num_strengthened;
      } else {
        store_.remove(other);
        ++result_.report.num_subsumed;
      }
      if (store_.clause(index).empty()) return;  // it became a fact by a fact of the other one
    }
  }
}

void ClauseReducer::resolve() {
  std::vector<std::pair<std::size_t, int>> candidates;
  for (int atom = 0; atom < num_atoms_; ++atom) {
    if (roles_[atom] != AtomRole::kRemoved || is_gone_[atom] != 0 || store_.value(positive(atom)) != 0) continue;
    const std::size_t with = store_.clauses_of(positive(atom)).size(),
                      against = store_.clauses_of(opposite(positive(atom))).size();
    if (with + against == 0) continue;
    if (with > kMostResolved && against > kMostResolved) continue;
    candidates.emplace_back(with * against, atom);
  }
  std::sort(candidates.begin(), candidates.end());
  for (const auto& [cost, atom] : candidates) {
    if (stop_.is_asked(1000) || !store_.settle()) return;
    if (store_.value(positive(atom)) == 0) resolve_atom(atom);
  }
}

// Replaces the clauses of an atom by their resolvents if these are not more.
bool ClauseReducer::resolve_atom(int atom) {
  const Literal literal = positive(atom);
  const std::vector<int> with = store_.clauses_of(literal), against = store_.clauses_of(opposite(literal));
  const std::size_t most = with.size() + against.size();
  constexpr std::size_t kMostPairs = 4096;
  if (with.size() * against.size() > kMostPairs) return false;
  std::vector<Clause> resolvents;
  for (const int a : with) {
    for (const int b : against) {
      Clause clause;
      bool is_true = false;
      const Clause &first = store_.clause(a), &second = store_.clause(b);
      std::merge(first.begin(), first.end(), second.begin(), second.end(), std::back_inserter(clause));
      std::erase_if(clause, [&](Literal l) { return atom_of(l) == atom; });
      clause.erase(std::unique(clause.begin(), clause.end()), clause.end());
      for (std::size_t i = 1; i < clause.size() && !is_true; ++i) is_true = clause[i] == opposite(clause[i - 1]);
      if (is_true) continue;
      if (clause.size() > kLongestResolvent || resolvents.size() == most) return false;
      resolvents.push_back(std::move(clause));
    }
  }
  for (const int index : with) store_.remove(index);
  for (const int index : against) store_.remove(index);
  for (Clause& clause : resolvents) store_.add(std::move(clause));
  is_gone_[atom] = 1;
  result_.resolved.push_back(atom);
  ++result_.report.num_resolved;
  return true;
}

ReducedClauses ClauseReducer::finish() {
  result_.is_impossible = store_.is_impossible();
  result_.fixed = store_.facts();
  result_.report.num_fixed = static_cast<int>(result_.fixed.size());
  result_.rest.num_atoms = num_atoms_;
  result_.rest.clauses = store_.left();
  // An atom may have been replaced by one that was replaced later.
  std::vector<Literal> kept(static_cast<std::size_t>(num_atoms_));
  for (int atom = 0; atom < num_atoms_; ++atom) kept[atom] = positive(atom);
  for (auto pair = result_.equivalent.rbegin(); pair != result_.equivalent.rend(); ++pair) {
    const Literal literal = pair->second;
    kept[pair->first] = kept[atom_of(literal)] ^ (literal & 1U);
    pair->second = kept[pair->first];
  }
  return std::move(result_);
}

}  // namespace

std::string ClauseReport::brief() const {
  return fmt::format(
      "{} literals fixed ({} failed), {} equivalent, {} atoms resolved, {} clauses subsumed, {} "
      "strengthened, {} vivified",
      num_fixed, num_failed, num_equivalent, num_resolved, num_subsumed, num_strengthened, num_vivified);
}

ReducedClauses reduce_clauses(ClauseSet set, const std::vector<AtomRole>& roles, const ShouldStop& should_stop,
                              const ClauseSwitches& switches) {
  return ClauseReducer(set, roles, should_stop, switches).run();
}

}  // namespace treesample
