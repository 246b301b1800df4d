#include "treesample/exact/decisions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/dense_table.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/names.hpp"

namespace treesample {
namespace {

constexpr const char* kBestDecisions = "best_decisions";

struct NumberTable {
  std::vector<int> scope;  // ascending
  std::vector<double> values;
};

class Diagram {
 public:
  Diagram(const DecisionModel& model, const Evidence& evidence, std::size_t most_bytes)
      : model_(model), graph_(model.graph), most_bytes_(most_bytes), observed_(observed_states(graph_, evidence)) {
    check_decisions();
    take_tables();
  }

  DecisionAnswer solve() {
    DecisionAnswer answer;
    for (std::size_t d = model_.decisions.size() + 1; d-- > 0;) {
      for (std::vector<int> open = group_of(d); !open.empty();) {
        const auto next =
            std::min_element(open.begin(), open.end(), [&](int a, int b) { return size_without(a) < size_without(b); });
        sum_out(*next);
        open.erase(next);
      }
      if (d > 0) answer.policies.push_back(decide(model_.decisions[d - 1].variable));
    }
    std::reverse(answer.policies.begin(), answer.policies.end());
    double probability = 1.0;
    for (const NumberTable& table : chances_) probability *= table.values.front();
    if (probability == 0.0) throw_argument(kBestDecisions, "the evidence is impossible");
    for (const NumberTable& table : utilities_) answer.expected_utility += table.values.front();
    answer.log_z = log_scale_ + std::log(probability);
    return answer;
  }

 private:
  void check_decisions();
  void take_tables();
  [[nodiscard]] std::vector<int> group_of(std::size_t number) const;
  [[nodiscard]] double size_without(int v) const;
  [[nodiscard]] std::size_t checked_size(const std::vector<int>& scope) const;
  [[nodiscard]] NumberTable cut(const std::vector<int>& scope, std::vector<double> values) const;
  [[nodiscard]] std::vector<NumberTable> take(std::vector<NumberTable>& from, int v) const;
  template <class Combine>
  [[nodiscard]] NumberTable combined(const std::vector<NumberTable>& tables, std::vector<int> scope, double start,
                                     Combine combine) const;
  [[nodiscard]] std::vector<int> united(const std::vector<NumberTable>& tables, std::vector<int> scope) const;
  [[nodiscard]] NumberTable product(const std::vector<NumberTable>& tables, std::vector<int> scope,
                                    double& log_scale) const;
  void sum_out(int v);
  Policy decide(int v);
  void keep(NumberTable probability, NumberTable utility);

