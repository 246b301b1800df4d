// A factor psi_m: a function of variables with values in the log domain (R and -inf). It is a table, a clause or a
// function. A clause is a table of zeros and one -inf that is kept as its literals, so that it may have thousands of
// variables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace treesample {

// How a monotone function changes when one of its variables moves to a state of a larger index and the others stay.
enum class Direction : signed char { kDecreasing = -1, kIncreasing = 1 };

// The result of a function for one assignment: its value and, if the function knows one, a witness. A witness lists
// positions in the scope whose states alone imply that value, whatever the other states are.
struct FactorValue {
  double log_value = 0.0;
  std::optional<std::vector<int>> witness = {};
};

// A literal of a clause: its variable is in this state, or is not in it.
struct ClauseLiteral {
  int state = 0;
  bool is_state = true;  // false: the variable is in any other state

  [[nodiscard]] bool holds(int x) const { return (x == state) == is_state; }
  friend bool operator==(const ClauseLiteral&, const ClauseLiteral&) = default;
};

class Factor {
 public:
  // psi as code: it gets the states of the scope's variables, in scope order. It must be a pure function, because the
  // search caches its results. Every value is checked when it arrives (model/log_value.hpp).
  using Function = std::function<double(std::span<const int> states)>;

  // Row-major over the scope, last variable fastest (the order of UAI files). A scope may be empty:
  // the factor is then a constant. Throws kArgument for a value that model/log_value.hpp does not allow.
  static Factor table(std::vector<int> scope, std::vector<double> log_values);
  // For sums of tables, which arise when a model is made smaller. They may be real numbers of any size, and -inf.
  static Factor table_of_sums(std::vector<int> scope, std::vector<double> log_values);
  // 0 where at least one of the literals holds, one for each variable of the scope, and -inf elsewhere. `num_states`
  // has those of the scope; empty: two each. Throws kArgument for states that do not exist.
  static Factor clause(std::vector<int> scope, std::vector<ClauseLiteral> literals, std::vector<int> num_states = {});
  // If `log_max` is declared, it must be an upper bound of every value: bounds are derived from it, and a value above
  // it is an error. If `cost` is declared, it is the time of one evaluation in seconds: among the functions of a reward
  // the cheaper ones are called first, and those without a declared cost last.
  static Factor function(std::vector<int> scope, Function function, std::optional<double> log_max = {},
                         std::optional<double> cost = {});

  using Explained = std::function<FactorValue(std::span<const int> states)>;
  // The same with witnesses, which are used if the factor is monotone.
  static Factor explained_function(std::vector<int> scope, Explained function, std::optional<double> log_max = {},
                                   std::optional<double> cost = {});
  // The same function, declared to be monotone, with a direction for each variable of its scope.
  // monotone/box_search.hpp needs this declaration and checks it on all values that it gets. Throws kArgument for a
  // table.
  [[nodiscard]] Factor monotone(std::vector<Direction> directions) const;
  // psi as code that takes many assignments at once: it reads `count` rows with the states of the scope and writes as
  // many values. A queue that evaluates functions passes up to max_batch rows; all others pass one row at a time.
  using BatchFunction = std::function<void(std::span<const int> rows, int count, std::span<double> values)>;
  static Factor batch_function(std::vector<int> scope, BatchFunction function, int max_batch,
                               std::optional<double> log_max = {}, std::optional<double> cost = {});

  // The same values over the same number of other variables; a table is shared, not copied.
  [[nodiscard]] Factor with_scope(std::vector<int> scope) const;

  [[nodiscard]] const std::vector<int>& scope() const { return scope_; }
  // True for tables and clauses: for all that is no function.
  [[nodiscard]] bool is_table() const { return log_values_ != nullptr || clause_ != nullptr; }
  [[nodiscard]] bool is_clause() const { return clause_ != nullptr; }
  // True for tables, and for clauses whose table has at most kMostClauseEntries.
  [[nodiscard]] bool has_table() const;
  static constexpr std::int64_t kMostClauseEntries = 1024;
  // Only for tables and clauses. The table of a clause is made when it is first asked for; for a clause without one,
  // this throws kResource.
  [[nodiscard]] const std::vector<double>& log_values() const { return log_values_ ? *log_values_ : clause_table(); }
  // Only for clauses: by place in the scope.
  [[nodiscard]] const std::vector<ClauseLiteral>& literals() const;
  // Only for clauses: the number of states of the variable at a place in the scope.
  [[nodiscard]] int clause_states(std::size_t place) const;
  // Only for functions.
  [[nodiscard]] const Function& function() const { return function_; }
  // The value with its witness, if the function gives one. It is not checked. Only for functions.
  [[nodiscard]] FactorValue explain(std::span<const int> states) const {
    return explained_ ? explained_(states) : FactorValue{function_(states)};
  }
  // Empty unless the factor was declared to be monotone.
  [[nodiscard]] const std::vector<Direction>& directions() const { return directions_; }
  // The function that takes many assignments at once; empty for other factors, whose largest batch is 1.
  [[nodiscard]] const BatchFunction& batch() const { return batch_; }
  [[nodiscard]] int max_batch() const { return max_batch_; }
  // The largest entry of a table, or the declared maximum of a function.
  [[nodiscard]] std::optional<double> log_max() const { return log_max_; }
  // 0 for a table, the declared cost for a function.
  [[nodiscard]] std::optional<double> cost() const { return cost_; }

 private:
  struct ClauseTerms;
  [[nodiscard]] const std::vector<double>& clause_table() const;

  std::vector<int> scope_;
  std::shared_ptr<const std::vector<double>> log_values_;  // shared: copies of a model are cheap
  std::shared_ptr<const ClauseTerms> clause_;              // the same
  Function function_;
  Explained explained_;  // empty if there are no witnesses
  std::vector<Direction> directions_;
  BatchFunction batch_;
  int max_batch_ = 1;
  std::optional<double> log_max_;
  std::optional<double> cost_ = 0.0;
};

}  // namespace treesample
