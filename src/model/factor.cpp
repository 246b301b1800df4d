#include "treesample/model/factor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/log_value.hpp"

namespace treesample {

struct Factor::ClauseTerms {
  std::vector<ClauseLiteral> literals;
  std::vector<int> num_states;  // empty: two each
  mutable std::once_flag is_made;
  mutable std::vector<double> table;

  [[nodiscard]] int states(std::size_t place) const { return num_states.empty() ? 2 : num_states[place]; }
  // More than kMostClauseEntries stand for all larger numbers.
  [[nodiscard]] std::int64_t num_entries() const {
    std::int64_t entries = 1;
    for (std::size_t i = 0; i < literals.size() && entries <= kMostClauseEntries; ++i) entries *= states(i);
    return entries;
  }
  void make_table() const {
    table.assign(static_cast<std::size_t>(num_entries()), 0.0);
    for (std::size_t entry = 0; entry < table.size(); ++entry) {
      std::size_t rest = entry;
      bool holds = false;
      for (std::size_t i = literals.size(); i-- > 0;) {
        const auto count = static_cast<std::size_t>(states(i));
        holds = holds || literals[i].holds(static_cast<int>(rest % count));
        rest /= count;
      }
      if (!holds) table[entry] = kNegInf;
    }
  }
};

Factor Factor::clause(std::vector<int> scope, std::vector<ClauseLiteral> literals, std::vector<int> num_states) {
  constexpr const char* kFunction = "Factor::clause";
  check_argument(literals.size() == scope.size(), kFunction,
                 fmt::format("{} literals for a scope of {} variables", literals.size(), scope.size()));
  check_argument(num_states.empty() || num_states.size() == scope.size(), kFunction,
                 fmt::format("{} numbers of states for a scope of {} variables", num_states.size(), scope.size()));
  if (scope.empty()) return table_of_sums({}, {kNegInf});
  if (std::all_of(num_states.begin(), num_states.end(), [](int count) { return count == 2; })) num_states.clear();
  for (std::size_t i = 0; i < literals.size(); ++i) {
    check_range(kFunction, "state", literals[i].state, 0, (num_states.empty() ? 2 : num_states[i]) - 1);
  }
  auto clause = std::make_shared<ClauseTerms>();
  clause->literals = std::move(literals);
  clause->num_states = std::move(num_states);
  Factor factor;
  factor.scope_ = std::move(scope);
  factor.clause_ = std::move(clause);
  factor.log_max_ = 0.0;
  return factor;
}

bool Factor::has_table() const {
  return log_values_ != nullptr || (clause_ != nullptr && clause_->num_entries() <= kMostClauseEntries);
}

const std::vector<ClauseLiteral>& Factor::literals() const { return clause_->literals; }
int Factor::clause_states(std::size_t place) const { return clause_->states(place); }

const std::vector<double>& Factor::clause_table() const {
  if (!has_table()) {
    throw Error(ErrorCode::kResource,
                fmt::format("a clause of {} literals has no table: only counting takes it (--method count)",
                            clause_->literals.size()));
  }
  std::call_once(clause_->is_made, [this] { clause_->make_table(); });
  return clause_->table;
}

Factor Factor::table(std::vector<int> scope, std::vector<double> log_values) {
  for (std::size_t i = 0; i < log_values.size(); ++i) {
    if (const std::string problem = table_value_problem(log_values[i]); !problem.empty()) {
      throw_argument("Factor::table", fmt::format("entry {} is {}", i, problem));
    }
  }
  return table_of_sums(std::move(scope), std::move(log_values));
}

Factor Factor::table_of_sums(std::vector<int> scope, std::vector<double> log_values) {
  double largest = kNegInf;
  for (std::size_t i = 0; i < log_values.size(); ++i) {
    if (!is_log_value(log_values[i])) {
      throw_argument("Factor::table_of_sums",
                     fmt::format("entry {} is {}, allowed are real numbers and -inf", i, log_values[i]));
    }
    largest = std::max(largest, log_values[i]);
  }
  Factor factor;
  factor.scope_ = std::move(scope);
  factor.log_values_ = std::make_shared<const std::vector<double>>(std::move(log_values));
  factor.log_max_ = largest;
  return factor;
}

Factor Factor::function(std::vector<int> scope, Function function, std::optional<double> log_max,
                        std::optional<double> cost) {
  if (!function) throw_argument("Factor::function", "the function is empty");
  if (const std::string problem = log_max ? log_value_problem(*log_max) : ""; !problem.empty()) {
    throw_argument("Factor::function", fmt::format("log_max is {}", problem));
  }
  if (cost) check_at_least("Factor::function", "cost", *cost, 0.0);
  Factor factor;
  factor.scope_ = std::move(scope);
  factor.function_ = std::move(function);
  factor.log_max_ = log_max;
  factor.cost_ = cost;
  return factor;
}

Factor Factor::explained_function(std::vector<int> scope, Explained function, std::optional<double> log_max,
                                  std::optional<double> cost) {
  if (!function) throw_argument("Factor::explained_function", "the function is empty");
  const Function value = [function](std::span<const int> states) { return function(states).log_value; };
  Factor factor = Factor::function(std::move(scope), value, log_max, cost);
  factor.explained_ = std::move(function);
  return factor;
}

Factor Factor::monotone(std::vector<Direction> directions) const {
  check_argument(!is_table(), "Factor::monotone", "the factor is a table, and only functions are declared monotone");
  check_argument(directions.size() == scope_.size(), "Factor::monotone",
                 fmt::format("{} directions for a scope of {} variables", directions.size(), scope_.size()));
  Factor factor = *this;
  factor.directions_ = std::move(directions);
  return factor;
}

Factor Factor::batch_function(std::vector<int> scope, BatchFunction function, int max_batch,
                              std::optional<double> log_max, std::optional<double> cost) {
  if (!function) throw_argument("Factor::batch_function", "the function is empty");
  check_range("Factor::batch_function", "max_batch", max_batch, 1, 1 << 20);
  const auto one = [function](std::span<const int> states) {
    double value = 0.0;
    function(states, 1, {&value, 1});
    return value;
  };
  Factor factor = Factor::function(std::move(scope), one, log_max, cost);
  factor.batch_ = std::move(function);
  factor.max_batch_ = max_batch;
  return factor;
}

Factor Factor::with_scope(std::vector<int> scope) const {
  check_range("Factor::with_scope", "number of variables", static_cast<std::int64_t>(scope.size()),
              static_cast<std::int64_t>(scope_.size()), static_cast<std::int64_t>(scope_.size()));
  Factor factor = *this;
  factor.scope_ = std::move(scope);
  return factor;
}

}  // namespace treesample
