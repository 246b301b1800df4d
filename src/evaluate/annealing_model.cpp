// The model in the form that sweeps need. The sweeps themselves are in annealing_sweep.cpp.
#include "evaluate/annealing_model.hpp"

#include <algorithm>
#include <cmath>

#include "math/compensated_sum.hpp"
#include "model/table_index.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {

AnnealingModel::AnnealingModel(const FactorGraph& graph, double log_zero) : graph_(&graph), log_zero_(log_zero) {
  check_argument(graph.has_only_tables(), "AnnealingModel", "needs a model of tables: this one has functions");
  for (int v = 0; v < graph.num_variables(); ++v) {
    variables_.push_back({graph.num_states(v), num_states_in_all_});
    num_states_in_all_ += graph.num_states(v);
    most_states_ = std::max(most_states_, graph.num_states(v));
  }
  unary_.assign(num_states_in_all_, 0.0);
  std::vector<Link> links;
  std::vector<Lookup> lookups;
  for (const Factor& factor : graph.factors()) add_factor(factor, links, lookups);
  lay_out(std::move(links), std::move(lookups));
}

// The values with log_zero in place of -inf.
std::span<const double> AnnealingModel::finite(std::span<const double> values) {
  double largest = 0.0;
  for (const double value : values) largest = std::max(largest, value == kNegInf ? 0.0 : std::abs(value));
  magnitude_ += largest;
  if (std::find(values.begin(), values.end(), kNegInf) == values.end()) return values;
  has_zeros_ = true;
  std::vector<double>& copy = copies_.emplace_back(values.begin(), values.end());
  std::replace(copy.begin(), copy.end(), kNegInf, log_zero_);
  return copy;
}

void AnnealingModel::add_factor(const Factor& factor, std::vector<Link>& links, std::vector<Lookup>& lookups) {
  const std::vector<int>& scope = factor.scope();
  const std::span<const double> given = factor.log_values();
  const std::span<const double> values = finite(given);
  if (scope.empty()) {
    log_constant_ += values[0];
  } else if (scope.size() == 1) {
    for (std::size_t a = 0; a < values.size(); ++a) unary_[variables_[scope[0]].first_state + a] += values[a];
  } else if (scope.size() == 2 && values.size() == 4 && graph_->num_states(scope[0]) == 2 &&
             values.data() == given.data()) {
    add_pair(scope, values, links);
  } else {
    add_lookups(scope, values.data(), lookups);
  }
}

// A pair of two-state variables as c + h s + h' s' + J s s'. Large penalties would cost the digits of J, so tables with
// -inf are looked up instead.
void AnnealingModel::add_pair(const std::vector<int>& scope, std::span<const double> t, std::vector<Link>& links) {
  const double coupling = 0.25 * ((t[0] - t[1]) + (t[3] - t[2]));
  const double of_first = 0.25 * ((t[2] - t[0]) + (t[3] - t[1]));
  const double of_second = 0.25 * ((t[1] - t[0]) + (t[3] - t[2]));
  log_constant_ += 0.25 * (t[0] + t[1] + t[2] + t[3]);
  const int v = scope[0], u = scope[1];
  unary_[variables_[v].first_state] -= of_first;
  unary_[variables_[v].first_state + 1] += of_first;
  unary_[variables_[u].first_state] -= of_second;
  unary_[variables_[u].first_state + 1] += of_second;
  if (coupling == 0.0) return;
  links.push_back({v, {u, coupling}});
  links.push_back({u, {v, coupling}});
}

void AnnealingModel::add_lookups(const std::vector<int>& scope, const double* values,
                                 std::vector<Lookup>& lookups) const {
  const std::vector<std::size_t> strides = table_strides(states_of_scope(*graph_, scope));
  const auto [first, last] = std::minmax_element(scope.begin(), scope.end());
  for (std::size_t i = 0; i < scope.size(); ++i) {
    const int v = scope[i];
    Lookup lookup{v, v == *last ? 0 : v == *first ? 2 : 1, {values, static_cast<std::int64_t>(strides[i])}, {}};
    for (std::size_t j = 0; j < scope.size(); ++j) {
      if (j != i) lookup.others.emplace_back(scope[j], static_cast<std::int64_t>(strides[j]));
    }
    lookups.push_back(std::move(lookup));
  }
}

