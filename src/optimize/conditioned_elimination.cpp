#include "optimize/conditioned_elimination.hpp"

#include <algorithm>
#include <cmath>

#include "model/table_index.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr double kFewEntries = 128.0;  // of a bucket where there is no more room for messages

}  // namespace

ConditionedElimination::ConditionedElimination(const FactorGraph& graph) : graph_(graph) {
  const auto num_variables = static_cast<std::size_t>(graph.num_variables());
  for (int m = 0; m < graph.num_factors(); ++m) {
    const std::vector<int>& scope = graph.factor(m).scope();
    tables_.push_back({scope, graph.factor(m).log_values().data(), table_strides(states_of_scope(graph, scope))});
  }
  messages_.resize(num_variables);
  items_.resize(num_variables);
  begin_.resize(num_variables);
  size_.resize(num_variables);
  position_.resize(num_variables);
  is_in_scope_.resize(num_variables);
}

// Into the bucket of its first free variable that is removed after this position.
bool ConditionedElimination::place(Item* item, int after) {
  int first = -1;
  for (const int u : item->scope) {
    if (is_fixed_[u] != 0 || position_[u] <= after) continue;
    if (first < 0 || position_[u] < position_[first]) first = u;
  }
  if (first < 0) return false;
  const bool is_table = item >= tables_.data() && item < tables_.data() + tables_.size();
  items_[first].push_back(is_table ? static_cast<int>(item - tables_.data())
                                   : ~static_cast<int>(item - messages_.data()));
  return true;
}

// The free variables of the bucket's tables and messages, without v.
void ConditionedElimination::gather(int v) {
  scope_.clear();
  for (const int i : items_[v]) {
    const Item& item = i >= 0 ? tables_[i] : messages_[~i];
    for (const int u : item.scope) {
      if (u == v || is_fixed_[u] != 0 || is_in_scope_[u] != 0) continue;
      is_in_scope_[u] = 1;
      scope_.push_back(u);
    }
  }
  for (const int u : scope_) is_in_scope_[u] = 0;
}

// Which variables are free, and where each table and message goes.
void ConditionedElimination::choose(const Part& part) {
  for (std::size_t i = 0; i < part.order.size(); ++i) position_[part.order[i]] = static_cast<int>(i);
  is_fixed_.assign(part.order.size(), 0);
  num_fixed_ = 0;
  for (std::vector<int>& items : items_) items.clear();
  for (Item& table : tables_) place(&table, -1);
  double in_all = 0.0;
  for (std::size_t i = 0; i < part.order.size(); ++i) {
    const int v = part.order[i];
    if (is_fixed_[v] == 0) {
      gather(v);
      double entries = graph_.num_states(v);
      for (const int u : scope_) entries *= graph_.num_states(u);
      const double most = in_all < part.most_in_all ? part.most_entries : kFewEntries;
      while (is_fixed_[v] == 0 && entries > most) {
        int least = v;
        for (const int u : scope_) {
          if (part.priority[u] < part.priority[least]) least = u;
        }
        is_fixed_[least] = 1;
        ++num_fixed_;
        entries /= graph_.num_states(least);
        std::erase(scope_, least);
      }
    }
    if (is_fixed_[v] != 0) {
      for (const int item : items_[v]) place(item >= 0 ? &tables_[item] : &messages_[~item], static_cast<int>(i));
      items_[v].clear();
      continue;
    }
    begin_[v] = static_cast<std::size_t>(in_all);
    double size = 1.0;
    for (const int u : scope_) size *= graph_.num_states(u);
    in_all += size;
    messages_[v].scope = scope_;
    place(&messages_[v], static_cast<int>(i));
  }
  values_.resize(static_cast<std::size_t>(in_all));
  best_state_.resize(static_cast<std::size_t>(in_all));
}

bool ConditionedElimination::improve(std::span<int> x, const Part& part, Random& random, StopCheck& stop) {
  choose(part);
  num_entries_ = 0.0;
  for (const int v : part.order) {
    if (is_fixed_[v] != 0) continue;
    eliminate(v, x, part, random);
    if (stop.is_asked(static_cast<std::int64_t>(size_[v] * lookups_.size()) + 100)) return false;
  }
  for (std::size_t i = part.order.size(); i-- > 0;) {
    const int v = part.order[i];
    if (is_fixed_[v] != 0) continue;
    std::size_t index = 0;
    const Item& message = messages_[v];
    for (std::size_t j = 0; j < message.scope.size(); ++j)
      index += message.strides[j] * static_cast<std::size_t>(x[message.scope[j]]);
    x[v] = static_cast<int>(best_state_[begin_[v] + index]);
  }
  return true;
}

