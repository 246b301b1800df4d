#include "experiments/gflownet/flow_network.hpp"

#include <algorithm>
#include <cmath>

#include "treesample/math/log_domain.hpp"

namespace treesample::experiments {
namespace {

// In one round the number of seen objects grows by at most 1 / kPartPerRound of itself, or by one batch.
constexpr std::int64_t kPartPerRound = 64;

MlpOptions network_options(FlowProgram& program, const FlowOptions& options) {
  // One output for each action and one for the flow.
  return {.num_variables = static_cast<int>(program.states().encode(program.states().start()).size()),
          .num_states = std::max(program.num_values(), program.num_actions() + 1),
          .hidden = options.hidden};
}

// The log softmax of the outputs of one row over its allowed actions; returns their log sum exp.
double log_softmax(std::span<const float> q, std::span<const int> actions, std::vector<double>& log_p) {
  log_p.clear();
  double most = kNegInf, sum = 0.0;
  for (const int a : actions) {
    log_p.push_back(static_cast<double>(q[static_cast<std::size_t>(a)]));
    most = std::max(most, log_p.back());
  }
  for (const double entry : log_p) sum += std::exp(entry - most);
  const double value = most + std::log(sum);
  for (double& entry : log_p) entry -= value;
  return value;
}

std::vector<int> numbers_of(std::span<const Transition> transitions) {
  std::vector<int> numbers;
  for (const Transition& transition : transitions) numbers.push_back(transition.action);
  return numbers;
}

int draw_index(std::span<const double> log_p, double exploration, Random& random) {
  std::vector<double> p;
  for (const double entry : log_p) {
    p.push_back((1.0 - exploration) * std::exp(entry) + exploration / static_cast<double>(log_p.size()));
  }
  return random.categorical(p);
}

}  // namespace

FlowNetwork::FlowNetwork(FlowProgram& program, FlowOptions options, std::uint64_t seed)
    : program_(program),
      options_(std::move(options)),
      random_(seed, "flow network"),
      start_(program.states().start()),
      network_(network_options(program, options_), random_),
      target_(network_),
      adam_({.learning_rate = options_.learning_rate}, network_.parameters().size()),
      log_z_adam_({.learning_rate = options_.log_z_rate}, kPanel),
      gradient_(network_.parameters().size()),
      log_z_(kPanel, 0.0F),
      log_z_gradient_(kPanel, 0.0F),
      num_outputs_(static_cast<std::size_t>(network_.options().num_states)) {}

void FlowNetwork::train(SeenRewards& seen, std::int64_t most_rounds, const std::function<bool()>& should_stop) {
  for (std::int64_t round = 0; round < most_rounds && !seen.is_spent() && !should_stop(); ++round) {
    const std::int64_t batches = std::max<std::int64_t>(1, seen.num_calls() / (kPartPerRound * options_.batch));
    for (std::int64_t b = 0; b < batches; ++b) {
      const Trajectories drawn = draw(seen);
      if (drawn.count() == 0) continue;
      if (!has_offset_) set_offset(drawn);
      update(drawn);
    }
    for (int u = 1; u < options_.updates; ++u) update(replay(seen));
  }
}

void FlowNetwork::train_on(SeenRewards& seen, std::int64_t updates, const std::function<bool()>& should_stop) {
  for (std::int64_t u = 0; u < updates && !should_stop(); ++u) {
    const Trajectories batch = replay(seen);
    if (!has_offset_) set_offset(batch);
    update(batch);
  }
}

std::vector<float> FlowNetwork::outputs(std::span<const int> rows) {
  std::vector<float> q(rows.size() / static_cast<std::size_t>(network_.options().num_variables) * num_outputs_);
  network_.q_values(0, rows, scratch_, q);
  return q;
}

FlowNetwork::Choices FlowNetwork::choices(std::span<const StateId> states) {
  std::vector<int> rows;
  Choices choices;
  for (const StateId state : states) {
    const std::vector<int> row = program_.states().encode(state);
    rows.insert(rows.end(), row.begin(), row.end());
    program_.states().actions(state, choices.actions.emplace_back());
  }
  const std::vector<float> q = outputs(rows);
  for (std::size_t i = 0; i < states.size(); ++i) {
    log_softmax(std::span(q).subspan(i * num_outputs_, num_outputs_), numbers_of(choices.actions[i]),
                choices.log_policy.emplace_back());
  }
  return choices;
}

double FlowNetwork::log_back_to(StateId state) {
  transitions_.clear();
  program_.parents(state, transitions_);
  return -std::log(static_cast<double>(transitions_.size()));
}

void FlowNetwork::add_step(Trajectories& batch, StateId state, int action, double log_back) {
  const std::vector<int> row = program_.states().encode(state);
  batch.rows.insert(batch.rows.end(), row.begin(), row.end());
  batch.actions.push_back(action);
  batch.log_back.push_back(log_back);
  transitions_.clear();
  program_.states().actions(state, transitions_);
  for (const Transition& transition : transitions_) batch.allowed.push_back(transition.action);
  batch.limits.push_back(batch.allowed.size());
}

Trajectories FlowNetwork::draw(SeenRewards& seen) {
  struct Step {
    StateId state;
    int action;
    double log_back;
  };
  std::vector<std::vector<Step>> paths(static_cast<std::size_t>(options_.batch));
  std::vector<StateId> at(paths.size(), start_);
  while (true) {
    std::vector<std::size_t> open;
    std::vector<StateId> states;
    for (std::size_t i = 0; i < at.size(); ++i) {
      if (program_.states().is_end(at[i])) continue;
      open.push_back(i);
      states.push_back(at[i]);
    }
    if (open.empty()) break;
    const Choices choices = this->choices(states);
    for (std::size_t k = 0; k < open.size(); ++k) {
      const auto choice = static_cast<std::size_t>(draw_index(choices.log_policy[k], options_.exploration, random_));
      const Transition taken = choices.actions[k][choice];
      paths[open[k]].push_back({states[k], taken.action, log_back_to(taken.next)});
      at[open[k]] = taken.next;
    }
  }
  Trajectories drawn;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::optional<double> log_reward = seen.ask(at[i]);
    if (!log_reward) continue;
    drawn.begin.push_back(drawn.num_steps());
    drawn.log_rewards.push_back(*log_reward);
    for (const Step& step : paths[i]) add_step(drawn, step.state, step.action, step.log_back);
  }
  drawn.begin.push_back(drawn.num_steps());
  return drawn;
}

