// The only file that includes the header of CaDiCaL.
#include "formula/sat_checks.hpp"

#include <algorithm>
#include <cadical.hpp>
#include <utility>

namespace treesample {
namespace {

constexpr int kSatisfiable = 10, kUnsatisfiable = 20;
constexpr int kConflictsPerTest = 500;
constexpr std::size_t kMostWork = 50'000'000;  // atoms and assumptions of all tests: some seconds

class Terminator final : public CaDiCaL::Terminator {
 public:
  explicit Terminator(const ShouldStop& should_stop) : should_stop_(should_stop) {}
  bool terminate() override { return should_stop_ && should_stop_(); }

 private:
  const ShouldStop& should_stop_;
};

int plain(Literal literal) { return is_negative(literal) ? -(atom_of(literal) + 1) : atom_of(literal) + 1; }

// Two copies of the clauses. A hidden atom and one that may be defined have a copy of their own, all others are shared.
class TwoCopies {
 public:
  TwoCopies(const ClauseSet& set, const std::vector<char>& is_hidden, const std::vector<char>& may_be_defined)
      : num_atoms_(set.num_atoms), has_copy_(static_cast<std::size_t>(set.num_atoms), 0) {
    solver.set("quiet", 1);
    for (int atom = 0; atom < num_atoms_; ++atom) {
      has_copy_[atom] = is_hidden[atom] != 0 || may_be_defined[atom] != 0 ? 1 : 0;
    }
    for (const Clause& clause : set.clauses) {
      for (const Literal literal : clause) solver.add(plain(literal));
      solver.add(0);
      if (std::none_of(clause.begin(), clause.end(), [&](Literal l) { return has_copy_[atom_of(l)] != 0; })) continue;
      for (const Literal literal : clause)
        solver.add(is_negative(literal) ? -copy(atom_of(literal)) : copy(atom_of(literal)));
      solver.add(0);
    }
    for (int atom = 0; atom < num_atoms_; ++atom) {
      if (may_be_defined[atom] == 0) continue;
      for (const int sign : {1, -1}) {  // if they shall be equal, they are
        solver.add(-equal(atom));
        solver.add(sign * (atom + 1));
        solver.add(-sign * copy(atom));
        solver.add(0);
      }
    }
  }

  [[nodiscard]] int copy(int atom) const { return has_copy_[atom] != 0 ? num_atoms_ + atom + 1 : atom + 1; }
  [[nodiscard]] int equal(int atom) const { return 2 * num_atoms_ + atom + 1; }

  CaDiCaL::Solver solver;

 private:
  const int num_atoms_;
  std::vector<char> has_copy_;
};

// Leaves out literals of a solution that no clause needs.
std::vector<std::optional<Literal>> enough_of(const ClauseSet& set, CaDiCaL::Solver& solver) {
  std::vector<std::optional<Literal>> enough(static_cast<std::size_t>(set.num_atoms));
  std::vector<char> is_needed(enough.size(), 0);
  const auto holds = [&](Literal literal) {
    const std::optional<Literal>& own = enough[atom_of(literal)];
    return own && *own == literal;
  };
  for (int atom = 0; atom < set.num_atoms && atom < solver.vars(); ++atom) {
    enough[atom] = solver.val(atom + 1) > 0 ? positive(atom) : opposite(positive(atom));
  }
  // A clause with one true literal needs that; the others keep one that is needed already, or else their first one.
  for (const bool has_one : {true, false}) {
    for (const Clause& clause : set.clauses) {
      const auto first = std::find_if(clause.begin(), clause.end(), holds);
      const bool is_only = std::count_if(clause.begin(), clause.end(), holds) == 1;
      const bool is_kept = std::any_of(clause.begin(), clause.end(), [&](Literal literal) {
        return holds(literal) && is_needed[atom_of(literal)] != 0;
      });
      if (is_only == has_one && !is_kept) is_needed[atom_of(*first)] = 1;
    }
  }
  for (std::size_t atom = 0; atom < enough.size(); ++atom) {
    if (is_needed[atom] == 0) enough[atom].reset();
  }
  return enough;
}

}  // namespace

FirstCheck check_first(const ClauseSet& set, const ShouldStop& should_stop) {
  CaDiCaL::Solver solver;
  solver.set("quiet", 1);  // a library prints nothing
  Terminator terminator(should_stop);
  solver.connect_terminator(&terminator);
  for (const Clause& clause : set.clauses) {
    for (const Literal literal : clause) solver.add(plain(literal));
    solver.add(0);
  }
  const int status = solver.solve();
  solver.disconnect_terminator();
  FirstCheck check;
  if (status == kUnsatisfiable) check.is_satisfiable = Satisfiable::kNo;
  if (status != kSatisfiable) return check;
  check.is_satisfiable = Satisfiable::kYes;
  check.enough = enough_of(set, solver);
  for (int atom = 0; atom < set.num_atoms && atom < solver.vars(); ++atom) {
    const int fixed = solver.fixed(atom + 1);
    if (fixed != 0) check.backbone.push_back(fixed > 0 ? positive(atom) : opposite(positive(atom)));
  }
  return check;
}

std::vector<int> defined_atoms(const ClauseSet& set, const std::vector<char>& is_hidden,
                               const std::vector<char>& may_be_defined, const ShouldStop& should_stop) {
  std::vector<int> num_uses(static_cast<std::size_t>(set.num_atoms), 0), order, defined;
  for (const Clause& clause : set.clauses) {
    for (const Literal literal : clause) ++num_uses[atom_of(literal)];
  }
  for (int atom = 0; atom < set.num_atoms; ++atom) {
    if (may_be_defined[atom] != 0 && num_uses[atom] > 0) order.push_back(atom);
  }
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return num_uses[a] < num_uses[b]; });
  TwoCopies copies(set, is_hidden, may_be_defined);
  Terminator terminator(should_stop);
  copies.solver.connect_terminator(&terminator);
  std::size_t work = 0;  // of large formulas, atoms with many clauses are not tried
  for (std::size_t i = 0; i < order.size() && work < kMostWork && !terminator.terminate(); ++i) {
    work += order.size() - i + is_hidden.size();
    for (std::size_t later = i + 1; later < order.size(); ++later) copies.solver.assume(copies.equal(order[later]));
    copies.solver.assume(order[i] + 1);
    copies.solver.assume(-copies.copy(order[i]));
    copies.solver.limit("conflicts", kConflictsPerTest);
    if (copies.solver.solve() == kUnsatisfiable) {
      defined.push_back(order[i]);
    } else {  // it is one of the others from now on
      copies.solver.add(copies.equal(order[i]));
      copies.solver.add(0);
    }
  }
  copies.solver.disconnect_terminator();
  return defined;
}

}  // namespace treesample
