#include "program/program_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr double kEpsilonOfPrior = 0.1;  // the paper's epsilon of eq. 7

// log(exp(upper) - exp(lower)).
double log_difference(double upper, double lower) {
  if (upper == kNegInf || lower >= upper) return kNegInf;
  return lower == kNegInf || upper == HUGE_VAL ? upper : upper + log1mexp(upper - lower);
}

// log sum of exp(log reward + value of the next state), where some may be +inf.
template <class Value>
double log_sum(std::span<const Transition> transitions, const Value& value) {
  double most = kNegInf;
  for (const Transition& t : transitions) most = std::max(most, t.log_reward + value(t.next));
  if (!std::isfinite(most)) return most;
  double sum = 0.0;
  for (const Transition& t : transitions) sum += std::exp(t.log_reward + value(t.next) - most);
  return most + std::log(sum);
}

}  // namespace

ProgramSearch::ProgramSearch(ProgramGraph& graph, ProgramRewards& rewards, Rule rule, const ProgramOptions& options)
    : graph_(graph),
      rewards_(rewards),
      rule_(rule),
      goes_to_ends_(rule == Rule::kQUct && graph.parts().has_reward),
      c_(options.c),
      batch_(static_cast<std::size_t>(options.batch)),
      random_(options.seed, "program search") {
  believe(graph_.start());
}

// What is known of a state before it is expanded or evaluated.
void ProgramSearch::believe(StateId state) {
  if (state >= beliefs_.size()) beliefs_.resize(std::max<std::size_t>(state + 1, graph_.num_states()));
  Belief& belief = beliefs_[state];
  if (belief.is_made) return;
  belief.is_made = true;
  belief.lower = kNegInf;
  if (rule_ == Rule::kGap) {
    belief.upper = graph_.program().upper(state);
    if (std::isnan(belief.upper)) graph_.throw_at(state, "upper is NaN", ErrorCode::kNumeric);
  } else if (graph_.parts().has_value) {
    belief.prior = graph_.program().value(state);
    if (!std::isfinite(belief.prior)) {
      graph_.throw_at(state, fmt::format("value is {}, allowed are numbers", belief.prior), ErrorCode::kNumeric);
    }
  }
}

// Q_phi without the reward of the action. A program without `value` gets what a uniform policy has seen so far: with
// the probability p(s) that it comes to s, and the mean M of the log of weight / p(end) over the ends that were
// evaluated,
//
//   log Z = M, and V(s) = M + log p(s) - the sum of log rewards before s.
//
// With a constant instead, a state had more mass after it was expanded than before, and the search followed one path.
double ProgramSearch::prior(StateId state) const {
  if (graph_.parts().has_value) return beliefs_[state].prior;
  const double mean = num_weights_ == 0 ? 0.0 : sum_of_weights_ / static_cast<double>(num_weights_);
  return mean + beliefs_[state].prior - graph_.log_sum(state);
}

double ProgramSearch::v(StateId state) const {
  return beliefs_[state].is_solved || graph_.is_expanded(state) ? beliefs_[state].v : prior(state);
}

double ProgramSearch::score(StateId state, const Transition& transition) const {
  const Belief& next = beliefs_[transition.next];
  if (rule_ == Rule::kGap) {
    return log_difference(transition.log_reward + next.upper, transition.log_reward + next.lower);
  }
  const double explored = std::sqrt(static_cast<double>(beliefs_[state].visits)) / (1.0 + next.visits);
  const double q_phi = transition.log_reward + prior(transition.next);
  return transition.log_reward + v(transition.next) + c_ * std::max(q_phi, kEpsilonOfPrior) * explored;
}

// Null where nothing is left to do.
const Transition* ProgramSearch::choose(StateId state) const {
  const Transition* best = nullptr;
  double best_score = kNegInf;
  for (const Transition& t : graph_.transitions(state)) {
    if (beliefs_[t.next].is_solved || beliefs_[t.next].is_pending) continue;
    const double here = score(state, t);
    if (best != nullptr && !(here > best_score)) continue;
    best = &t;
    best_score = here;
  }
  return best;
}

// Below what was expanded before, the tree search goes on to an end, because only that has a reward to learn from: by
// draws in proportion to exp Q_phi.
ProgramSearch::Path ProgramSearch::descend() {
  Path path{graph_.start()};
  graph_.enter(path.back(), path.back(), 0);
  while (true) {
    const StateId last = path.back();
    const bool is_new = !graph_.is_end(last) && !graph_.is_expanded(last);
    if (is_new && (!goes_to_ends_ || !expand(last))) return path;
    const Transition* const transition = is_new ? draw(last) : choose(last);
    if (transition == nullptr) return path;
    graph_.enter(transition->next, last, transition->action);
    path.push_back(transition->next);
  }
}

