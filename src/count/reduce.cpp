#include "count/reduce.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "count/reduce_table.hpp"
#include "count/split_table.hpp"
#include "count/zero_boxes.hpp"
#include "math/compensated_sum.hpp"
#include "model/table_index.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr double kMostEntries = 1024;  // of a table into which a gate was inlined
constexpr int kMostUses = 12;          // of a gate

class Reducer {
 public:
  Reducer(const FactorGraph& graph, const ShouldStop& should_stop, const ReduceSwitches& switches)
      : graph_(graph),
        stop_(should_stop),
        switches_(switches),
        tables_of_(static_cast<std::size_t>(graph.num_variables())) {
    for (int v = 0; v < graph.num_variables(); ++v) num_states_.push_back(graph.num_states(v));
    is_left_.assign(num_states_.size(), 1);
    states_.assign(num_states_.size(), 0);
    for (const Factor& factor : graph.factors()) add({factor.scope(), factor.log_values(), 0.0});
  }

  CountReduction run() {
    for (bool is_changed = true; is_changed;) {
      is_changed = false;
      for (int v = 0; v < graph_.num_variables(); ++v) {
        if (stop_.is_asked(1000)) return result();
        if (is_left_[v] == 0) continue;
        if (switches_.merges) merge_states(v);
        if ((switches_.sums && sum_out(v)) || (switches_.inlines && inline_gate(v))) is_changed = true;
      }
    }
    return result();
  }

 private:
  [[nodiscard]] std::vector<int> states_of(const std::vector<int>& scope) const {
    std::vector<int> num_states;
    for (const int v : scope) num_states.push_back(num_states_[v]);
    return num_states;
  }
  void add(ReduceTable table) {
    drop_flat_variables(states_of(table.scope), table.scope, table.values);
    if (switches_.splits) split(table);
    const int number = static_cast<int>(tables_.size());
    for (const int v : table.scope) tables_of_[v].push_back(number);
    tables_.push_back(std::move(table));
    is_table_left_.push_back(1);
  }
  void split(ReduceTable& table) {
    for (std::size_t i = table.scope.size(); table.scope.size() > 1 && i-- > 0;) {
      std::optional<SplitTable> parts = split_off(states_of(table.scope), table.values, i);
      if (!parts) continue;
      ReduceTable own{.scope = {table.scope[i]}, .values = std::move(parts->own), .error = parts->error};
      table.scope.erase(table.scope.begin() + static_cast<std::ptrdiff_t>(i));
      table.values = std::move(parts->rest);
      ++result_.num_split;
      add(std::move(own));
    }
  }
  void remove(int number) {
    is_table_left_[number] = 0;
    for (const int v : tables_[number].scope) std::erase(tables_of_[v], number);
  }
  [[nodiscard]] double num_entries(const std::vector<int>& scope) const {
    double entries = 1.0;
    for (const int v : scope) entries *= num_states_[v];
    return entries;
  }
  // True if entries other than zeros differ.
  static bool has_weights(const ReduceTable& table) {
    double common = kNegInf;
    for (const double value : table.values) {
      if (value == kNegInf || value == common) continue;
      if (common != kNegInf) return true;
      common = value;
    }
    return false;
  }
  [[nodiscard]] std::size_t num_boxes(const ReduceTable& table) const {
    return cover_zeros(states_of(table.scope), table.values).size();
  }
  [[nodiscard]] double at(const ReduceTable& table, const std::vector<int>& states) const {  // states by variable
    std::size_t index = 0;
    for (const int v : table.scope) {
      index = index * static_cast<std::size_t>(num_states_[v]) + static_cast<std::size_t>(states[v]);
    }
    return table.values[index];
  }
  // Calls visit() for each configuration of the scope, which is in states_; the last variable fastest.
  template <typename Visit>
  void for_each(const std::vector<int>& scope, Visit visit) {
    for (const int v : scope) states_[v] = 0;
    for (bool goes_on = true; goes_on;) {
      visit();
      goes_on = false;
      for (std::size_t i = scope.size(); i-- > 0 && !goes_on;) {
        goes_on = ++states_[scope[i]] < num_states_[scope[i]];
        if (!goes_on) states_[scope[i]] = 0;
      }
    }
  }
  static void unite(std::vector<int>& scope, const std::vector<int>& other, int without) {
    for (const int v : other) {
      if (v != without && std::find(scope.begin(), scope.end(), v) == scope.end()) scope.push_back(v);
    }
  }

  bool sum_out(int v);
  bool inline_gate(int v);
  [[nodiscard]] std::vector<int> gate_states(const ReduceTable& gate, int v);
  [[nodiscard]] ReduceTable inlined(const ReduceTable& table, const ReduceTable& gate, const std::vector<int>& outputs,
                                    int v);
  void merge_states(int v);
  [[nodiscard]] std::vector<int> classes_of(int v);
  CountReduction result();

