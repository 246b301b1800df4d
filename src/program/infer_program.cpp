#include "treesample/program/infer_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "program/program_black_box.hpp"
#include "program/program_graph.hpp"
#include "program/program_rewards.hpp"
#include "program/program_search.hpp"
#include "program/program_values.hpp"
#include "space/run_watch.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

constexpr double kShareToExpand = 0.4;         // of the time, to find out whether all states can be expanded
constexpr std::size_t kEndsAtATime = 1 << 12;  // of rewards between two looks at the clock

class ProgramRun {
 public:
  ProgramRun(NumberedProgram& program, const ProgramOptions& options, const Limits& limits, const Observer& observer,
             RewardMemory* memory)
      : program_(program), options_(options), limits_(limits), watch_(limits, observer), memory_(memory) {
    limits_.calls = std::min(limits.calls, limits.new_calls);
    begin();
  }

  ProgramAnswer run() {
    try {
      work();
    } catch (const Error& error) {  // the program was interrupted: the answer is what is known
      if (error.code() != ErrorCode::kInterrupted) throw;
      stop_ = StopReason::kInterrupted;
      graph_->leave_all();
    }
    return answer();
  }

 private:
  void begin() {
    graph_ = std::make_shared<ProgramGraph>(program_, options_.max_steps);
    rewards_ = std::make_unique<ProgramRewards>(*graph_, limits_, memory_);
  }
  void work() {
    choose();
    if (options_.method == ProgramMethod::kSearch) search(ProgramSearch::Rule::kGap, "search with bounds");
    if (options_.method == ProgramMethod::kTree) search(ProgramSearch::Rule::kQUct, "tree search");
    if (options_.method == ProgramMethod::kExact) evaluate_all();
    if (options_.method == ProgramMethod::kBlackBox) learn();
  }
  void choose();
  bool expand();
  void search(ProgramSearch::Rule rule, const char* name);
  void evaluate_all();
  void learn();
  [[nodiscard]] double known_value(StateId state) const;
  [[nodiscard]] double most_value(StateId state) const;
  [[nodiscard]] bool is_solved(const std::vector<StateId>& order) const;
  void certify(const std::vector<StateId>& order);
  void find_best(const std::vector<StateId>& order);
  void draw(std::vector<StateId> order);
  ProgramAnswer answer();

  NumberedProgram& program_;
  ProgramOptions options_;
  Limits limits_;
  RunWatch watch_;
  RewardMemory* const memory_;
  std::shared_ptr<ProgramGraph> graph_;
  std::unique_ptr<ProgramRewards> rewards_;
  bool is_expanded_ = false;
  std::optional<StopReason> stop_;
  std::optional<ProgramGuess> guess_;
  ProgramAnswer answer_;
};

// Everything that fits is exact where its rewards can be paid for, and learned otherwise. What does not fit is
// searched.
void ProgramRun::choose() {
  const ProgramParts parts = graph_->parts();
  ProgramMethod& method = options_.method;
  if (method == ProgramMethod::kSearch && !parts.has_upper) {
    throw_argument("infer_program", "the method search needs a program with `upper`");
  }
  if (method == ProgramMethod::kSearch || method == ProgramMethod::kTree) return;
  const bool must_expand = method != ProgramMethod::kAuto;
  // Where actions are what is paid for, an attempt to expand all states would be paid for in vain.
  const bool can_try = must_expand || parts.has_reward || limits_.calls == Limits::kUnlimited;
  is_expanded_ = can_try && expand();
  if (must_expand) return;
  if (is_expanded_) {
    const std::vector<StateId>& ends = graph_->ends();
    const auto num_unknown =
        std::count_if(ends.begin(), ends.end(), [&](StateId end) { return !rewards_->recall(end); });
    method = num_unknown <= limits_.calls ? ProgramMethod::kExact
             : parts.has_upper            ? ProgramMethod::kSearch
                                          : ProgramMethod::kBlackBox;
    return;
  }
  if (stop_ == StopReason::kInterrupted) return;
  stop_.reset();
  begin();
  method = parts.has_upper ? ProgramMethod::kSearch : ProgramMethod::kTree;
}