// Neighbours and terms, grouped by variable; couplings of the same two variables become one.
void AnnealingModel::lay_out(std::vector<Link> links, std::vector<Lookup> lookups) {
  std::stable_sort(links.begin(), links.end(), [](const Link& a, const Link& b) {
    return std::pair(a.variable, a.neighbour.variable) < std::pair(b.variable, b.neighbour.variable);
  });
  std::stable_sort(lookups.begin(), lookups.end(), [](const Lookup& a, const Lookup& b) {
    return std::pair(a.variable, a.group) < std::pair(b.variable, b.group);
  });
  auto link = links.begin();
  auto lookup = lookups.begin();
  for (int v = 0; v < num_variables(); ++v) {
    Variable& variable = variables_[v];
    variable.first_below = variable.first_above = static_cast<int>(neighbours_.size());
    double field = 0.0;
    for (int a = 0; a < variable.num_states; ++a) {
      field = std::max(field, std::abs(unary_[variable.first_state + a]));
    }
    for (int previous = -1; link != links.end() && link->variable == v; ++link) {
      const Neighbour& next = link->neighbour;
      field += std::abs(next.coupling);
      if (next.variable == previous) {
        neighbours_.back().coupling += next.coupling;
        continue;
      }
      previous = next.variable;
      neighbours_.push_back(next);
      if (next.variable < v) variable.first_above = static_cast<int>(neighbours_.size());
    }
    variable.last_above = static_cast<int>(neighbours_.size());
    int* const ends[] = {&variable.first_between, &variable.first_upper, &variable.last_upper};
    variable.first_lower = static_cast<int>(terms_.size());
    for (int group = 0; group < 3; ++group) {
      for (; lookup != lookups.end() && lookup->variable == v && lookup->group == group; ++lookup) {
        Term term = lookup->term;
        term.first_other = static_cast<int>(others_.size());
        others_.insert(others_.end(), lookup->others.begin(), lookup->others.end());
        term.last_other = static_cast<int>(others_.size());
        terms_.push_back(term);
        field += std::abs(log_zero_) < 1e3 ? std::abs(log_zero_) : 0.0;
      }
      *ends[group] = static_cast<int>(terms_.size());
    }
    const int degree = variable.last_above - variable.first_below + variable.last_upper - variable.first_lower;
    chances_ += (degree + 20.0) * (field + 1.0);
  }
}

BaseLogProbs AnnealingModel::fields() const {
  BaseLogProbs base = unary_;
  for (const Variable& variable : variables_) {
    const std::span<double> states = std::span(base).subspan(variable.first_state, variable.num_states);
    const double log_sum = log_sum_exp(states);
    for (double& each : states) each -= log_sum;
  }
  return base;
}

double AnnealingModel::rounding(double num_sweeps) const {
  const auto num_terms = static_cast<double>(neighbours_.size() + terms_.size()) + num_states_in_all_;
  return kEpsilon * (2.0 * (num_sweeps + 1.0) * chances_ + 4.0 * (num_terms + num_sweeps) * (magnitude_ + 1.0));
}

LaneStates AnnealingModel::states() const {
  LaneStates states;
  states.x.assign(static_cast<std::size_t>(num_variables()) * kLanes, 0);
  states.spin.assign(states.x.size(), -1.0);
  states.scratch.assign(static_cast<std::size_t>(most_states_) * kLanes * 2, 0.0);
  return states;
}

void AnnealingModel::set(LaneStates& states, std::span<const int> x) const {
  for (std::size_t v = 0; v < x.size(); ++v) {
    std::fill_n(states.x.begin() + static_cast<std::ptrdiff_t>(v) * kLanes, kLanes, x[v]);
    std::fill_n(states.spin.begin() + static_cast<std::ptrdiff_t>(v) * kLanes, kLanes, x[v] == 1 ? 1.0 : -1.0);
  }
}

void LaneStates::read(int lane, std::span<int> into) const {
  for (std::size_t v = 0; v < into.size(); ++v) into[v] = x[v * kLanes + static_cast<std::size_t>(lane)];
}

LaneRandom::LaneRandom(Random& seeds) {
  for (auto& word : state_) {
    for (std::uint64_t& lane : word) lane = seeds.bits();
  }
}

}  // namespace treesample
