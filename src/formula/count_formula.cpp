#include "treesample/formula/count_formula.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "count/clause_reduce.hpp"
#include "count/count_team.hpp"
#include "formula/exact_weights.hpp"
#include "formula/exactly_one.hpp"
#include "formula/integer_counts.hpp"
#include "formula/integer_elimination.hpp"
#include "formula/sat_checks.hpp"
#include "stopwatch.hpp"
#include "thread_team.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// Shares of the time.
constexpr double kFirstCheckEnd = 0.3, kReductionEnd = 0.35, kDefinitionsEnd = 0.45, kGuideEnd = 0.55;
constexpr int kOrderRestarts = 4;

class FormulaCounter {
 public:
  FormulaCounter(const Formula& formula, const Limits& limits, const FormulaOptions& options, const Observer& observer)
      : formula_(formula),
        limits_(limits),
        options_(options),
        observer_(observer),
        is_hidden_(static_cast<std::size_t>(formula.num_variables), 0) {
    if (formula.shown) {
      std::fill(is_hidden_.begin(), is_hidden_.end(), 1);
      for (const int v : *formula.shown) is_hidden_[v - 1] = 0;
    }
  }

  FormulaCount count() {
    weights_ = exact_weights(formula_, is_hidden_, limits_);
    result_.has_negative_weights = weights_.has_negative;
    seconds_ = limits_.seconds - seconds_for_digits(weights_.num_digits);  // the last steps take the rest
    take_clauses();
    check();
    if (result_.is_satisfiable != false && options_.has_reductions) reduce();
    if (result_.is_satisfiable == false) {
      set_solved(Integer(0));
    } else {
      search();
    }
    result_.report.seconds = clock_.seconds();
    return std::move(result_);
  }

 private:
  [[nodiscard]] ShouldStop until(double share) const {
    return [this, end = share * seconds_] {
      return clock_.seconds() >= end || (observer_.should_stop && observer_.should_stop());
    };
  }

  void take_clauses() {
    set_.num_atoms = formula_.num_variables;
    for (int c = 0; c < formula_.num_clauses(); ++c) {
      Clause clause;
      for (const int literal : formula_.clause(c)) {
        clause.push_back(literal > 0 ? positive(literal - 1) : opposite(positive(-literal - 1)));
      }
      std::sort(clause.begin(), clause.end());
      set_.clauses.push_back(std::move(clause));
    }
    std::sort(set_.clauses.begin(), set_.clauses.end());
    set_.clauses.erase(std::unique(set_.clauses.begin(), set_.clauses.end()), set_.clauses.end());
  }

  void check() {
    FirstCheck first = check_first(set_, until(kFirstCheckEnd));
    if (first.is_satisfiable != Satisfiable::kUnknown) {
      result_.is_satisfiable = first.is_satisfiable == Satisfiable::kYes;
    }
    if (!weights_.has_negative && !first.enough.empty()) set_lower(first.enough);
    for (const Literal literal : first.backbone) set_.clauses.push_back({literal});
  }

  // The sum over the solutions that have these literals.
  void set_lower(const std::vector<std::optional<Literal>>& literals) {
    double lower = -weights_.denominator.log_magnitude(), magnitude = -lower;
    for (std::size_t atom = 0; atom < literals.size(); ++atom) {
      if (is_hidden_[atom] != 0) continue;
      const Literal literal = positive(static_cast<int>(atom));
      Integer weight = weight_of(literals[atom].value_or(literal));
      if (!literals[atom]) weight += weight_of(opposite(literal));
      lower += weight.log_magnitude();
      magnitude += std::abs(weight.log_magnitude());
    }
    const double slack = kEpsilon * (static_cast<double>(literals.size()) + 4.0) * magnitude;
    if (lower > kNegInf) result_.log_count.lower = lower - slack;
  }

  // A literal of an atom that is fixed in all solutions, or an atom without clauses.
  [[nodiscard]] Integer weight_of(Literal literal) const {
    if (weights_.states.empty()) return Integer(1);
    const StatePair& pair = weights_.states[atom_of(literal)];
    return is_negative(literal) ? pair.first : pair.second;
  }