bool ProgramRun::expand() {
  const bool is_auto = options_.method == ProgramMethod::kAuto;
  const double reserve = is_auto && std::isfinite(limits_.seconds) ? (1.0 - kShareToExpand) * limits_.seconds : 0.0;
  LookSchedule looks(1000);
  const auto is_over = [&] {
    if (!rewards_->pay_for_actions()) stop_ = StopReason::kBudget;
    // Objects of any length: where there are ends, a search may find them.
    if (is_auto && graph_->depth() == options_.max_steps && !graph_->ends().empty()) stop_ = StopReason::kMemory;
    if (is_auto && graph_->num_states() > static_cast<std::size_t>(options_.most_states)) stop_ = StopReason::kMemory;
    if (stop_ || !looks.is_due()) return stop_.has_value();
    looks.looked(watch_.seconds());
    if (graph_->bytes() > limits_.bytes / 2) stop_ = StopReason::kMemory;
    if (watch_.is_time_over(reserve)) stop_ = StopReason::kTime;
    if (watch_.is_asked_to_stop()) stop_ = StopReason::kInterrupted;
    watch_.tell({.phase = "expanding states", .num_nodes = graph_->num_states()});
    return stop_.has_value();
  };
  return expand_all(*graph_, is_over);
}

void ProgramRun::search(ProgramSearch::Rule rule, const char* name) {
  if (is_expanded_) begin();
  ProgramSearch search(*graph_, *rewards_, rule, options_);
  stop_ = search.run(limits_, watch_);
  if (rule == ProgramSearch::Rule::kQUct && graph_->parts().has_value) answer_.estimate = search.estimate();
  answer_.method = name;
}

void ProgramRun::evaluate_all() {
  answer_.method = "all states";
  const std::vector<StateId>& ends = graph_->ends();
  const std::size_t step = graph_->parts().has_reward
                               ? std::max(static_cast<std::size_t>(options_.batch), rewards_->enough_to_share())
                               : kEndsAtATime;
  LookSchedule looks(1000);
  for (std::size_t i = 0; i < ends.size(); i += step) {
    if (!rewards_->evaluate(std::span(ends).subspan(i, std::min(step, ends.size() - i)))) stop_ = StopReason::kBudget;
    if (stop_ == StopReason::kBudget) return;
    if (!looks.is_due()) continue;
    looks.looked(watch_.seconds());
    const std::optional<StopReason> stop = watch_.reason_to_stop();
    if (stop) stop_ = stop;
    if (stop) return;
    watch_.tell({.phase = "evaluating rewards",
                 .spent = {.reward_evaluations = rewards_->num_calls(), .calls = rewards_->num_calls()},
                 .num_nodes = graph_->num_states(),
                 .share_done = static_cast<double>(i) / static_cast<double>(ends.size())});
  }
}

void ProgramRun::learn() {
  if (!is_expanded_) return;
  const ProgramEncoding encoding(*graph_, graph_->bottom_up());
  if (!encoding.fits()) {
    answer_.remarks.emplace_back(
        "rewards are not learned: the ends have more than 2^20 possible encodings; the tree search was used instead");
    search(ProgramSearch::Rule::kQUct, "tree search");
    return;
  }
  guess_ = learn_rewards(encoding, *graph_, *rewards_, options_, limits_, watch_);
  stop_ = guess_->stop;
  answer_.method = "rewards learned from those that were evaluated";
}

// V of an end or of a state that is not expanded, as far as it is proved: at least this, and at most most_value.
double ProgramRun::known_value(StateId state) const {
  return graph_->is_end(state) && rewards_->is_known(state) ? rewards_->value(state) : kNegInf;
}
double ProgramRun::most_value(StateId state) const {
  if (graph_->is_end(state) && rewards_->is_known(state)) return rewards_->value(state);
  const double upper = graph_->parts().has_upper ? program_.upper(state) : HUGE_VAL;
  if (std::isnan(upper)) graph_->throw_at(state, "upper is NaN", ErrorCode::kNumeric);
  return upper;
}

bool ProgramRun::is_solved(const std::vector<StateId>& order) const {
  return std::all_of(order.begin(), order.end(), [&](StateId state) {
    return graph_->is_end(state) ? rewards_->is_known(state) : graph_->is_expanded(state);
  });
}