  const DecisionModel& model_;
  const FactorGraph& graph_;
  std::size_t most_bytes_;
  Assignment observed_;
  std::vector<int>
      known_from_;  // by variable: the number of the first decision that knows it; decisions: their own + 1
  std::vector<char> is_decision_;
  std::vector<NumberTable> chances_, utilities_;
  double log_scale_ = 0.0;
};

void Diagram::check_decisions() {
  const int n = graph_.num_variables();
  const int num_decisions = static_cast<int>(model_.decisions.size());
  is_decision_.assign(static_cast<std::size_t>(n), 0);
  known_from_.assign(static_cast<std::size_t>(n), num_decisions);
  for (const Decision& decision : model_.decisions) {
    check_range(kBestDecisions, "decision", decision.variable, 0, n - 1);
    const std::string name = variable_name(graph_, decision.variable);
    if (std::exchange(is_decision_[decision.variable], 1) != 0)
      throw_argument(kBestDecisions, fmt::format("{} is decided twice", name));
    if (observed_[decision.variable] >= 0) {
      throw_argument(kBestDecisions, fmt::format("{} is a decision, and cannot be evidence", name));
    }
  }
  for (int d = 0; d < num_decisions; ++d) {
    for (const int v : model_.decisions[static_cast<std::size_t>(d)].known) {
      check_range(kBestDecisions, "known variable", v, 0, n - 1);
      if (is_decision_[v] == 0) {
        known_from_[v] = std::min(known_from_[v], d);
        continue;
      }
      for (int later = d; later < num_decisions; ++later) {
        if (model_.decisions[static_cast<std::size_t>(later)].variable != v) continue;
        throw_argument(kBestDecisions,
                       fmt::format("{} is known to {} before it is decided", variable_name(graph_, v),
                                   variable_name(graph_, model_.decisions[static_cast<std::size_t>(d)].variable)));
      }
    }
  }
}

void Diagram::take_tables() {
  for (const Factor& factor : graph_.factors()) {
    if (!factor.is_table()) throw_argument(kBestDecisions, "a factor is a function, allowed are tables");
    const double largest = *factor.log_max();
    if (largest == kNegInf) throw_argument(kBestDecisions, "the evidence is impossible");
    log_scale_ += largest;
    std::vector<double> values;
    for (const double value : factor.log_values()) values.push_back(std::exp(value - largest));
    chances_.push_back(cut(factor.scope(), std::move(values)));
  }
  for (const Utility& utility : model_.utilities) {
    for (const int v : utility.scope)
      check_range(kBestDecisions, "variable of a utility", v, 0, graph_.num_variables() - 1);
    std::vector<int> sorted = utility.scope;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
      throw_argument(kBestDecisions, "a variable is twice in the scope of a utility");
    if (utility.values.size() != num_table_entries(graph_, utility.scope)) {
      throw_argument(kBestDecisions, fmt::format("a utility has {} values, and its variables {} joint states",
                                                 utility.values.size(), num_table_entries(graph_, utility.scope)));
    }
    for (const double value : utility.values) {
      if (!std::isfinite(value))
        throw_argument(kBestDecisions, fmt::format("a utility is {}, allowed are finite numbers", value));
    }
    utilities_.push_back(cut(utility.scope, utility.values));
  }
}

// With the observed variables in their states, and the others in ascending order.
NumberTable Diagram::cut(const std::vector<int>& scope, std::vector<double> values) const {
  NumberTable table;
  for (const int v : scope) {
    if (observed_[v] < 0) table.scope.push_back(v);
  }
  std::sort(table.scope.begin(), table.scope.end());
  table.values.resize(num_table_entries(graph_, table.scope));
  Assignment x = observed_;
  for (double& value : table.values) {
    for (const int v : table.scope) x[v] = std::max(x[v], 0);
    value = values[table_index(graph_, scope, x)];
    for (std::size_t i = table.scope.size(); i-- > 0;) {
      if (++x[table.scope[i]] < graph_.num_states(table.scope[i])) break;
      x[table.scope[i]] = 0;
    }
  }
  return table;
}

// The chance variables that become known before decision number `number`, or never for the last one.
std::vector<int> Diagram::group_of(std::size_t number) const {
  std::vector<int> group;
  for (int v = 0; v < graph_.num_variables(); ++v) {
    if (is_decision_[v] == 0 && observed_[v] < 0 && known_from_[v] == static_cast<int>(number)) group.push_back(v);
  }
  return group;
}

std::vector<int> Diagram::united(const std::vector<NumberTable>& tables, std::vector<int> scope) const {
  for (const NumberTable& table : tables) {
    std::vector<int> both;
    std::set_union(scope.begin(), scope.end(), table.scope.begin(), table.scope.end(), std::back_inserter(both));
    scope = std::move(both);
  }
  return scope;
}

double Diagram::size_without(int v) const {
  std::vector<NumberTable> with;  // scopes alone
  for (const std::vector<NumberTable>* const tables : {&chances_, &utilities_}) {
    for (const NumberTable& table : *tables) {
      if (std::binary_search(table.scope.begin(), table.scope.end(), v)) with.push_back({table.scope, {}});
    }
  }
  double size = 1.0;
  for (const int u : united(with, {})) size *= graph_.num_states(u);
  return size;
}

std::size_t Diagram::checked_size(const std::vector<int>& scope) const {
  double size = 1.0;
  for (const int v : scope) size *= graph_.num_states(v);
  if (size * sizeof(double) > static_cast<double>(most_bytes_) / 4.0) {
    throw Error(ErrorCode::kResource,
                fmt::format("{}: a table has {:.3g} entries, which does not fit into {:.3g} bytes", kBestDecisions,
                            size, static_cast<double>(most_bytes_)));
  }
  return static_cast<std::size_t>(size);
}

std::vector<NumberTable> Diagram::take(std::vector<NumberTable>& from, int v) const {
  std::vector<NumberTable> taken, left;
  for (NumberTable& table : from) {
    (std::binary_search(table.scope.begin(), table.scope.end(), v) ? taken : left).push_back(std::move(table));
  }
  from = std::move(left);
  return taken;
}

template <class Combine>
NumberTable Diagram::combined(const std::vector<NumberTable>& tables, std::vector<int> scope, double start,
                              Combine combine) const {
  NumberTable result{std::move(scope), {}};
  result.values.assign(checked_size(result.scope), start);
  for (const NumberTable& table : tables) {
    const std::vector<std::size_t> strides = strides_in(graph_, table.scope, result.scope);
    std::vector<int> states(result.scope.size(), 0);
    std::size_t at = 0;
    for (double& value : result.values) {
      value = combine(value, table.values[at]);
      for (std::size_t i = states.size(); i-- > 0;) {
        at += strides[i];
        if (++states[i] < graph_.num_states(result.scope[i])) break;
        at -= strides[i] * static_cast<std::size_t>(graph_.num_states(result.scope[i]));
        states[i] = 0;
      }
    }
  }
  return result;
}

// A product of probabilities, times a number: of many it would be too small.
NumberTable Diagram::product(const std::vector<NumberTable>& tables, std::vector<int> scope, double& log_scale) const {
  constexpr double kSmall = 1e-100;
  NumberTable result = combined({}, std::move(scope), 1.0, [](double a, double) { return a; });
  for (const NumberTable& table : tables) {
    const std::vector<int> all = result.scope;
    result = combined({result, table}, all, 1.0, [](double a, double b) { return a * b; });
    const double largest = *std::max_element(result.values.begin(), result.values.end());
    if (largest == 0.0 || largest > kSmall) continue;
    log_scale += std::log(largest);
    for (double& value : result.values) value /= largest;
  }
  return result;
}

// Numbers are kept near 1. A table that is one number stays, for the end.
void Diagram::keep(NumberTable probability, NumberTable utility) {
  const double largest = *std::max_element(probability.values.begin(), probability.values.end());
  if (largest > 0.0) {
    log_scale_ += std::log(largest);
    for (double& value : probability.values) value /= largest;
  }
  chances_.push_back(std::move(probability));
  if (!utility.values.empty()) utilities_.push_back(std::move(utility));
}

void Diagram::sum_out(int v) {
  const std::vector<NumberTable> chances = take(chances_, v), utilities = take(utilities_, v);
  const auto multiply = [](double a, double b) { return a * b; };
  const auto add = [](double a, double b) { return a + b; };
  const std::vector<int> scope = united(utilities, united(chances, {v}));
  const NumberTable p = product(chances, utilities.empty() ? scope : united(chances, {v}), log_scale_);
  NumberTable probability{p.scope, {}};
  std::erase(probability.scope, v);
  probability.values.assign(num_table_entries(graph_, probability.scope), 0.0);
  add_sums(graph_, p.scope, p.values.data(), probability.scope, probability.values.data());
  NumberTable utility;
  if (!utilities.empty()) {
    const NumberTable u = combined(utilities, scope, 0.0, add);
    const NumberTable weighed = combined({p, u}, scope, 1.0, multiply);
    utility.scope = scope;
    std::erase(utility.scope, v);
    NumberTable sums{utility.scope, std::vector<double>(num_table_entries(graph_, utility.scope), 0.0)};
    add_sums(graph_, scope, weighed.values.data(), sums.scope, sums.values.data());
    // Where it is impossible, the utility does not matter.
    const auto divide = [](double a, double b) { return b > 0.0 ? a / b : 0.0; };
    const std::vector<int> wide = sums.scope;
    utility = combined({probability}, wide, 1.0, [](double, double b) { return b; });
    for (std::size_t e = 0; e < utility.values.size(); ++e)
      utility.values[e] = divide(sums.values[e], utility.values[e]);
  }
  keep(std::move(probability), std::move(utility));
}

// The tables of what is known before a decision must not depend on it.
Policy Diagram::decide(int v) {
  const std::vector<NumberTable> chances = take(chances_, v), utilities = take(utilities_, v);
  const auto num_states = static_cast<std::size_t>(graph_.num_states(v));
  const NumberTable p = product(chances, united(chances, {v}), log_scale_);
  NumberTable probability{p.scope, {}};
  std::erase(probability.scope, v);
  std::vector<int> behind = probability.scope;
  behind.push_back(v);
  NumberTable by_state{behind, std::vector<double>(p.values.size(), 0.0)};
  add_sums(graph_, p.scope, p.values.data(), behind, by_state.values.data());
  for (std::size_t e = 0; e < by_state.values.size(); e += num_states) {
    const auto [least, most] =
        std::minmax_element(by_state.values.begin() + static_cast<std::ptrdiff_t>(e),
                            by_state.values.begin() + static_cast<std::ptrdiff_t>(e + num_states));
    if (*most - *least > 1e-9 * *most) {
      throw_argument(kBestDecisions,
                     fmt::format("what is known when {} is decided depends on it", variable_name(graph_, v)));
    }
    probability.values.push_back(*most);
  }
  Policy policy{.decision = v, .scope = united(utilities, united(chances, {v})), .choice = {}};
  std::erase(policy.scope, v);
  std::vector<int> scope = united(utilities, {v}), rest = scope;
  std::erase(rest, v);
  const NumberTable u = combined(utilities, scope, 0.0, [](double a, double b) { return a + b; });
  NumberTable last{rest, {}};
  last.scope.push_back(v);
  last.values.assign(u.values.size(), 0.0);
  add_sums(graph_, u.scope, u.values.data(), last.scope, last.values.data());
  NumberTable utility{rest, {}};
  std::vector<int> best;
  for (std::size_t e = 0; e < last.values.size(); e += num_states) {
    const auto begin = last.values.begin() + static_cast<std::ptrdiff_t>(e);
    const auto most = std::max_element(begin, begin + static_cast<std::ptrdiff_t>(num_states));
    best.push_back(static_cast<int>(most - begin));
    utility.values.push_back(*most);
  }
  // -1 where what is known cannot be.
  std::vector<NumberTable> about = {probability};
  for (const NumberTable& table : chances_) {
    if (std::includes(policy.scope.begin(), policy.scope.end(), table.scope.begin(), table.scope.end())) {
      about.push_back(table);
    }
  }
  const NumberTable choices{rest, std::vector<double>(best.begin(), best.end())};
  const NumberTable wide = combined({choices}, policy.scope, 0.0, [](double, double choice) { return choice; });
  double unused_scale = 0.0;
  const NumberTable possible = product(about, policy.scope, unused_scale);
  for (std::size_t e = 0; e < wide.values.size(); ++e) {
    policy.choice.push_back(possible.values[e] > 0.0 ? static_cast<int>(wide.values[e]) : -1);
  }
  keep(std::move(probability), std::move(utility));
  return policy;
}

}  // namespace

DecisionAnswer best_decisions(const DecisionModel& model, const Evidence& evidence, std::size_t most_bytes) {
  return Diagram(model, evidence, most_bytes).solve();
}

}  // namespace treesample