  // The weights of what is removed become part of the constant, or of those of equivalent atoms.
  void take_reduced(ReducedClauses reduced) {
    if (reduced.is_impossible) result_.is_satisfiable = false;
    for (const Literal literal : reduced.fixed) {
      is_gone_[atom_of(literal)] = 1;
      if (is_hidden_[atom_of(literal)] == 0) constant_.multiply(weight_of(literal));
    }
    std::vector<signed char> values(2 * is_hidden_.size(), 0);
    for (const Literal literal : reduced.fixed) {
      values[literal] = 1;
      values[opposite(literal)] = -1;
    }
    for (const auto& [atom, literal] : reduced.equivalent) {
      is_gone_[atom] = 1;
      if (weights_.states.empty() || is_hidden_[atom] != 0) continue;
      StatePair& own = weights_.states[atom];
      if (own.first.is_one() && own.second.is_one()) continue;
      if (values[literal] != 0) {
        constant_.multiply(values[literal] > 0 ? own.second : own.first);
        continue;
      }
      StatePair& kept = weights_.states[atom_of(literal)];
      if (is_negative(literal)) std::swap(own.first, own.second);
      kept.first *= own.first;
      kept.second *= own.second;
    }
    for (const int atom : reduced.resolved) is_gone_[atom] = 1;
    set_ = std::move(reduced.rest);
  }

  void reduce() {
    is_gone_.assign(is_hidden_.size(), 0);
    std::vector<AtomRole> roles(is_hidden_.size(), AtomRole::kCounted);
    for (std::size_t atom = 0; atom < roles.size(); ++atom) {
      if (is_hidden_[atom] != 0) roles[atom] = AtomRole::kRemoved;
    }
    tell("clauses");
    take_reduced(reduce_clauses(std::move(set_), roles, until(kReductionEnd)));
    if (!options_.has_definitions || result_.is_satisfiable == false || set_.clauses.empty()) return;
    // What is left of a group without the state that the others define propagates less than the group.
    std::vector<char> may_be_defined(is_hidden_.size(), 0), is_in_group(is_hidden_.size(), 0);
    for (const Clause& group : groups()) {
      for (const Literal literal : group) is_in_group[atom_of(literal)] = 1;
    }
    for (std::size_t atom = 0; atom < may_be_defined.size(); ++atom) {
      may_be_defined[atom] =
          is_hidden_[atom] == 0 && is_gone_[atom] == 0 && is_in_group[atom] == 0 && !has_weights(static_cast<int>(atom))
              ? 1
              : 0;
    }
    tell("definitions");
    const std::vector<int> defined = defined_atoms(set_, is_hidden_, may_be_defined, until(kDefinitionsEnd));
    if (defined.empty()) return;
    for (const int atom : defined) roles[atom] = AtomRole::kRemoved;
    take_reduced(reduce_clauses(std::move(set_), roles, until(kDefinitionsEnd)));
  }

  [[nodiscard]] bool has_weights(int atom) const {
    return !weights_.states.empty() && !(weights_.states[atom].first.is_one() && weights_.states[atom].second.is_one());
  }

  void tell(const char* phase, std::uint64_t num_components = 0, std::optional<double> share_done = {}) const {
    if (!observer_.progress) return;
    observer_.progress(
        {.phase = phase, .num_nodes = num_components, .share_done = share_done, .seconds = clock_.seconds()});
  }

  // How long the search alone has to count: as long as elimination would take, so that whichever is right costs at most
  // as much again. For ever, if there is no time or memory for elimination.
  [[nodiscard]] double seconds_alone(const IntegerElimination& elimination) const {
    constexpr double kCertain = 0.9;  // of the time left: what it takes is a guess
    constexpr double kAtOnce = 0.005;
    const double left = kCertain * (seconds_ - clock_.seconds()) - elimination.seconds();
    const bool is_possible = options_.has_elimination && elimination.is_possible() && left >= 0.0 &&
                             elimination.bytes() <= static_cast<double>(limits_.bytes);
    if (!is_possible) return std::numeric_limits<double>::infinity();
    return elimination.seconds() <= kAtOnce ? 0.0 : std::min(elimination.seconds(), left);
  }

  [[nodiscard]] std::vector<Clause> groups() const {
    std::vector<char> is_shown(is_hidden_.size());
    for (std::size_t atom = 0; atom < is_shown.size(); ++atom) is_shown[atom] = is_hidden_[atom] != 0 ? 0 : 1;
    return options_.has_reductions ? exactly_one_groups(set_, is_shown) : std::vector<Clause>();
  }

