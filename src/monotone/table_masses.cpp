#include "monotone/table_masses.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "math/compensated_sum.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr double kRounding = 0x1.0p-50;
constexpr std::size_t kMostSamplers = 1000;
constexpr std::size_t kMostKnown = 1 << 18;  // masses of a component that are remembered

// Groups of variables that are coupled by tables, each in ascending order.
std::vector<std::vector<int>> tied_variables(const FactorGraph& graph) {
  std::vector<int> group(static_cast<std::size_t>(graph.num_variables()));
  std::iota(group.begin(), group.end(), 0);
  const auto root = [&](int v) {
    while (group[v] != v) v = group[v] = group[group[v]];
    return v;
  };
  for (const Factor& factor : graph.factors()) {
    if (!factor.is_table()) continue;
    for (const int v : factor.scope()) group[root(v)] = root(factor.scope().front());
  }
  std::vector<std::vector<int>> groups(group.size());
  for (int v = 0; v < graph.num_variables(); ++v) groups[root(v)].push_back(v);
  std::erase_if(groups, [](const std::vector<int>& variables) { return variables.empty(); });
  return groups;
}

FactorGraph tables_of(const FactorGraph& graph, const std::vector<int>& variables) {
  FactorGraph part;
  std::vector<int> index_of(static_cast<std::size_t>(graph.num_variables()), -1);
  for (const int v : variables) index_of[v] = part.add_variable(graph.num_states(v));
  for (const Factor& factor : graph.factors()) {
    if (!factor.is_table() || factor.scope().empty() || index_of[factor.scope().front()] < 0) continue;
    std::vector<int> scope;
    for (const int v : factor.scope()) scope.push_back(index_of[v]);
    part.add_factor(factor.with_scope(std::move(scope)));
  }
  return part;
}

double log_sum(const std::vector<double>& weights, int first, int last) {
  return log_sum_exp(std::span(weights).subspan(first, last - first + 1));
}

}  // namespace

double largest_component_entries(const FactorGraph& graph) {
  double most = 0.0;
  for (const std::vector<int>& variables : tied_variables(graph)) {
    if (variables.size() == 1) continue;
    most = std::max(most, plan_elimination(tables_of(graph, variables)).num_entries);
  }
  return most;
}

TableMasses::TableMasses(const FactorGraph& graph) : graph_(&graph) {
  log_weights_.resize(static_cast<std::size_t>(graph.num_variables()));
  log_probabilities_.resize(log_weights_.size());
  double largest = 1.0, magnitudes = 1.0;  // largest: of all tables; magnitudes: of one table after the other
  CompensatedSum constant;
  std::vector<double> tables_magnitude(log_weights_.size(), 0.0);  // by first variable of a table
  std::vector<double> num_tables(log_weights_.size(), 0.0);
  for (const Factor& factor : graph.factors()) {
    if (!factor.is_table()) continue;
    double most = 0.0;
    for (const double value : factor.log_values()) most = value == kNegInf ? most : std::max(most, std::abs(value));
    largest = std::max(largest, most);
    magnitudes += most;
    if (factor.scope().empty()) {
      constant.add(factor.log_values().front());
    } else {
      tables_magnitude[factor.scope().front()] += most;
      num_tables[factor.scope().front()] += 1.0;
    }
  }
  constant_ = constant.value();
  for (const std::vector<int>& variables : tied_variables(graph)) {
    if (variables.size() > 1) {
      Component component{variables, tables_of(graph, variables), {}};
      component.plan = plan_elimination(component.graph);
      components_.push_back(std::move(component));
      continue;
    }
    const int v = variables.front();
    alone_.push_back(v);
    log_weights_[v].assign(static_cast<std::size_t>(graph.num_states(v)), 0.0);
    for (const Factor& factor : graph.factors()) {
      if (!factor.is_table() || factor.scope().empty() || factor.scope().front() != v) continue;
      for (std::size_t s = 0; s < log_weights_[v].size(); ++s) log_weights_[v][s] += factor.log_values()[s];
    }
    // The error of a plain sum of the tables of a state, and of a sum of as many exponentials as there are states.
    const auto num_states = static_cast<double>(log_weights_[v].size());
    log_error_ += kEpsilon * (num_states + num_tables[v] + 8.0) * (1.0 + tables_magnitude[v] + std::log(num_states));
    const double total = log_sum_exp(log_weights_[v]);
    for (const double weight : log_weights_[v]) {
      log_probabilities_[v].push_back(total == kNegInf ? kNegInf : weight - total);
    }
  }
  for (int v = 0; v < graph.num_variables(); ++v) magnitudes += std::log(graph.num_states(v));
  log_error_ += kRounding * magnitudes +
                kRounding * largest * static_cast<double>(graph.num_factors() + graph.num_variables() + 1);
  known_.resize(components_.size());
  samplers_.resize(components_.size());
  const Box all = Box::of_all(graph);
  for (const Component& component : components_) {
    const Marginals marginals = eliminate(component, all).marginals();
    for (std::size_t i = 0; i < component.variables.size(); ++i) {
      for (const double p : marginals[i]) log_probabilities_[component.variables[i]].push_back(std::log(p));
    }
  }
}