  const FactorGraph& graph_;
  StopCheck stop_;
  const ReduceSwitches switches_;
  std::vector<int> num_states_;
  std::vector<char> is_left_;
  std::vector<ReduceTable> tables_;
  std::vector<char> is_table_left_;
  std::vector<std::vector<int>> tables_of_;  // by variable
  std::vector<int> states_;                  // by variable, of for_each()
  CompensatedSum constant_;                  // the sum of the constants that were subtracted from tables
  CountReduction result_;
};

bool Reducer::sum_out(int v) {
  const std::vector<int>& numbers = tables_of_[v];
  std::vector<int> scope;
  std::size_t largest = 1;
  for (const int number : numbers) {
    unite(scope, tables_[number].scope, v);
    largest = std::max(largest, tables_[number].values.size());
  }
  if (num_entries(scope) > static_cast<double>(largest)) return false;
  double error = 0.0, magnitude = 0.0;
  for (const int number : numbers) {
    const double most = tables_[number].magnitude();
    error += tables_[number].error + kEpsilon * (1.0 + most);
    magnitude += most;
  }
  ReduceTable sum{.scope = scope, .values = {}};
  std::vector<double> terms(static_cast<std::size_t>(num_states_[v]));
  for_each(scope, [&] {
    for (int s = 0; s < num_states_[v]; ++s) {
      states_[v] = s;
      terms[s] = 0.0;
      for (const int number : numbers) terms[s] += at(tables_[number], states_);
    }
    sum.values.push_back(log_sum_exp(terms));
  });
  const auto num_tables = static_cast<double>(numbers.size());
  const double log_max = *std::max_element(sum.values.begin(), sum.values.end());
  sum.error = error + kEpsilon * (num_tables * magnitude + num_states_[v] + 16.0 + 2.0 * sum.magnitude());
  if (log_max != kNegInf) {  // without this, large numbers would lose digits with each step
    for (double& value : sum.values) value -= log_max;
    sum.error += kEpsilon * std::abs(log_max);
    constant_.add(log_max);
    sum.make_equal();
  }
  for (const int number : std::vector<int>(numbers)) remove(number);
  is_left_[v] = 0;
  add(std::move(sum));
  ++result_.num_summed;
  return true;
}

// The state of v for each entry of the other variables, -1 if none is possible. Empty unless the table determines v.
std::vector<int> Reducer::gate_states(const ReduceTable& gate, int v) {
  std::vector<int> others, outputs;
  unite(others, gate.scope, v);
  bool is_gate = true;
  for_each(others, [&] {
    int output = -1;
    for (int s = 0; s < num_states_[v] && is_gate; ++s) {
      states_[v] = s;
      if (at(gate, states_) == kNegInf) continue;
      is_gate = output < 0;
      output = s;
    }
    outputs.push_back(output);
  });
  if (!is_gate) outputs.clear();
  return outputs;
}

// The table with v replaced by the variables that determine it.
ReduceTable Reducer::inlined(const ReduceTable& table, const ReduceTable& gate, const std::vector<int>& outputs,
                             int v) {
  std::vector<int> inputs;
  unite(inputs, gate.scope, v);
  ReduceTable result{.scope = {}, .values = {}, .error = table.error};
  unite(result.scope, table.scope, v);
  unite(result.scope, inputs, v);
  for_each(result.scope, [&] {
    std::size_t row = 0;
    for (const int u : inputs) {
      row = row * static_cast<std::size_t>(num_states_[u]) + static_cast<std::size_t>(states_[u]);
    }
    states_[v] = outputs[row];
    result.values.push_back(outputs[row] < 0 ? kNegInf : at(table, states_));
  });
  return result;
}

bool Reducer::inline_gate(int v) {
  const std::vector<int> numbers = tables_of_[v];
  if (static_cast<int>(numbers.size()) > kMostUses) return false;
  for (const int number : numbers) {
    const ReduceTable& gate = tables_[number];
    if (gate.scope.size() < 2 || static_cast<double>(gate.values.size()) > kMostEntries) continue;
    const std::vector<int> outputs = gate_states(gate, v);
    if (outputs.empty()) continue;
    const std::size_t num_others = gate.scope.size() - 1;
    std::size_t before = num_boxes(gate), after = 0;
    std::vector<ReduceTable> made;
    bool fits = true;
    for (const int other : numbers) {
      std::vector<int> scope;
      unite(scope, tables_[other].scope, v);
      unite(scope, gate.scope, v);
      // Clauses may become longer. A table of weights may not grow, because it would connect more than before.
      fits = num_entries(scope) <= kMostEntries &&
             (scope.size() < std::max(gate.scope.size(), tables_[other].scope.size()) || !has_weights(tables_[other]));
      if (!fits) break;
      made.push_back(inlined(tables_[other], gate, outputs, v));
      if (other != number) before += num_boxes(tables_[other]);
      after += num_boxes(made.back());
      stop_.is_asked(static_cast<std::int64_t>(16 * made.back().values.size()));
    }
    if (!fits || after > before) continue;
    for (const int other : numbers) remove(other);
    for (ReduceTable& table : made) add(std::move(table));
    is_left_[v] = 0;
    ++result_.num_inlined;
    result_.num_equivalent += num_others == 1 ? 1 : 0;
    return true;
  }
  return false;
}