  // The atoms that are in clauses become variables, and groups of them become variables of several states; the others
  // are free.
  void make_problem() {
    const std::vector<Clause> all_groups = groups();
    std::vector<int> group_of(is_hidden_.size(), -1);
    for (std::size_t g = 0; g < all_groups.size(); ++g) {
      for (const Literal literal : all_groups[g]) group_of[atom_of(literal)] = static_cast<int>(g);
    }
    std::vector<char> is_used(is_hidden_.size(), 0), is_made(all_groups.size(), 0);
    for (const Clause& clause : set_.clauses) {
      for (const Literal literal : clause) is_used[atom_of(literal)] = 1;
    }
    std::vector<Literal> renamed(2 * is_hidden_.size(), 0);
    std::uint64_t num_free = 0;
    for (std::size_t atom = 0; atom < is_used.size(); ++atom) {
      const Literal literal = positive(static_cast<int>(atom));
      if (is_used[atom] == 0) {
        num_free += take_free(static_cast<int>(atom)) ? 1 : 0;
      } else if (group_of[atom] < 0) {
        add_variable({opposite(literal), literal}, renamed, /*is_group=*/false);
      } else if (is_made[group_of[atom]] == 0) {
        is_made[group_of[atom]] = 1;
        add_variable(all_groups[group_of[atom]], renamed, /*is_group=*/true);
      }
    }
    Integer free(1);
    free.shift(num_free);
    constant_.multiply(std::move(free));
    if (weights_.states.empty()) exact_weights_.clear();
    take_clauses_but(group_of, renamed, all_groups);
  }

  // Returns true for a free atom without weights, whose states double the count.
  bool take_free(int atom) {
    if (is_hidden_[atom] != 0 || (!is_gone_.empty() && is_gone_[atom] != 0)) return false;
    if (weights_.states.empty()) return true;
    Integer both = weights_.states[atom].first;
    both += weights_.states[atom].second;
    constant_.multiply(std::move(both));
    return false;
  }

  // A variable whose states are these literals. Exactly one of them holds.
  void add_variable(const Clause& states, std::vector<Literal>& renamed, bool is_group) {
    CountVariable variable{.first_atom = problem_.num_atoms(),
                           .num_states = static_cast<int>(states.size()),
                           .is_hidden = is_hidden_[atom_of(states.front())] != 0};
    const int index = static_cast<int>(problem_.variables.size());
    for (int atom = 0; atom < variable.num_atoms(); ++atom) problem_.variable_of_atom.push_back(index);
    ExactStates exact;
    double largest = 0.0;
    for (std::size_t s = 0; s < states.size(); ++s) {
      renamed[states[s]] = variable.literal(static_cast<int>(s));
      renamed[opposite(states[s])] = opposite(renamed[states[s]]);
      Integer weight(1);
      if (!variable.is_hidden) weight *= weight_of(states[s]);
      for (std::size_t other = 0; is_group && other < states.size(); ++other) {
        if (other != s) weight *= weight_of(opposite(states[other]));
      }
      const double log_weight = weight.log_magnitude();
      if (std::isfinite(log_weight)) largest = std::max(largest, std::abs(log_weight));
      variable.has_weights = variable.has_weights || !weight.is_one();
      variable.weights.push_back(weight.is_one()
                                     ? CountNumber::one()
                                     : CountNumber::of_log(log_weight, 4.0 * kEpsilon * (1.0 + std::abs(log_weight))));
      exact.push_back(std::move(weight));
    }
    problem_.log_range += largest + std::log(static_cast<double>(states.size()));
    problem_.variables.push_back(std::move(variable));
    exact_weights_.push_back(std::move(exact));
  }

  // Without those that say that exactly one literal of a group holds.
  void take_clauses_but(const std::vector<int>& group_of, const std::vector<Literal>& renamed,
                        const std::vector<Clause>& groups) {
    for (const Clause& clause : set_.clauses) {
      const int group = clause.empty() ? -1 : group_of[atom_of(clause.front())];
      if (group >= 0 && clause == groups[group]) continue;
      const auto is_opposite = [&](Literal literal) {
        return std::binary_search(groups[group].begin(), groups[group].end(), opposite(literal));
      };
      if (group >= 0 && clause.size() == 2 && is_opposite(clause[0]) && is_opposite(clause[1])) continue;
      Clause& own = problem_.clauses.emplace_back();
      for (const Literal literal : clause) own.push_back(renamed[literal]);
      std::sort(own.begin(), own.end());
    }
    set_.clauses.clear();
    std::sort(problem_.clauses.begin(), problem_.clauses.end());
  }