Elimination TableMasses::eliminate(const Component& component, const Box& box) const {
  FactorGraph graph = component.graph;
  for (std::size_t i = 0; i < component.variables.size(); ++i) {
    const int v = component.variables[i];
    const int num_states = graph_->num_states(v);
    if (box.first[v] == 0 && box.last[v] == num_states - 1) continue;
    std::vector<double> allowed(static_cast<std::size_t>(num_states), kNegInf);
    std::fill(allowed.begin() + box.first[v], allowed.begin() + box.last[v] + 1, 0.0);
    graph.add_table({static_cast<int>(i)}, std::move(allowed));
  }
  return Elimination(graph, component.plan, {.threads = 1});
}

std::string TableMasses::key(const Component& component, const Box& box) {
  std::string key;
  for (const int v : component.variables) {
    key.append(reinterpret_cast<const char*>(&box.first[v]), sizeof(int));
    key.append(reinterpret_cast<const char*>(&box.last[v]), sizeof(int));
  }
  return key;
}

const Elimination& TableMasses::sampler(std::size_t index, const Box& box) const {
  std::string states = key(components_[index], box);
  const auto found = samplers_[index].find(states);
  if (found != samplers_[index].end()) return found->second;
  if (samplers_[index].size() >= kMostSamplers) samplers_[index].clear();
  return samplers_[index].emplace(std::move(states), eliminate(components_[index], box)).first->second;
}

double TableMasses::component_mass(std::size_t index, const Box& box) const {
  const Component& component = components_[index];
  std::string states = key(component, box);
  const auto found = known_[index].find(states);
  if (found != known_[index].end()) return found->second;
  const Elimination elimination = eliminate(component, box);
  const LogBounds bounds = elimination.bounds();
  if (bounds.upper != kNegInf) {
    component_error_ =
        std::max(component_error_, std::max(bounds.upper - elimination.log_z(), elimination.log_z() - bounds.lower));
  }
  if (known_[index].size() < kMostKnown) known_[index].emplace(std::move(states), elimination.log_z());
  return elimination.log_z();
}

double TableMasses::log_mass(const Box& box) const {
  CompensatedSum sum;
  sum.add(constant_);
  for (const int v : alone_) sum.add(log_sum(log_weights_[v], box.first[v], box.last[v]));
  for (std::size_t i = 0; i < components_.size() && sum.value() != kNegInf; ++i) sum.add(component_mass(i, box));
  return sum.value();
}

double TableMasses::log_most(const Box& box) const {
  CompensatedSum sum;
  sum.add(constant_);
  for (const int v : alone_) {
    const auto first = log_weights_[v].begin();
    sum.add(*std::max_element(first + box.first[v], first + box.last[v] + 1));
  }
  for (std::size_t i = 0; i < components_.size() && sum.value() != kNegInf; ++i) sum.add(component_mass(i, box));
  return sum.value();
}

Assignment TableMasses::likely(const Box& box) const {
  Assignment x(box.first);
  for (const int v : alone_) {
    const auto first = log_weights_[v].begin();
    x[v] = static_cast<int>(std::max_element(first + box.first[v], first + box.last[v] + 1) - first);
  }
  for (const Component& component : components_) {
    const Marginals marginals = eliminate(component, box).marginals();
    for (std::size_t i = 0; i < component.variables.size(); ++i) {
      const auto best = std::max_element(marginals[i].begin(), marginals[i].end());
      x[component.variables[i]] = static_cast<int>(best - marginals[i].begin());
    }
  }
  return x;
}

Assignment TableMasses::sample(const Box& box, Random& random) const {
  Assignment x(box.first);
  std::vector<double> probabilities;
  for (const int v : alone_) {
    if (box.is_fixed(v)) continue;
    const auto weights =
        std::span(log_weights_[v]).subspan(box.first[v], static_cast<std::size_t>(box.last[v] - box.first[v]) + 1);
    probabilities.resize(weights.size());
    softmax(weights, probabilities);
    x[v] = box.first[v] + random.categorical(probabilities);
  }
  for (std::size_t c = 0; c < components_.size(); ++c) {
    const Component& component = components_[c];
    const Assignment part = sampler(c, box).sample(random);
    for (std::size_t i = 0; i < component.variables.size(); ++i) x[component.variables[i]] = part[i];
  }
  return x;
}

Marginals TableMasses::marginals(const Box& box) const {
  Marginals result(log_weights_.size());
  for (std::size_t v = 0; v < result.size(); ++v) {
    result[v].assign(static_cast<std::size_t>(graph_->num_states(static_cast<int>(v))), 0.0);
  }
  for (const int v : alone_) {
    const auto count = static_cast<std::size_t>(box.last[v] - box.first[v]) + 1;
    softmax(std::span(log_weights_[v]).subspan(box.first[v], count), std::span(result[v]).subspan(box.first[v], count));
  }
  for (const Component& component : components_) {
    Marginals part = eliminate(component, box).marginals();
    for (std::size_t i = 0; i < component.variables.size(); ++i) result[component.variables[i]] = std::move(part[i]);
  }
  return result;
}

double TableMasses::log_tables(std::span<const int> x) const {
  CompensatedSum sum;
  for (int m = 0; m < graph_->num_factors() && sum.value() != kNegInf; ++m) {
    if (graph_->factor(m).is_table()) sum.add(graph_->log_value(m, x));
  }
  return sum.value();
}

}  // namespace treesample
