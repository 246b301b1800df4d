#include "program/program_black_box.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <set>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

// 0 is left for what follows the last action.
std::vector<int> actions_as_features(std::vector<int> actions) {
  for (int& action : actions) ++action;
  return actions;
}

constexpr double kShareForErrors = 0.1;  // of the calls: they are drawn at random, so that the error is known

}  // namespace

ProgramEncoding::ProgramEncoding(const ProgramGraph& graph, const std::vector<StateId>& order) : graph_(graph) {
  read_states();
  for (const int count : num_states_) num_cells_ *= count;
  if (!fits()) return;
  weigh(order);
  place();
}

// What `encode` gives, else the numbers that the ends consist of if these tell them apart, else the actions.
void ProgramEncoding::read_states() {
  const auto encode = [&](StateId end) { return graph_.program().encode(end); };
  const bool is_natural = !graph_.parts().has_encoding && has_natural_features();
  is_ordered_ = graph_.parts().is_ordered && (graph_.parts().has_encoding || is_natural);
  for (const StateId end : graph_.ends()) {
    std::vector<int> states =
        graph_.parts().has_encoding || is_natural ? encode(end) : actions_as_features(graph_.first_actions(end));
    if (graph_.parts().has_encoding) check_features(end, states);
    num_states_.resize(std::max(num_states_.size(), states.size()), 1);
    for (std::size_t i = 0; i < states.size(); ++i) num_states_[i] = std::max(num_states_[i], states[i] + 1);
    states_.push_back(std::move(states));
  }
  for (std::vector<int>& states : states_) states.resize(num_states_.size());
}

void ProgramEncoding::check_features(StateId end, const std::vector<int>& states) const {
  if (!states_.empty() && states.size() != states_.front().size()) {
    graph_.throw_at(end, fmt::format("encode gives {}, but {} for the first end", counted(std::ssize(states), "number"),
                                     states_.front().size()));
  }
  for (const int state : states) {
    if (state < 0) graph_.throw_at(end, fmt::format("encode gives {}, allowed are numbers from 0", state));
  }
}

bool ProgramEncoding::has_natural_features() const {
  std::set<std::vector<int>> seen;
  for (const StateId end : graph_.ends()) {
    std::vector<int> states = graph_.program().encode(end);
    const bool is_wrong = states.empty() || (!seen.empty() && states.size() != seen.begin()->size()) ||
                          *std::min_element(states.begin(), states.end()) < 0;
    if (is_wrong || !seen.insert(std::move(states)).second) return false;
  }
  return true;
}

// The sums over all paths from the start, from the states before to the states after.
void ProgramEncoding::weigh(const std::vector<StateId>& order) {
  std::vector<double> sums(graph_.num_states(), kNegInf);
  sums[graph_.start()] = 0.0;
  for (std::size_t i = order.size(); i-- > 0;) {
    for (const Transition& t : graph_.transitions(order[i])) {
      sums[t.next] = log_add_exp(sums[t.next], sums[order[i]] + t.log_reward);
    }
  }
  for (const StateId end : graph_.ends()) {
    const double log_paths = graph_.parts().has_log_paths ? graph_.program().log_paths(end) : 0.0;
    log_weights_.push_back(sums[end] - log_paths);
  }
}

void ProgramEncoding::place() {
  ends_.assign(static_cast<std::size_t>(num_cells_), -1);
  for (const StateId end : graph_.ends()) {
    std::int64_t& there = ends_[cell(states(end))];
    if (there >= 0) {
      graph_.throw_at(end, fmt::format("encode gives the same numbers as for the end {}",
                                       graph_.program().text(static_cast<StateId>(there))));
    }
    there = end;
  }
}

std::size_t ProgramEncoding::cell(const std::vector<int>& states) const {
  std::size_t cell = 0;
  for (std::size_t i = 0; i < states.size(); ++i) {
    cell = cell * static_cast<std::size_t>(num_states_[i]) + static_cast<std::size_t>(states[i]);
  }
  return cell;
}

std::optional<StateId> ProgramEncoding::end_at(std::size_t cell) const {
  if (ends_[cell] < 0) return {};
  return static_cast<StateId>(ends_[cell]);
}

namespace {

class Learner {
 public:
  Learner(const ProgramEncoding& encoding, const ProgramGraph& graph, ProgramRewards& rewards,
          const ProgramOptions& options, const Limits& limits, const RunWatch& watch)
      : encoding_(encoding), graph_(graph), rewards_(rewards), options_(options), limits_(limits), watch_(watch) {}