  [[nodiscard]] DecompositionGuide guide() const {
    try {
      return make_guide(problem_.adjacency(), problem_.scopes(), kOrderRestarts, options_.seed, until(kGuideEnd));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kInterrupted) throw;
    }
    const std::size_t size = problem_.variables.size();
    return {.width = static_cast<int>(size), .depths = std::vector<double>(size, 0.0)};
  }

  void search() {
    make_problem();
    CountReport& report = result_.report;
    report.num_variables = static_cast<int>(problem_.variables.size());
    report.num_atoms = problem_.num_atoms();
    report.num_clauses = static_cast<int>(problem_.clauses.size());
    if (!(problem_.log_range <= CountNumber::kLargestLog)) {
      throw Error(ErrorCode::kResource, "the weights are too large or too small to be counted with");
    }
    const DecompositionGuide found = guide();
    report.width = found.width;
    const CountOptions options{.seed = options_.seed};
    IntegerCounts exact(exact_weights_);
    CountTeam search(problem_, found, {limits_.bytes, limits_.threads, options_.decisions_alone}, options, exact);
    IntegerElimination elimination(problem_, exact_weights_, found.order);
    const double end_alone = clock_.seconds() + seconds_alone(elimination);
    const auto stop_search = [&] {
      tell("counting", static_cast<std::uint64_t>(search.num_components()), search.share_done());
      return clock_.seconds() >= end_alone || until(1.0)();
    };
    if (clock_.seconds() < end_alone) search.run(stop_search);
    search.fill(report);
    if (search.is_solved()) {
      Integer count(0);
      if (const auto number = search.exact_result()) {
        count = static_cast<const IntegerCounts&>(search.exact()).sum(*number);
      }
      return set_solved(std::move(count *= constant_.value()));
    }
    if (clock_.seconds() >= end_alone &&
        static_cast<double>(report.peak_bytes) + elimination.bytes() <= static_cast<double>(limits_.bytes)) {
      tell("elimination");
      const int num_threads = limits_.threads > 0 ? limits_.threads : num_cores();
      std::optional<Integer> count = elimination.count(until(1.0), num_threads);
      report.is_eliminated = count.has_value();
      if (count) return set_solved(std::move(*count *= constant_.value()));
    }
    report.stop = search.is_out_of_memory() ? StopReason::kMemory : StopReason::kTime;
    const CountBounds bounds = search.bounds();
    if (!bounds.lower.is_zero()) result_.is_satisfiable = true;
    if (weights_.has_negative) return;
    const double rest = constant_.value().log_magnitude() - weights_.denominator.log_magnitude();
    const double first = result_.log_count.lower;
    const double lower = bounds.lower.log_bounds().lower + rest, upper = bounds.upper.log_bounds().upper + rest;
    const double slack = 8.0 * kEpsilon * (1.0 + std::abs(rest));
    result_.log_count = {std::max(first, lower - slack), upper + slack};
  }

  void set_solved(Integer count) {
    result_.is_solved = true;
    result_.report.stop = StopReason::kExact;
    result_.report.share_done = 1.0;
    if (!count.is_zero()) result_.is_satisfiable = true;
    // Where weights are 0 or cancel, only the first check knows.
    const bool is_plain = !weights_.has_zero && !weights_.has_negative;
    if (count.is_zero() && is_plain) result_.is_satisfiable = false;
    Integer divisor = weights_.denominator;
    const Integer common = common_divisor(count, divisor);
    count.divide_exactly(common);
    divisor.divide_exactly(common);
    const double log_count = count.log_magnitude() - divisor.log_magnitude();
    result_.log_count =
        count.is_zero() ? LogBounds{kNegInf, kNegInf}
                        : LogBounds::around(
                              log_count, 8.0 * kEpsilon * (1.0 + std::abs(log_count) + 2.0 * divisor.log_magnitude()));
    result_.numerator = count.text();
    result_.denominator = divisor.text();
  }

  const Formula& formula_;
  const Limits limits_;
  const FormulaOptions options_;
  const Observer& observer_;
  const Stopwatch clock_;
  double seconds_ = 0.0;                    // for all but the last steps
  std::vector<char> is_hidden_, is_gone_;   // by atom
  ExactWeights weights_;                    // by atom, as far as it is left
  std::vector<ExactStates> exact_weights_;  // by variable of the problem
  IntegerProduct constant_;
  ClauseSet set_;
  CountProblem problem_;
  FormulaCount result_;
};

}  // namespace

FormulaCount count_formula(const Formula& formula, const Limits& limits, const FormulaOptions& options,
                           const Observer& observer) {
  limits.validate();
  return FormulaCounter(formula, limits, options, observer).count();
}

}  // namespace treesample
