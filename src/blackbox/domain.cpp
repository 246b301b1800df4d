#include "treesample/blackbox/domain.hpp"

#include <fmt/format.h>

#include <cmath>

#include "treesample/error.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

double Domain::num_configurations() const {
  double product = 1.0;
  for (const int k : num_states) product *= k;
  return product;
}

void Domain::validate() const {
  check_argument(!num_states.empty(), "Domain", "there is no variable");
  check_range("Domain", "the number of variables", std::ssize(num_states), 1, kMostVariables);
  check_argument(levels.empty() || levels.size() == num_states.size(), "Domain",
                 fmt::format("levels are given for {} variables of {}", levels.size(), num_states.size()));
  for (int v = 0; v < width(); ++v) {
    const auto place = static_cast<std::size_t>(v);
    check_range("Domain", fmt::format("num_states[{}]", v), num_states[place], 1, kMostStates);
    if (!is_ordered(v)) continue;
    const std::string problem = levels_problem(levels[place], num_states[place]);
    check_argument(problem.empty(), "Domain", fmt::format("variable {} has {}", v, problem));
  }
}

void Domain::check(std::span<const int> x) const {
  check_argument(std::ssize(x) == width(), "Domain",
                 fmt::format("a configuration has {} states for {} variables", x.size(), width()));
  for (std::size_t v = 0; v < x.size(); ++v) {
    if (x[v] < 0 || x[v] >= num_states[v]) {
      check_range("Domain", fmt::format("the state of variable {}", v), x[v], 0, num_states[v] - 1);
    }
  }
}

namespace {

void check_value(double value, std::size_t place) {
  if (is_log_value(value)) return;
  throw Error(ErrorCode::kNumeric,
              fmt::format("ToldValues: value {} is {}, allowed are numbers and -inf", place, value));
}

}  // namespace

void ToldValues::add(const Domain& domain, std::span<const int> x, double value) {
  check_argument(known.empty(), "ToldValues", "a value without a known part is added to values with one");
  check_argument(width == domain.width(), "ToldValues",
                 fmt::format("the width is {} for {} variables", width, domain.width()));
  domain.check(x);
  check_value(value, values.size());
  states.insert(states.end(), x.begin(), x.end());
  values.push_back(value);
}

void ToldValues::validate(const Domain& domain) const {
  check_argument(width == domain.width(), "ToldValues",
                 fmt::format("the width is {} for {} variables", width, domain.width()));
  check_argument(states.size() == values.size() * static_cast<std::size_t>(width), "ToldValues",
                 fmt::format("there are {} states for {} values of {} variables", states.size(), values.size(), width));
  check_argument(known.empty() || known.size() == values.size(), "ToldValues",
                 fmt::format("there are {} known parts for {} values", known.size(), values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    domain.check(row(i));
    check_value(values[i], i);
    if (!known.empty()) check_value(known[i], i);
  }
}

}  // namespace treesample