// A number for each state, equal for states in which all tables over several variables agree.
std::vector<int> Reducer::classes_of(int v) {
  std::vector<int> classes(static_cast<std::size_t>(num_states_[v]));
  for (int s = 0; s < num_states_[v]; ++s) {
    classes[s] = s;
    for (int t = 0; t < s && classes[s] == s; ++t) {
      if (classes[t] != t) continue;
      bool is_equal = true;
      for (const int number : tables_of_[v]) {
        const ReduceTable& table = tables_[number];
        if (table.scope.size() < 2 || !is_equal) continue;
        std::vector<int> others;
        unite(others, table.scope, v);
        for_each(others, [&] {
          if (!is_equal) return;
          states_[v] = s;
          const double value = at(table, states_);
          states_[v] = t;
          is_equal = value == at(table, states_);
        });
      }
      if (is_equal) classes[s] = t;
    }
  }
  return classes;
}

void Reducer::merge_states(int v) {
  // The limits apply because every pair of states is compared. With two states there is nothing to do: a variable whose
  // two states are equal is in no table over several variables.
  constexpr int kLeastStates = 3, kMostStates = 64;
  if (num_states_[v] < kLeastStates || num_states_[v] > kMostStates || tables_of_[v].empty()) return;
  const std::vector<int> classes = classes_of(v);
  std::vector<int> kept;
  for (int s = 0; s < num_states_[v]; ++s) {
    if (classes[s] == s) kept.push_back(s);
  }
  if (static_cast<int>(kept.size()) == num_states_[v]) return;
  // The weights of the states, from the tables over v alone.
  std::vector<CompensatedSum> weights(classes.size());
  double error = 0.0, magnitude = 0.0;
  std::vector<ReduceTable> made;
  for (const int number : std::vector<int>(tables_of_[v])) {
    ReduceTable table = tables_[number];
    remove(number);
    if (table.scope.size() == 1) {
      for (std::size_t s = 0; s < weights.size(); ++s) weights[s].add(table.values[s]);
      error += table.error + kEpsilon * (1.0 + table.magnitude());
      magnitude += table.magnitude();
      continue;
    }
    ReduceTable smaller{.scope = table.scope, .values = {}, .error = table.error};
    for_each(table.scope, [&] {
      if (classes[states_[v]] == states_[v]) smaller.values.push_back(at(table, states_));
    });
    made.push_back(std::move(smaller));
  }
  ReduceTable unary{.scope = {v}, .values = {}};
  for (const int s : kept) {
    std::vector<double> terms;
    for (std::size_t t = 0; t < classes.size(); ++t) {
      if (classes[t] == s) terms.push_back(weights[t].value());
    }
    unary.values.push_back(log_sum_exp(terms));
  }
  unary.error = error + kEpsilon * (2.0 * magnitude + static_cast<double>(classes.size()) + 16.0 + unary.magnitude());
  result_.num_merged_states += num_states_[v] - static_cast<int>(kept.size());
  num_states_[v] = static_cast<int>(kept.size());
  for (ReduceTable& table : made) add(std::move(table));
  add(std::move(unary));
}

CountReduction Reducer::result() {
  std::vector<int> number_of(num_states_.size(), -1);
  for (std::size_t v = 0; v < num_states_.size(); ++v) {
    if (is_left_[v] != 0) number_of[v] = result_.graph.add_variable(num_states_[v]);
  }
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    if (is_table_left_[i] == 0) continue;
    std::vector<int> scope;
    for (const int v : tables_[i].scope) scope.push_back(number_of[v]);
    result_.log_error += tables_[i].error;
    result_.graph.add_factor(Factor::table_of_sums(std::move(scope), std::move(tables_[i].values)));
  }
  if (constant_.value() != 0.0) result_.graph.add_factor(Factor::table_of_sums({}, {constant_.value()}));
  result_.log_error += constant_.error();
  return std::move(result_);
}

}  // namespace

CountReduction reduce_for_count(const FactorGraph& graph, const ShouldStop& should_stop,
                                const ReduceSwitches& switches) {
  return Reducer(graph, should_stop, switches).run();
}

}  // namespace treesample
