#include "baselines/message_passing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// Subtracts the maximum. A message that is -inf everywhere stays the same. What is possible stays so: where messages do
// not converge, values may go down without end.
void normalise(std::span<double> message) {
  constexpr double kLowest = -1e100;
  const double largest = *std::max_element(message.begin(), message.end());
  if (largest == kNegInf) return;
  for (double& value : message) {
    if (value != kNegInf) value = std::max(value - largest, kLowest);
  }
}

}  // namespace

MessagePassing::MessagePassing(const FactorGraph& graph, double damping) : graph_(&graph), damping_(damping) {
  edges_of_.resize(graph.num_variables());
  std::int64_t size = 0;
  for (int m = 0; m < graph.num_factors(); ++m) {
    const Factor& factor = graph.factor(m);
    check_argument(factor.is_table(), "belief propagation",
                   fmt::format("factor {} is a function, allowed are tables", m));
    if (factor.scope().empty()) {
      log_constant_ += factor.log_values()[0];
      continue;
    }
    const int first = static_cast<int>(edges_.size());
    for (const int v : factor.scope()) {
      edges_of_[v].push_back(static_cast<int>(edges_.size()));
      edges_.push_back({v, static_cast<int>(factors_.size()), graph.num_states(v), size});
      dims_.push_back(graph.num_states(v));
      size += graph.num_states(v);
    }
    factors_.push_back({factor.log_values(), first, static_cast<int>(edges_.size()), 0});
    num_entries_ += static_cast<std::int64_t>(factor.log_values().size());
  }
  to_variable_.resize(size);
  to_factor_.resize(size);
  new_to_variable_.resize(size);
  for (const Edge& edge : edges_) {
    incoming_.push_back(to_factor_.data() + edge.offset);
    outgoing_.push_back(new_to_variable_.data() + edge.offset);
  }
  reset();
}

void MessagePassing::reset() {
  std::fill(to_variable_.begin(), to_variable_.end(), 0.0);
  std::fill(to_factor_.begin(), to_factor_.end(), 0.0);
  is_fixed_.assign(graph_->num_variables(), false);
  for (FactorEdges& factor : factors_) factor.num_free = factor.last - factor.first;
}

void MessagePassing::compute_factor(const FactorEdges& factor) {
  const int arity = factor.last - factor.first;
  factor_messages_.compute(factor.table, std::span(dims_).subspan(factor.first, arity),
                           std::span(incoming_).subspan(factor.first, arity),
                           std::span(outgoing_).subspan(factor.first, arity));
}

double MessagePassing::step() {
  double change = 0.0;
  for (const FactorEdges& factor : factors_) {
    if (factor.num_free == 0) continue;  // its messages are not used
    compute_factor(factor);
    for (int e = factor.first; e < factor.last; ++e) change = std::max(change, accept(edges_[e]));
  }
  for (int v = 0; v < graph_->num_variables(); ++v) {
    if (!is_fixed_[v]) update_variable(v);
  }
  return change;
}

// The new message of an edge becomes the current one. Returns the largest change of a value.
double MessagePassing::accept(const Edge& edge) {
  const std::span<double> fresh = std::span(new_to_variable_).subspan(edge.offset, edge.num_states);
  const std::span<double> present = std::span(to_variable_).subspan(edge.offset, edge.num_states);
  normalise(fresh);
  if (damping_ > 0.0) {
    for (int a = 0; a < edge.num_states; ++a) fresh[a] = damping_ * present[a] + (1.0 - damping_) * fresh[a];
    normalise(fresh);
  }
  double change = 0.0;
  for (int a = 0; a < edge.num_states; ++a) {
    if (fresh[a] != present[a]) change = std::max(change, std::abs(fresh[a] - present[a]));  // avoids -inf - -inf
    present[a] = fresh[a];
  }
  return change;
}

// Computes nu for all edges of a variable, as the sum of the mu of all edges before plus that of all edges after.
// Subtracting one mu from the sum of all would fail if mu = -inf.
void MessagePassing::update_variable(int variable) {
  const std::vector<int>& edges = edges_of_[variable];
  const int num_states = graph_->num_states(variable);
  const auto add = [&](const Edge& edge) {
    for (int a = 0; a < num_states; ++a) sum_[a] += to_variable_[edge.offset + a];
  };
  sum_.assign(num_states, 0.0);
  for (const int e : edges) {
    std::copy_n(sum_.begin(), num_states, to_factor_.begin() + edges_[e].offset);
    add(edges_[e]);
  }
  sum_.assign(num_states, 0.0);
  for (auto e = edges.rbegin(); e != edges.rend(); ++e) {
    const std::span<double> nu = std::span(to_factor_).subspan(edges_[*e].offset, num_states);
    for (int a = 0; a < num_states; ++a) nu[a] += sum_[a];
    normalise(nu);
    add(edges_[*e]);
  }
}

void MessagePassing::fix(int variable, int state) {
  is_fixed_[variable] = true;
  for (const int e : edges_of_[variable]) {
    const std::span<double> nu = std::span(to_factor_).subspan(edges_[e].offset, edges_[e].num_states);
    std::fill(nu.begin(), nu.end(), kNegInf);
    nu[state] = 0.0;
    --factors_[edges_[e].factor].num_free;
  }
}

bool MessagePassing::belief(int variable, std::span<double> probabilities) const {
  std::fill(probabilities.begin(), probabilities.end(), 0.0);
  for (const int e : edges_of_[variable]) {
    for (std::size_t a = 0; a < probabilities.size(); ++a) probabilities[a] += to_variable_[edges_[e].offset + a];
  }
  return softmax(probabilities, probabilities) != kNegInf;
}

// Each message's scale enters one Z_m or Z_v and one Z_mv, so normalisation cancels.
double MessagePassing::bethe_log_z() {
  double log_z = log_constant_;
  for (int v = 0; v < graph_->num_variables(); ++v) {
    sum_.assign(graph_->num_states(v), 0.0);
    for (const int e : edges_of_[v]) {
      for (int a = 0; a < edges_[e].num_states; ++a) sum_[a] += to_variable_[edges_[e].offset + a];
    }
    log_z += log_sum_exp(sum_);
  }
  for (const FactorEdges& factor : factors_) {
    compute_factor(factor);
    for (int e = factor.first; e < factor.last; ++e) {
      const Edge& edge = edges_[e];
      const auto edge_log_z = [&](const std::vector<double>& mu) {
        sum_.resize(edge.num_states);
        for (int a = 0; a < edge.num_states; ++a) sum_[a] = mu[edge.offset + a] + to_factor_[edge.offset + a];
        return log_sum_exp(sum_);
      };
      if (e == factor.first) log_z += edge_log_z(new_to_variable_);  // log Z_m, the same from each of its edges
      const double log_z_mv = edge_log_z(to_variable_);
      if (log_z == kNegInf || log_z_mv == kNegInf) return kNegInf;  // otherwise -inf + inf would follow
      log_z -= log_z_mv;
    }
  }
  return log_z;
}

}  // namespace treesample
