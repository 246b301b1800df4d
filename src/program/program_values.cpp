#include "program/program_values.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "math/compensated_sum.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// V(s), and its rounding. A term q = log reward + V(next) is off by eps |q| at most, the exp of its distance d to the
// largest one by a relative eps (1 + d), where d exp(-d) < 0.4; adding n terms adds eps n, the logarithm and the last
// sum eps (1 + |V|). So with the largest term m everything together is below eps (2 |m| + |V| + 2 n + 4).
void back_up(const ProgramGraph& graph, StateId state, ProgramValues& values) {
  const std::span<const Transition> transitions = graph.transitions(state);
  double most = kNegInf, error = 0.0;
  for (const Transition& t : transitions) {
    const double q = t.log_reward + values.v[t.next];
    most = std::max(most, q);
    if (q != kNegInf) error = std::max(error, values.error[t.next]);
  }
  if (!std::isfinite(most)) {  // -inf: nothing is possible. +inf: nothing is known
    values.v[state] = most;
    values.error[state] = 0.0;
    return;
  }
  double sum = 0.0;
  for (const Transition& t : transitions) sum += std::exp(t.log_reward + values.v[t.next] - most);
  const double v = most + std::log(sum);
  values.v[state] = v;
  values.error[state] =
      error + kEpsilon * (2.0 * std::abs(most) + std::abs(v) + 2.0 * static_cast<double>(transitions.size()) + 4.0);
}

class GraphDistribution final : public ProgramDistribution {
 public:
  GraphDistribution(std::shared_ptr<const ProgramGraph> graph, std::vector<StateId> order, std::vector<double> v)
      : graph_(std::move(graph)), order_(std::move(order)), v_(std::move(v)) {}

  [[nodiscard]] double log_z() const override { return v_[graph_->start()]; }

  [[nodiscard]] ProgramPath sample(Random& random) const override {
    ProgramPath path;
    StateId state = graph_->start();
    path.states.push_back(state);
    while (!graph_->transitions(state).empty()) {
      const Transition& t = draw(state, random);
      path.log_weight += t.log_reward;
      path.actions.push_back(t.action);
      path.states.push_back(state = t.next);
    }
    path.log_weight += v_[state];
    if (graph_->parts().has_log_paths) path.log_weight += graph_->program().log_paths(state);
    path.log_prob = path.log_weight - log_z();
    return path;
  }

  void for_each_action(const Visit& visit) const override {
    std::vector<double> probability(v_.size());
    flow(probability, &visit);
  }
  void for_each_end(const std::function<void(StateId end, double probability)>& visit) const override {
    std::vector<double> probability(v_.size());
    flow(probability, nullptr);
    for (const StateId end : graph_->ends()) visit(end, probability[end]);
  }

 private:
  // One of the actions of a state that has some, and a value above -inf.
  const Transition& draw(StateId state, Random& random) const {
    const std::span<const Transition> transitions = graph_->transitions(state);
    const Transition* last = nullptr;  // that is possible: rounding may leave nothing behind it
    double left = random.uniform();
    for (const Transition& t : transitions) {
      const double share = std::exp(t.log_reward + v_[t.next] - v_[state]);
      if (share == 0.0) continue;
      last = &t;
      left -= share;
      if (left < 0.0) break;
    }
    return *last;
  }

  void flow(std::vector<double>& probability, const Visit* visit) const {
    probability[graph_->start()] = 1.0;
    for (std::size_t i = order_.size(); i-- > 0;) {
      const StateId state = order_[i];
      if (probability[state] == 0.0) continue;
      for (const Transition& t : graph_->transitions(state)) {
        const double share = probability[state] * std::exp(t.log_reward + v_[t.next] - v_[state]);
        if (share == 0.0) continue;
        probability[t.next] += share;
        if (visit != nullptr) (*visit)(state, t, share);
      }
    }
  }

  std::shared_ptr<const ProgramGraph> graph_;
  std::vector<StateId> order_;
  std::vector<double> v_;
};

}  // namespace

ProgramValues program_values(const ProgramGraph& graph, const std::vector<StateId>& order,
                             const std::function<double(StateId)>& leaf) {
  ProgramValues values{std::vector<double>(graph.num_states(), kNegInf), std::vector<double>(graph.num_states())};
  for (const StateId state : order) {
    if (graph.is_expanded(state)) {
      back_up(graph, state, values);
    } else {
      values.v[state] = leaf(state);
    }
  }
  return values;
}

std::optional<ProgramPath> best_path(const ProgramGraph& graph, const std::vector<StateId>& order,
                                     const std::function<double(StateId)>& leaf) {
  std::vector<double> most(graph.num_states(), kNegInf);
  const auto best_action = [&](StateId state) {
    const Transition* best = nullptr;
    for (const Transition& t : graph.transitions(state)) {
      if (best == nullptr || t.log_reward + most[t.next] > best->log_reward + most[best->next]) best = &t;
    }
    return best;
  };
  for (const StateId state : order) {
    const Transition* const best = best_action(state);
    most[state] = best != nullptr            ? best->log_reward + most[best->next]
                  : graph.is_expanded(state) ? kNegInf
                                             : leaf(state);
  }
  StateId state = graph.start();
  if (most[state] == kNegInf) return {};
  ProgramPath path{{state}, {}, most[state], 0.0};
  while (const Transition* const best = best_action(state)) {
    path.actions.push_back(best->action);
    path.states.push_back(state = best->next);
  }
  return path;
}

std::shared_ptr<const ProgramDistribution> program_distribution(std::shared_ptr<const ProgramGraph> graph,
                                                                std::vector<StateId> order, std::vector<double> v) {
  const double log_z = v[graph->start()];
  if (!std::isfinite(log_z)) return nullptr;
  return std::make_shared<GraphDistribution>(std::move(graph), std::move(order), std::move(v));
}

}  // namespace treesample
