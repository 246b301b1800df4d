#include "treesample/exact/elimination.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "exact/elimination_pass.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

void check_memory(const char* function, double bytes, const EliminationCost& cost, std::uint64_t limit) {
  if (bytes <= static_cast<double>(limit)) return;
  throw Error(
      ErrorCode::kResource,
      fmt::format(
          "{}: elimination needs {:.4g} bytes for its tables (width {}, largest bucket 2^{:.1f} entries), allowed "
          "are {} bytes",
          function, bytes, cost.width, cost.log2_largest_bucket, limit));
}

}  // namespace

struct Elimination::State {
  State(const FactorGraph& model, const Limits& limits, EliminationOptions with, Observer watching)
      : graph(model),
        most_bytes(limits.bytes),
        options(std::move(with)),
        observer(std::move(watching)),
        team(limits.threads) {}

  FactorGraph graph;
  std::size_t most_bytes;
  EliminationOptions options;
  Observer observer;
  mutable ThreadTeam team;
  EliminationCost cost;
  std::shared_ptr<const EliminationPass> pass;
};

Elimination::Elimination(const FactorGraph& graph, const Limits& limits, const EliminationOptions& options,
                         const Observer& observer) {
  limits.validate();
  for (int m = 0; m < graph.num_factors(); ++m) {
    check_argument(graph.factor(m).is_table(), "Elimination",
                   fmt::format("factor {} is a function, elimination needs tables", m));
  }
  const auto state = std::make_shared<State>(graph, limits, options, observer);
  state->cost = elimination_cost(graph, options, observer.should_stop);
  check_memory("Elimination", state->cost.bytes, state->cost, limits.bytes);
  const PassOptions pass{options.keep_messages, &state->team};
  EntryWatch watch(state->observer, state->cost.num_entries);
  state->pass = linear_pass(graph, state->cost.order, pass, watch);
  if (!state->pass) {
    EntryWatch again(state->observer, state->cost.num_entries);
    state->pass = log_pass(graph, state->cost.order, pass, again);
  }
  state_ = state;
}

double Elimination::log_z() const { return state_->pass->log_z(); }

LogBounds Elimination::bounds() const { return LogBounds::around(log_z(), state_->pass->error()); }

const EliminationCost& Elimination::cost() const { return state_->cost; }

double Elimination::log_prob(std::span<const int> x) const {
  state_->graph.check_assignment(x, "Elimination::log_prob");
  return log_z() == kNegInf ? kNegInf : state_->graph.log_density(x) - log_z();
}

void Elimination::conditional(int v, std::span<const int> x, std::span<double> probabilities) const {
  check_argument(state_->options.keep_messages, "Elimination::conditional", "needs the option keep_messages");
  std::fill(probabilities.begin(), probabilities.end(), 0.0);
  if (log_z() != kNegInf) state_->pass->conditional(v, x, probabilities);
}

Assignment Elimination::sample(Random& random) const {
  check_argument(state_->options.keep_messages, "Elimination::sample", "needs the option keep_messages");
  check_argument(log_z() != kNegInf, "Elimination::sample",
                 "the distribution has no configuration with positive probability");
  Assignment x(static_cast<std::size_t>(state_->graph.num_variables()), 0);
  std::vector<double> weights;
  for (auto v = state_->cost.order.rbegin(); v != state_->cost.order.rend(); ++v) {
    weights.resize(static_cast<std::size_t>(state_->graph.num_states(*v)));
    conditional(*v, x, weights);
    x[*v] = random.categorical(weights);
  }
  return x;
}

Marginals Elimination::marginals() const {
  const State& s = *state_;
  check_argument(s.options.keep_messages, "Elimination::marginals", "needs the option keep_messages");
  check_memory("Elimination::marginals", s.cost.marginal_bytes, s.cost, s.most_bytes);
  if (log_z() == kNegInf) {
    Marginals nothing;
    for (int v = 0; v < s.graph.num_variables(); ++v) nothing.emplace_back(s.graph.num_states(v), 0.0);
    return nothing;
  }
  EntryWatch watch(s.observer, s.cost.num_entries);
  return s.pass->marginals(watch);
}

}  // namespace treesample