Trajectories FlowNetwork::replay(SeenRewards& seen) {
  Trajectories batch;
  std::vector<Transition> path;  // from the object back: each action, and the state that it is taken in
  for (int i = 0; i < options_.batch; ++i) {
    const std::size_t place = i % 2 == 0 ? seen.draw_uniform(random_) : seen.draw_by_reward(random_);
    path.clear();
    for (StateId state = seen.ends()[place]; state != start_; state = path.back().next) {
      transitions_.clear();
      program_.parents(state, transitions_);
      Transition back = transitions_[random_.below(transitions_.size())];
      back.log_reward = -std::log(static_cast<double>(transitions_.size()));
      path.push_back(back);
    }
    batch.begin.push_back(batch.num_steps());
    batch.log_rewards.push_back(seen.log_rewards()[place]);
    for (auto step = path.rbegin(); step != path.rend(); ++step) {
      add_step(batch, step->next, step->action, step->log_reward);
    }
  }
  batch.begin.push_back(batch.num_steps());
  return batch;
}

// The mean of log R + log P_B - log P_F over trajectories that the first policy drew.
void FlowNetwork::set_offset(const Trajectories& batch) {
  const std::vector<float> q = outputs(batch.rows);
  double sum = 0.0;
  for (const double log_reward : batch.log_rewards) sum += log_reward;
  std::vector<double> log_p;
  for (std::size_t t = 0; t < batch.num_steps(); ++t) {
    const std::span<const int> allowed = batch.allowed_at(t);
    log_softmax(std::span(q).subspan(t * num_outputs_, num_outputs_), allowed, log_p);
    const auto taken = std::find(allowed.begin(), allowed.end(), batch.actions[t]) - allowed.begin();
    sum += batch.log_back[t] - log_p[static_cast<std::size_t>(taken)];
  }
  offset_ = sum / static_cast<double>(batch.count());
  has_offset_ = true;
}

void FlowNetwork::update(const Trajectories& batch) {
  std::fill(gradient_.begin(), gradient_.end(), 0.0F);
  const bool is_dqn = options_.objective == FlowObjective::kSoftDqn;
  std::vector<float> target_q;
  if (is_dqn) {
    target_q.resize(batch.num_steps() * num_outputs_);
    target_.q_values(0, batch.rows, scratch_, target_q);
  }
  network_.accumulate_gradient(
      0, batch.rows,
      [&](std::span<const float> q, std::span<float> g) {
        is_dqn ? differentiate_dqn(batch, q, target_q, g) : differentiate_balance(batch, q, g);
      },
      scratch_, gradient_);
  adam_.step(network_.parameters().values(), gradient_);
  if (options_.objective == FlowObjective::kTrajectoryBalance) log_z_adam_.step(log_z_, log_z_gradient_);
  if (is_dqn) move_target();
}

