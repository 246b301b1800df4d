#include "treesample/infer/session.hpp"

#include <optional>
#include <utility>

#include "treesample/error.hpp"
#include "treesample/exact/kept_elimination.hpp"
#include "treesample/io/evidence_file.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/names.hpp"

namespace treesample {
namespace {

constexpr double kOrderWork = 1e8;  // bucket entries that could be summed while an order is looked for

KeptOptions all_variables(const FactorGraph& graph) {
  check_argument(graph.has_only_tables(), "Session", "the model has functions, allowed are models of tables");
  KeptOptions options{.order_work = kOrderWork};
  for (int v = 0; v < graph.num_variables(); ++v) {
    options.weighted.push_back(v);
    options.asked.push_back({v});
  }
  return options;
}

}  // namespace

struct Session::State {
  explicit State(const Model& model) : graph(model.graph), names(graph), kept(graph, all_variables(graph)) {}

  void set(int variable, const std::vector<double>& weights) {
    known[static_cast<std::size_t>(variable)] = weights;
    if (weights.empty()) {
      kept.set_weights(0, variable, std::vector<double>(static_cast<std::size_t>(graph.num_states(variable)), 1.0));
    } else {
      kept.set_weights(0, variable, weights);
    }
    has_log_z = has_marginals = false;
  }

  // By infer, where the numbers are too small or too large.
  void answer_slowly() {
    Model model(graph);
    for (int v = 0; v < graph.num_variables(); ++v) {
      const std::vector<double>& weights = known[static_cast<std::size_t>(v)];
      if (!weights.empty()) model.soft_evidence.push_back({v, weights});
    }
    const Answer answer = infer(model, {}, {.seconds = kNoTimeLimit}, {.method = Method::kExact});
    log_z = {answer.lower.value_or(kNegInf), answer.upper.value_or(kNegInf)};
    marginals = log_z.upper == kNegInf ? Marginals() : answer.marginals;
    has_log_z = has_marginals = true;
  }

  void find_log_z() {
    if (has_log_z) return;
    kept.run_up();
    if (kept.is_lossy(0)) return answer_slowly();
    log_z = kept.bounds(0);
    has_log_z = true;
  }

  void find_marginals() {
    find_log_z();
    if (has_marginals) return;
    marginals.clear();
    has_marginals = true;
    if (log_z.upper == kNegInf) return;
    kept.run_down();
    for (int v = 0; v < graph.num_variables(); ++v) {
      kept.asked(v, 0, marginals.emplace_back(static_cast<std::size_t>(graph.num_states(v))));
    }
  }

  FactorGraph graph;
  Names names;
  KeptElimination kept;
  std::vector<std::vector<double>> known =
      std::vector<std::vector<double>>(static_cast<std::size_t>(graph.num_variables()));  // weights; empty: nothing
  LogBounds log_z;
  Marginals marginals;
  bool has_log_z = false, has_marginals = false;
};

Session::Session(const Model& model) : state_(std::make_unique<State>(model)) {
  for (const auto& [variable, state] : model.evidence) {
    observe(variable_name(model.graph, variable), state_name(model.graph, variable, state));
  }
  for (const SoftObservation& seen : model.soft_evidence) {
    observe_soft(variable_name(model.graph, seen.variable), seen.weights);
  }
}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

Session& Session::observe(std::string_view variable, std::string_view state) {
  const int v = state_->names.variable(variable);
  std::vector<double> weights(static_cast<std::size_t>(state_->graph.num_states(v)), 0.0);
  weights[static_cast<std::size_t>(state_->names.state(v, state))] = 1.0;
  state_->set(v, weights);
  return *this;
}

Session& Session::observe_soft(std::string_view variable, const std::vector<double>& weights) {
  const int v = state_->names.variable(variable);
  if (const std::string problem = weights_problem(weights, state_->graph.num_states(v)); !problem.empty()) {
    throw_argument("Session::observe_soft", problem);
  }
  state_->set(v, weights);
  return *this;
}

Session& Session::retract(std::string_view variable) {
  state_->set(state_->names.variable(variable), {});
  return *this;
}

Session& Session::retract() {
  for (int v = 0; v < state_->graph.num_variables(); ++v) {
    if (!state_->known[static_cast<std::size_t>(v)].empty()) state_->set(v, {});
  }
  return *this;
}

LogBounds Session::log_z() {
  state_->find_log_z();
  return state_->log_z;
}

const Marginals& Session::marginals() {
  state_->find_marginals();
  return state_->marginals;
}

std::vector<double> Session::marginal(std::string_view variable) {
  const int v = state_->names.variable(variable);
  const Marginals& all = marginals();
  return all.empty() ? std::vector<double>() : all[static_cast<std::size_t>(v)];
}

std::string Session::evidence_text() const {
  Observations seen;
  for (int v = 0; v < state_->graph.num_variables(); ++v) {
    const std::vector<double>& weights = state_->known[static_cast<std::size_t>(v)];
    if (weights.empty()) continue;
    int num_positive = 0, last = 0;
    for (std::size_t s = 0; s < weights.size(); ++s) {
      if (weights[s] > 0.0) ++num_positive, last = static_cast<int>(s);
    }
    if (num_positive == 1 && weights[static_cast<std::size_t>(last)] == 1.0) {
      seen.states.push_back({v, last});
    } else {
      seen.soft.push_back({v, weights});
    }
  }
  return observations_text(state_->graph, seen);
}

}  // namespace treesample