void ConditionedElimination::eliminate(int v, std::span<const int> x, const Part& part, Random& random) {
  Item& message = messages_[v];
  std::erase_if(message.scope, [&](int u) { return is_fixed_[u] != 0; });
  const std::vector<int>& separator = message.scope;
  message.strides.assign(separator.size(), 1);
  std::size_t size = 1;
  for (std::size_t j = separator.size(); j-- > 0;) {
    message.strides[j] = size;
    size *= static_cast<std::size_t>(graph_.num_states(separator[j]));
  }
  size_[v] = size;
  message.values = values_.data() + begin_[v];

  lookups_.clear();
  const std::size_t count = items_[v].size() + (part.noise > 0.0 ? 1 : 0);
  steps_.assign(separator.size() * count, 0);
  for (const int i : items_[v]) {
    const Item& item = i >= 0 ? tables_[i] : messages_[~i];
    Lookup lookup{item.values, 0};
    for (std::size_t j = 0; j < item.scope.size(); ++j) {
      const int u = item.scope[j];
      if (u == v) lookup.step = item.strides[j];
      if (u == v) continue;
      if (is_fixed_[u] != 0) {
        lookup.values += item.strides[j] * static_cast<std::size_t>(x[u]);
        continue;
      }
      const auto at = static_cast<std::size_t>(std::find(separator.begin(), separator.end(), u) - separator.begin());
      steps_[at * count + lookups_.size()] = item.strides[j];
    }
    lookups_.push_back(lookup);
  }
  const auto num_states = static_cast<std::size_t>(graph_.num_states(v));
  if (part.noise > 0.0) {
    noise_.resize(num_states);
    for (double& value : noise_) value = -part.noise * std::log(-std::log(random.uniform() + 0x1.0p-60));
    lookups_.push_back({noise_.data(), 1});
  }
  num_entries_ += static_cast<double>(size * num_states);
  maximise(v, static_cast<int>(random.below(num_states)));
}

// Ties go to the first state from `first_state` on.
void ConditionedElimination::maximise(int v, int first_state) {
  const std::vector<int>& separator = messages_[v].scope;
  const auto num_states = static_cast<std::size_t>(graph_.num_states(v));
  const std::size_t size = size_[v], count = lookups_.size();
  std::vector<const double*> at(count);
  for (std::size_t i = 0; i < count; ++i) at[i] = lookups_[i].values;
  std::vector<int> states(separator.size(), 0);
  sums_.resize(num_states);
  double* const sums = sums_.data();
  const auto first = static_cast<std::size_t>(first_state);
  for (std::size_t k = 0;; ++k) {
    std::fill(sums, sums + num_states, 0.0);
    for (std::size_t i = 0; i < count; ++i) {
      const double* entry = at[i];
      const std::size_t step = lookups_[i].step;
      for (std::size_t s = 0; s < num_states; ++s) sums[s] += entry[s * step];
    }
    std::size_t best = first;
    for (std::size_t s = first + 1; s < num_states; ++s) {
      if (sums[s] > sums[best]) best = s;
    }
    for (std::size_t s = 0; s < first; ++s) {
      if (sums[s] > sums[best]) best = s;
    }
    values_[begin_[v] + k] = sums[best];
    best_state_[begin_[v] + k] = static_cast<std::uint32_t>(best);
    if (k + 1 == size) return;
    for (std::size_t j = separator.size(); j-- > 0;) {
      const std::size_t* const steps = steps_.data() + j * count;
      if (++states[j] < graph_.num_states(separator[j])) {
        for (std::size_t i = 0; i < count; ++i) at[i] += steps[i];
        break;
      }
      const auto back = static_cast<std::size_t>(states[j] - 1);
      for (std::size_t i = 0; i < count; ++i) at[i] -= steps[i] * back;
      states[j] = 0;
    }
  }
}

}  // namespace treesample