const Transition* ProgramSearch::draw(StateId state) {
  std::vector<const Transition*> open;
  std::vector<double> weights;
  for (const Transition& t : graph_.transitions(state)) {
    if (beliefs_[t.next].is_solved || beliefs_[t.next].is_pending) continue;
    open.push_back(&t);
    weights.push_back(t.log_reward + prior(t.next));
  }
  if (open.empty()) return nullptr;
  softmax(weights, weights);
  return open[static_cast<std::size_t>(random_.categorical(weights))];
}

// False where a limit on calls ends the search.
bool ProgramSearch::traverse() {
  const Path path = descend();
  const StateId last = path.back();
  bool goes_on = true;
  if (graph_.is_end(last)) {
    beliefs_[last].is_pending = true;
    pending_.push_back(path);
    ++num_pending_ends_;
  } else if (!graph_.is_expanded(last)) {
    goes_on = expand(last);
  } else if (!pending_.empty()) {
    // All that is left below are rewards that are about to be computed.
    beliefs_[last].is_pending = last != graph_.start();
    pending_.push_back(path);
  }
  for (const StateId state : path) {
    ++beliefs_[state].visits;
    graph_.leave(state);
  }
  back_up(path);
  const bool is_full = num_pending_ends_ >= batch_ || (!pending_.empty() && last == graph_.start());
  return is_full ? evaluate_pending() && goes_on : goes_on;
}

bool ProgramSearch::expand(StateId state) {
  if (!rewards_.pay_for_actions()) return false;
  graph_.expand(state);
  const std::span<const Transition> transitions = graph_.transitions(state);
  for (const Transition& t : transitions) {
    const bool is_known = t.next < beliefs_.size() && beliefs_[t.next].is_made;
    believe(t.next);
    if (graph_.parts().has_value || is_known) continue;
    beliefs_[t.next].prior = beliefs_[state].prior - std::log(static_cast<double>(transitions.size()));
  }
  return true;
}

bool ProgramSearch::evaluate_pending() {
  std::vector<StateId> ends;
  for (const Path& path : pending_) {
    beliefs_[path.back()].is_pending = false;
    if (graph_.is_end(path.back())) ends.push_back(path.back());
  }
  const bool is_enough = rewards_.evaluate(ends);
  for (const StateId end : ends) {
    if (!rewards_.is_known(end)) continue;
    Belief& belief = beliefs_[end];
    const double value = rewards_.value(end);
    if (rule_ == Rule::kGap && value > belief.upper + 1e-9 * (1.0 + std::abs(value))) {
      graph_.throw_at(end, fmt::format("upper is {}, but the log reward of this end is {}", belief.upper, value));
    }
    belief.lower = belief.upper = belief.v = value;
    belief.is_solved = true;
    if (value == kNegInf) continue;
    sum_of_weights_ += graph_.log_sum(end) + value - belief.prior;
    ++num_weights_;
  }
  for (const Path& path : pending_) back_up(path);
  pending_.clear();
  num_pending_ends_ = 0;
  return is_enough;
}

void ProgramSearch::back_up(const Path& path) {
  for (std::size_t i = path.size(); i-- > 0;) {
    if (graph_.is_expanded(path[i])) back_up(path[i]);
  }
}

void ProgramSearch::back_up(StateId state) {
  const std::span<const Transition> transitions = graph_.transitions(state);
  Belief& belief = beliefs_[state];
  if (rule_ == Rule::kGap) {
    belief.lower = log_sum(transitions, [&](StateId next) { return beliefs_[next].lower; });
    belief.upper = std::min(belief.upper, log_sum(transitions, [&](StateId next) { return beliefs_[next].upper; }));
  } else {
    belief.v = log_sum(transitions, [&](StateId next) { return v(next); });
  }
  belief.is_solved = std::all_of(transitions.begin(), transitions.end(),
                                 [&](const Transition& t) { return beliefs_[t.next].is_solved; });
}

double ProgramSearch::gap() const {
  const Belief& start = beliefs_[graph_.start()];
  return rule_ == Rule::kGap && start.upper != start.lower ? start.upper - start.lower : HUGE_VAL;
}

StopReason ProgramSearch::run(const Limits& limits, const RunWatch& watch) {
  LookSchedule looks(1000);
  const StateId start = graph_.start();
  if (graph_.is_end(start)) return rewards_.evaluate({&start, 1}) ? StopReason::kExact : StopReason::kBudget;
  while (!beliefs_[start].is_solved) {
    if (!traverse()) return StopReason::kBudget;
    if (limits.gap > 0.0 && gap() <= limits.gap && evaluate_pending()) return StopReason::kGap;
    if (!looks.is_due()) continue;
    looks.looked(watch.seconds());
    const bool is_full = graph_.bytes() + beliefs_.capacity() * sizeof(Belief) > limits.bytes;
    std::optional<StopReason> stop = watch.reason_to_stop();
    if (is_full && !stop) stop = StopReason::kMemory;
    if (stop) {
      evaluate_pending();
      return *stop;
    }
    watch.tell({.phase = "search", .num_nodes = graph_.num_states()});
  }
  return StopReason::kExact;
}

}  // namespace treesample