  ProgramGuess run() {
    for (const StateId end : graph_.ends()) {
      if (rewards_.recall(end)) tell(end);
    }
    const double share = 1.0 - kShareForErrors;
    const auto most = static_cast<std::int64_t>(share * static_cast<double>(limits_.calls));
    while (goes_on() && rewards_.num_calls() < most && evaluate(box_.ask(batch(most), should_stop_))) {
    }
    while (goes_on() && rewards_.can_pay() && evaluate(box_.ask_check(batch(limits_.calls), should_stop_))) {
    }
    return result();
  }

 private:
  // All configurations as a table of what is known of them, and a function of which nothing is known.
  [[nodiscard]] FactorGraph model() const {
    FactorGraph model;
    std::vector<int> scope;
    for (const int count : encoding_.num_states()) {
      std::vector<double> levels(encoding_.is_ordered() && count > 1 ? static_cast<std::size_t>(count) : 0);
      std::iota(levels.begin(), levels.end(), 0.0);
      scope.push_back(model.add_variable(Variable{.num_states = count, .levels = std::move(levels)}));
    }
    std::size_t num_cells = 1;
    for (const int count : encoding_.num_states()) num_cells *= static_cast<std::size_t>(count);
    std::vector<double> known(num_cells, kNegInf);
    bool has_known = false;
    for (std::size_t cell = 0; cell < num_cells; ++cell) {
      const std::optional<StateId> end = encoding_.end_at(cell);
      if (end) known[cell] = encoding_.log_weight(*end);
      has_known = has_known || known[cell] != 0.0;
    }
    model.add_factor(Factor::function(scope, [](std::span<const int>) { return 0.0; }));
    if (has_known) model.add_table(scope, std::move(known));
    return model;
  }
  [[nodiscard]] BlackBoxOptions box_options() const {
    BlackBoxOptions options;
    options.seed = options_.seed;
    options.looks_for_noise = options.can_repeat = false;
    return options;
  }

  bool goes_on() {
    if (!stop_) stop_ = watch_.reason_to_stop();
    return !stop_;
  }
  [[nodiscard]] int batch(std::int64_t most) const {
    return static_cast<int>(std::clamp<std::int64_t>(most - rewards_.num_calls(), 1, options_.batch));
  }
  void tell(StateId end) { box_.tell_function(0, encoding_.states(end), rewards_.log_reward(end)); }
  // False where nothing is left, or the limit on calls is reached.
  bool evaluate(const std::vector<Assignment>& asked) {
    std::vector<StateId> ends;
    for (const Assignment& x : asked) {
      const std::optional<StateId> end = encoding_.end_at(encoding_.cell(x));
      if (end) ends.push_back(*end);
    }
    const bool is_enough = rewards_.evaluate(ends);
    for (const StateId end : ends) {
      if (!rewards_.is_known(end)) continue;
      tell(end);
      box_.tell_done(encoding_.states(end));
    }
    watch_.tell({.phase = "learning the rewards",
                 .spent = {.reward_evaluations = rewards_.num_calls(), .calls = rewards_.num_calls()}});
    return is_enough && !ends.empty();
  }

  ProgramGuess result() {
    const BlackBoxAnswer answer = box_.answer(should_stop_);
    ProgramGuess guess{stop_.value_or(StopReason::kBudget), {}, answer.log_z};
    if (answer.errors && answer.errors->no_error.empty()) {
      guess.log_z = answer.errors->log_z;
      guess.interval = answer.errors->interval;
      guess.confidence = answer.errors->confidence;
    }
    for (const StateId end : graph_.ends()) {
      const double log_weight =
          answer.approximation ? answer.approximation->log_prob(encoding_.states(end)) + answer.log_z : kNegInf;
      const double log_paths = graph_.parts().has_log_paths ? graph_.program().log_paths(end) : 0.0;
      guess.values.push_back(log_weight == kNegInf ? kNegInf : log_weight - encoding_.log_weight(end) - log_paths);
    }
    return guess;
  }

  const ProgramEncoding& encoding_;
  const ProgramGraph& graph_;
  ProgramRewards& rewards_;
  const ProgramOptions& options_;
  const Limits& limits_;
  const RunWatch& watch_;
  std::optional<StopReason> stop_;
  const ShouldStop should_stop_ = [this] { return !goes_on(); };
  BlackBox box_{model(), box_options()};
};

}  // namespace

ProgramGuess learn_rewards(const ProgramEncoding& encoding, const ProgramGraph& graph, ProgramRewards& rewards,
                           const ProgramOptions& options, const Limits& limits, const RunWatch& watch) {
  return Learner(encoding, graph, rewards, options, limits, watch).run();
}

}  // namespace treesample