void FlowNetwork::move_target() {
  const std::span<const float> from = network_.parameters().values();
  const std::span<float> to = target_.parameters().values();
  const auto rate = static_cast<float>(options_.target_rate);
  for (std::size_t i = 0; i < from.size(); ++i) to[i] += rate * (from[i] - to[i]);
}

double FlowNetwork::flow_of(std::span<const float> q, std::size_t step) const {
  return offset_ + static_cast<double>(q[step * num_outputs_ + static_cast<std::size_t>(program_.num_actions())]);
}

// With potentials d_i = log F(s_i) - sum over the steps before i of (log P_F - log P_B), a piece from i to j is
// balanced if d_i = d_j. Returns the derivative of the loss of one trajectory with respect to each d_i.
std::vector<double> FlowNetwork::pieces_gradient(std::span<const double> potentials) const {
  std::vector<double> gradient(potentials.size(), 0.0);
  const std::size_t last = potentials.size() - 1;
  if (options_.objective == FlowObjective::kTrajectoryBalance) {
    gradient[0] = 2.0 * (potentials[0] - potentials[last]);
    gradient[last] = -gradient[0];
    return gradient;
  }
  double sum_of_weights = 0.0, weight = 1.0;
  for (std::size_t length = 1; length <= last; ++length) {
    weight *= options_.lambda;
    for (std::size_t i = 0; i + length <= last; ++i) {
      const double slope = 2.0 * weight * (potentials[i] - potentials[i + length]);
      gradient[i] += slope;
      gradient[i + length] -= slope;
    }
    sum_of_weights += weight * static_cast<double>(last + 1 - length);
  }
  for (double& entry : gradient) entry /= sum_of_weights;
  return gradient;
}

void FlowNetwork::differentiate_balance(const Trajectories& batch, std::span<const float> q, std::span<float> g) {
  const bool has_flows = options_.objective == FlowObjective::kSubTrajectoryBalance;
  const auto flow = static_cast<std::size_t>(program_.num_actions());
  const double scale = 1.0 / static_cast<double>(batch.count()), log_z = offset_ + static_cast<double>(log_z_[0]);
  log_z_gradient_[0] = 0.0F;
  std::vector<std::vector<double>> log_p(batch.num_steps());
  std::vector<double> potentials;
  for (std::size_t b = 0; b < batch.count(); ++b) {
    potentials.clear();
    double sum = 0.0;  // of log P_F - log P_B
    for (std::size_t t = batch.begin[b]; t < batch.begin[b + 1]; ++t) {
      potentials.push_back((has_flows ? flow_of(q, t) : log_z) - sum);  // trajectory balance reads only the first
      const std::span<const int> allowed = batch.allowed_at(t);
      log_softmax(q.subspan(t * num_outputs_, num_outputs_), allowed, log_p[t]);
      const auto taken = std::find(allowed.begin(), allowed.end(), batch.actions[t]) - allowed.begin();
      sum += log_p[t][static_cast<std::size_t>(taken)] - batch.log_back[t];
    }
    potentials.push_back(batch.log_rewards[b] - sum);
    const std::vector<double> slope = pieces_gradient(potentials);
    if (!has_flows) log_z_gradient_[0] += static_cast<float>(scale * slope[0]);
    double behind = 0.0;  // log P_F of a step is in all potentials after it, with a minus
    for (std::size_t t = batch.begin[b + 1]; t-- > batch.begin[b];) {
      const std::size_t i = t - batch.begin[b];
      behind -= slope[i + 1];
      if (has_flows) g[t * num_outputs_ + flow] = static_cast<float>(scale * slope[i]);
      const std::span<const int> allowed = batch.allowed_at(t);
      for (std::size_t k = 0; k < allowed.size(); ++k) {
        const double change = (allowed[k] == batch.actions[t] ? 1.0 : 0.0) - std::exp(log_p[t][k]);
        g[t * num_outputs_ + static_cast<std::size_t>(allowed[k])] = static_cast<float>(scale * behind * change);
      }
    }
  }
}

