#include "optimize/cost_reduction.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace treesample {
namespace {

constexpr double kMostBucketEntries = 64.0;  // of a bucket of any kind
constexpr double kMostMore = 1.0;            // or of its message, in units of the tables that it replaces
constexpr double kMostReplaced = 4096.0;     // then at most

// The steps in a table when the states of `scope` change; 0 for variables that it does not have.
std::vector<std::size_t> steps_in(const CostTable& table, const std::vector<int>& num_states,
                                  const std::vector<int>& scope) {
  std::vector<std::size_t> steps(scope.size(), 0);
  std::size_t stride = 1;
  for (std::size_t i = table.scope.size(); i-- > 0;) {
    const auto place = std::find(scope.begin(), scope.end(), table.scope[i]);
    if (place != scope.end()) steps[static_cast<std::size_t>(place - scope.begin())] = stride;
    stride *= static_cast<std::size_t>(num_states[table.scope[i]]);
  }
  return steps;
}

// Adds the table to one over a larger scope.
void add_to(std::vector<Cost>& sums, const std::vector<int>& scope, const CostTable& table,
            const std::vector<int>& num_states) {
  const std::vector<std::size_t> steps = steps_in(table, num_states, scope);
  std::vector<int> states(scope.size(), 0);
  std::size_t at = 0;
  for (Cost& sum : sums) {
    sum = std::min(kTop, sum + table.costs[at]);
    for (std::size_t j = scope.size(); j-- > 0;) {
      if (++states[j] < num_states[scope[j]]) {
        at += steps[j];
        break;
      }
      at -= steps[j] * static_cast<std::size_t>(states[j] - 1);
      states[j] = 0;
    }
  }
}

double num_entries(const std::vector<int>& scope, const std::vector<int>& num_states) {
  double entries = 1.0;
  for (const int v : scope) entries *= num_states[v];
  return entries;
}

}  // namespace

CostReduction::CostReduction(CostTables& model, const CostReductionOptions& options)
    : model_(model), num_states_(model.num_states), uses_(model.num_states.size()) {
  join_tables();
  if (!options.eliminates) return;
  eliminate_all();
  std::erase_if(model_.tables, [](const CostTable& table) { return table.costs.empty(); });
  join_tables();
}

void CostReduction::eliminate_all() {
  for (std::size_t m = 0; m < model_.tables.size(); ++m) {
    for (const int v : model_.tables[m].scope) uses_[v].push_back(static_cast<int>(m));
  }
  std::vector<char> is_waiting(num_states_.size(), 1);
  std::vector<int> queue(num_states_.size());
  for (std::size_t v = 0; v < queue.size(); ++v) queue[v] = static_cast<int>(v);
  // By the number of neighbours, roughly: those that are cheap first, and again what their elimination has changed.
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const int v = queue[i];
    is_waiting[v] = 0;
    if (model_.num_states[v] == 1) continue;
    std::set<int> around;
    double replaced = 0.0;
    std::erase_if(uses_[v], [&](int m) { return model_.tables[m].costs.empty(); });  // what others have eliminated
    for (const int m : uses_[v]) {
      around.insert(model_.tables[m].scope.begin(), model_.tables[m].scope.end());
      if (model_.tables[m].scope.size() > 1) replaced += static_cast<double>(model_.tables[m].costs.size());
    }
    around.erase(v);
    const std::vector<int> scope(around.begin(), around.end());
    const double message = num_entries(scope, num_states_);
    const bool is_small = message * num_states_[v] <= kMostBucketEntries;
    if (!is_small && !(message <= kMostMore * replaced && message * num_states_[v] <= kMostReplaced)) continue;
    eliminate(v, scope);
    for (const int u : scope) {
      if (is_waiting[u] != 0) continue;
      is_waiting[u] = 1;
      queue.push_back(u);
    }
  }
}

// The smallest tables first, each into one of those with its variables.
void CostReduction::join_tables() {
  std::vector<CostTable>& tables = model_.tables;
  std::stable_sort(tables.begin(), tables.end(),
                   [](const CostTable& a, const CostTable& b) { return a.scope.size() < b.scope.size(); });
  std::vector<std::vector<int>> uses(num_states_.size());
  for (std::size_t m = 0; m < tables.size(); ++m) {
    for (const int v : tables[m].scope) uses[v].push_back(static_cast<int>(m));
  }
  for (std::size_t m = 0; m < tables.size(); ++m) {
    CostTable& small = tables[m];
    if (small.scope.empty()) continue;
    int rarest = small.scope.front();
    for (const int v : small.scope) {
      if (uses[v].size() < uses[rarest].size()) rarest = v;
    }
    const std::vector<int>& others = uses[rarest];
    for (auto other = std::upper_bound(others.begin(), others.end(), static_cast<int>(m)); other != others.end();
         ++other) {
      CostTable& large = tables[*other];
      // A single variable's costs are found in its own table, whatever others there are.
      if (small.scope.size() == 1 && large.scope.size() > 1) continue;
      const bool is_within = std::all_of(small.scope.begin(), small.scope.end(), [&](int v) {
        return std::find(large.scope.begin(), large.scope.end(), v) != large.scope.end();
      });
      if (!is_within) continue;
      add_to(large.costs, large.scope, small, model_.num_states);
      small.costs.clear();
      break;
    }
  }
  std::erase_if(tables, [](const CostTable& table) { return table.costs.empty(); });
}

void CostReduction::eliminate(int v, const std::vector<int>& scope) {
  std::vector<int> whole = scope;
  whole.push_back(v);
  std::vector<Cost> sums(static_cast<std::size_t>(num_entries(whole, num_states_)), 0);
  for (const int m : uses_[v]) {
    CostTable& table = model_.tables[m];
    add_to(sums, whole, table, num_states_);
    table = {};
  }
  uses_[v].clear();
  const auto count = static_cast<std::size_t>(num_states_[v]);
  CostTable message{scope, {}};
  Eliminated step{v, scope, {}};
  for (std::size_t i = 0; i < sums.size(); i += count) {
    const auto least = std::min_element(sums.begin() + static_cast<std::ptrdiff_t>(i),
                                        sums.begin() + static_cast<std::ptrdiff_t>(i + count));
    message.costs.push_back(*least);
    step.best_state.push_back(static_cast<std::int32_t>(least - sums.begin()) - static_cast<std::int32_t>(i));
  }
  const auto m = static_cast<int>(model_.tables.size());
  for (const int u : scope) uses_[u].push_back(m);
  model_.tables.push_back(std::move(message));
  eliminated_.push_back(std::move(step));
  model_.num_states[v] = 1;
}

void CostReduction::complete(std::span<int> x) const {
  for (auto step = eliminated_.rbegin(); step != eliminated_.rend(); ++step) {
    std::size_t index = 0;
    for (const int u : step->scope)
      index = index * static_cast<std::size_t>(num_states_[u]) + static_cast<std::size_t>(x[u]);
    x[step->variable] = step->best_state[index];
  }
}

}  // namespace treesample
