#include "treesample/model/factor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/log_value.hpp"

namespace treesample {

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