void ProgramRun::certify(const std::vector<StateId>& order) {
  const StateId start = graph_->start();
  const ProgramValues known = program_values(*graph_, order, [&](StateId state) { return known_value(state); });
  answer_.log_z = LogBounds::at_least(LogBounds::around(known.v[start], known.error[start]).lower);
  if (is_solved(order)) {
    answer_.log_z = LogBounds::around(known.v[start], known.error[start]);
    answer_.estimate = known.v[start];
    stop_ = answer_.log_z.is_exact() ? StopReason::kExact : StopReason::kRounding;
  } else {
    const ProgramValues most = program_values(*graph_, order, [&](StateId state) { return most_value(state); });
    const double upper = LogBounds::around(most.v[start], most.error[start]).upper;
    if (upper < answer_.log_z.lower) {
      throw Error(ErrorCode::kArgument, fmt::format("program: `upper` says that log Z is at most {}, but the rewards "
                                                    "that are known say at least {}",
                                                    upper, answer_.log_z.lower));
    }
    answer_.log_z.upper = upper;
  }
  answer_.is_exact = answer_.log_z.is_exact();
}

void ProgramRun::find_best(const std::vector<StateId>& order) {
  const auto without_paths = [&](StateId state, double value) {
    const bool is_divided = graph_->parts().has_log_paths && graph_->is_end(state) && value != kNegInf;
    return is_divided ? value + program_.log_paths(state) : value;
  };
  answer_.best = best_path(*graph_, order, [&](StateId s) { return without_paths(s, known_value(s)); });
  if (!answer_.best) return;
  ProgramPath& best = *answer_.best;
  if (graph_->parts().has_log_paths && !is_solved(order)) return;  // `upper` bounds sums that are divided
  const std::optional<ProgramPath> most =
      best_path(*graph_, order, [&](StateId s) { return without_paths(s, most_value(s)); });
  constexpr double kRounding = 1e-12;
  answer_.is_best_optimal = most->log_weight <= best.log_weight + kRounding * (1.0 + std::abs(best.log_weight));
}

void ProgramRun::draw(std::vector<StateId> order) {
  const ProgramValues values = program_values(*graph_, order, [&](StateId state) {
    return guess_ && graph_->is_end(state) ? guess_->values[graph_->end_place(state)] : known_value(state);
  });
  answer_.distribution = program_distribution(graph_, std::move(order), values.v);
  answer_.has_exact_samples = answer_.is_exact;
  if (!answer_.distribution) return;
  const double log_z = answer_.distribution->log_z();
  if (answer_.best) answer_.best->log_prob = answer_.best->log_weight - log_z;
  Random random(options_.seed, "samples");
  for (int i = 0; i < options_.samples; ++i) answer_.samples.push_back(answer_.distribution->sample(random));
}

ProgramAnswer ProgramRun::answer() {
  std::vector<StateId> order = graph_->bottom_up();
  if (guess_) {
    answer_.estimate = guess_->log_z;
    answer_.interval = guess_->interval;
    answer_.confidence = guess_->confidence;
  }
  certify(order);
  find_best(order);
  if (guess_ && is_solved(order)) guess_.reset();
  draw(std::move(order));
  if (answer_.is_exact) answer_.interval.reset();
  answer_.stop = stop_.value_or(StopReason::kBudget);
  answer_.num_states = static_cast<std::int64_t>(graph_->num_states());
  answer_.num_ends = static_cast<std::int64_t>(graph_->ends().size());
  answer_.num_rewards = rewards_->num_known();
  answer_.spent.calls = answer_.spent.reward_evaluations = rewards_->num_calls();
  answer_.seconds = watch_.seconds();
  return std::move(answer_);
}

}  // namespace

void ProgramOptions::validate() const {
  check_range("ProgramOptions", "samples", samples, 0, 100'000'000);
  check_range("ProgramOptions", "batch", batch, 1, 1'000'000);
  check_range("ProgramOptions", "max_steps", max_steps, 1, 1'000'000'000);
  check_range("ProgramOptions", "most_states", most_states, 1, std::int64_t{1} << 32);
  check_at_least("ProgramOptions", "c", c, 0.0);
}

ProgramAnswer infer_program(NumberedProgram& program, const ProgramOptions& options, const Limits& limits,
                            const Observer& observer, RewardMemory* memory) {
  options.validate();
  check_range("infer_program", "limits.calls", limits.calls, 0, Limits::kUnlimited);
  check_range("infer_program", "limits.new_calls", limits.new_calls, 0, Limits::kUnlimited);
  Limits others = limits;  // to other methods, calls are a budget
  others.calls = others.new_calls = Limits::kUnlimited;
  others.validate();
  return ProgramRun(program, options, limits, observer, memory).run();
}

}  // namespace treesample