void FlowNetwork::differentiate_dqn(const Trajectories& batch, std::span<const float> q,
                                    std::span<const float> target_q, std::span<float> g) const {
  const double scale = 1.0 / static_cast<double>(batch.count());
  std::vector<double> log_p;
  for (std::size_t b = 0; b < batch.count(); ++b) {
    for (std::size_t t = batch.begin[b]; t < batch.begin[b + 1]; ++t) {
      double value = batch.log_rewards[b] - offset_;
      if (t + 1 < batch.begin[b + 1]) {
        value = log_softmax(target_q.subspan((t + 1) * num_outputs_, num_outputs_), batch.allowed_at(t + 1), log_p);
      }
      const std::size_t at = t * num_outputs_ + static_cast<std::size_t>(batch.actions[t]);
      const double error = static_cast<double>(q[at]) - (batch.log_back[t] + value);
      g[at] = static_cast<float>(scale * std::clamp(error, -1.0, 1.0));
    }
  }
}

std::pair<StateId, double> FlowNetwork::build(Random& random) {
  StateId state = start_;
  double log_probability = 0.0;
  while (!program_.states().is_end(state)) {
    const Choices choices = this->choices({&state, 1});
    const auto choice = static_cast<std::size_t>(draw_index(choices.log_policy[0], 0.0, random));
    log_probability += choices.log_policy[0][choice];
    state = choices.actions[0][choice].next;
  }
  return {state, log_probability};
}

double FlowNetwork::value(StateId state) {
  if (options_.objective == FlowObjective::kTrajectoryBalance) {
    return state == start_ ? offset_ + static_cast<double>(log_z_[0]) : 0.0;
  }
  if (program_.states().is_end(state)) return value_of_end(state);
  const std::vector<float> q = outputs(program_.states().encode(state));
  if (options_.objective == FlowObjective::kSubTrajectoryBalance) return flow_of(q, 0);
  transitions_.clear();
  program_.states().actions(state, transitions_);
  std::vector<double> log_p;
  return offset_ + log_softmax(q, numbers_of(transitions_), log_p);
}

// Q of the action that leads to it; flows have none, so log F(s) + log P_F there.
double FlowNetwork::value_of_end(StateId end) {
  transitions_.clear();
  program_.parents(end, transitions_);
  const Transition last = transitions_.front();
  const std::vector<float> q = outputs(program_.states().encode(last.next));
  if (options_.objective == FlowObjective::kSoftDqn) {
    return offset_ + static_cast<double>(q[static_cast<std::size_t>(last.action)]);
  }
  transitions_.clear();
  program_.states().actions(last.next, transitions_);
  const std::vector<int> allowed = numbers_of(transitions_);
  std::vector<double> log_p;
  log_softmax(q, allowed, log_p);
  const auto taken = std::find(allowed.begin(), allowed.end(), last.action) - allowed.begin();
  return flow_of(q, 0) + log_p[static_cast<std::size_t>(taken)];
}

std::vector<std::pair<StateId, double>> end_probabilities(FlowNetwork& network) {
  constexpr std::size_t kTogether = 4096;  // states evaluated together
  NumberedProgram& program = network.program().states();
  std::vector<std::pair<StateId, double>> layer = {{program.start(), 1.0}}, next, ends;
  std::vector<std::uint32_t> places;  // of a state in `next` or `ends`, plus 1; 0: it is not there
  const auto add = [&](std::vector<std::pair<StateId, double>>& list, StateId state, double mass) {
    if (state >= places.size()) places.resize(std::max<std::size_t>(2 * places.size(), state + std::size_t{1}), 0);
    if (places[state] == 0) {
      list.emplace_back(state, 0.0);
      places[state] = static_cast<std::uint32_t>(list.size());
    }
    list[places[state] - 1].second += mass;
  };
  std::vector<StateId> states;
  for (; !layer.empty(); layer.swap(next)) {
    next.clear();
    for (std::size_t first = 0; first < layer.size(); first += kTogether) {
      const std::span part = std::span(layer).subspan(first, std::min(kTogether, layer.size() - first));
      states.clear();
      for (const auto& [state, mass] : part) states.push_back(state);
      const FlowNetwork::Choices choices = network.choices(states);
      for (std::size_t i = 0; i < part.size(); ++i) {
        for (std::size_t a = 0; a < choices.actions[i].size(); ++a) {
          const StateId to = choices.actions[i][a].next;
          add(program.is_end(to) ? ends : next, to, part[i].second * std::exp(choices.log_policy[i][a]));
        }
      }
    }
  }
  return ends;
}

}  // namespace treesample::experiments
