#include "treesample/blackbox/black_box_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "math/compensated_sum.hpp"
#include "space/configuration_queue.hpp"
#include "space/earlier_values.hpp"
#include "space/run_watch.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// Whether an evaluation can be made again, which noise takes.
bool can_repeat(const FactorGraph& graph) {
  return graph.evaluation_queue() == nullptr || graph.evaluation_queue()->can_repeat();
}

BlackBoxOptions box_options(const FactorGraph& graph, const BlackBoxSearchOptions& options) {
  BlackBoxOptions result = options.box;
  result.confidence = options.confidence;
  result.can_repeat = can_repeat(graph);
  return result;
}

class BlackBoxSearch {
 public:
  BlackBoxSearch(const FactorGraph& graph, const Limits& limits, const BlackBoxSearchOptions& options,
                 const Observer& observer)
      : graph_(graph),
        limits_(limits),
        options_(options),
        watch_(limits, observer),
        should_stop_(observer.should_stop),
        budget_(budget_of(limits)),
        queue_(graph, budget_, options.answer_order),
        earlier_(graph,
                 fmt::format("black box, {}, seed {}", options.box.wants_best ? "best" : "all", options.box.seed)),
        box_(graph, box_options(graph, options)) {}

  BlackBoxResult run() {
    const bool is_exhausted = search();
    if (!stop_ && !is_exhausted && !options_.box.wants_best && options_.error_share > 0.0) sample_errors();
    return result();
  }

 private:
  void teach();
  // True when nothing is left to ask for.
  bool search();
  void sample_errors();
  bool wait();
  void take(const AskedConfiguration& asked);
  bool is_over();
  [[nodiscard]] bool has_share_left() const;
  void add_bounds(BlackBoxResult& result) const;
  BlackBoxResult result();

  const FactorGraph& graph_;
  Limits limits_;
  BlackBoxSearchOptions options_;
  RunWatch watch_;
  ShouldStop should_stop_;
  Budget budget_;
  ConfigurationQueue queue_;
  EarlierValues earlier_;
  BlackBox box_;
  const double first_left_ = static_cast<double>(queue_.num_left());  // calls that may be paid for
  std::int64_t num_submitted_ = 0;
  const bool may_be_noisy_ = can_repeat(graph_) && (options_.box.looks_for_noise || options_.box.noise.is_there);
  std::map<Assignment, int> times_asked_;
  BlackBoxReport report_;
  std::optional<StopReason> stop_;
  double best_ = kNegInf;  // log density
};

bool BlackBoxSearch::is_over() {
  if (!stop_ && watch_.is_asked_to_stop()) stop_ = StopReason::kInterrupted;
  if (!stop_ && watch_.is_time_over()) stop_ = StopReason::kTime;
  return stop_.has_value();
}

// Whether the search has calls left; the rest is for errors.
bool BlackBoxSearch::has_share_left() const {
  const double share = options_.box.wants_best ? 1.0 : 1.0 - options_.error_share;
  const double kept = (1.0 - share) * std::min(static_cast<double>(limits_.budget), 5.0 * first_left_);
  if (static_cast<double>(queue_.num_left()) <= kept) return false;
  if (limits_.budget == Limits::kUnlimited) return watch_.seconds() < share * limits_.seconds;
  return budget_.spent().in(limits_.unit) + queue_.num_pending() < share * static_cast<double>(limits_.budget);
}

// What others have paid for.
void BlackBoxSearch::teach() {
  for (const KnownValue& known : earlier_.due(num_submitted_)) {
    if (known.is_missing) {
      box_.tell_function_failed(known.factor, known.states);
    } else {
      box_.tell_function(known.factor, known.states, known.log_value);
    }
    ++report_.num_known;
  }
}

bool BlackBoxSearch::search() {
  bool is_exhausted = false;
  while (!is_over()) {
    while (!is_exhausted && queue_.has_room() && queue_.can_pay() && has_share_left()) {
      teach();
      std::vector<Assignment> next = box_.ask(1, should_stop_);
      is_exhausted = next.empty();
      if (is_exhausted) break;
      earlier_.note_asked(next.front());
      ++num_submitted_;
      // Only noise makes the box ask for what it knows.
      int repeat = 0;
      if (may_be_noisy_) repeat = times_asked_[next.front()]++ + (earlier_.has_told(next.front()) ? 1 : 0);
      report_.has_repeated = report_.has_repeated || repeat > 0;
      queue_.submit(std::move(next.front()), 0, repeat);
    }
    if (queue_.num_pending() == 0 || !wait()) return is_exhausted;
  }
  return is_exhausted;
}

bool BlackBoxSearch::wait() {
  try {
    for (const AskedConfiguration& asked : queue_.wait()) take(asked);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInterrupted) throw;
    stop_ = StopReason::kInterrupted;
  }
  watch_.tell({.phase = "asking the black box",
               .spent = budget_.spent(),
               .num_samples = report_.num_asked,
               .best = best_ == kNegInf ? std::nullopt : std::optional(best_)});
  return !stop_;
}

void BlackBoxSearch::take(const AskedConfiguration& asked) {
  if (asked.error) {
    report_.error = asked.error;
    stop_ = asked.error->code() == ErrorCode::kInterrupted ? StopReason::kInterrupted : StopReason::kFactorFailed;
    return;
  }
  for (const auto& [factor, value] : asked.values) {
    std::vector<int> states;
    for (const int v : graph_.factor(factor).scope()) states.push_back(asked.x[static_cast<std::size_t>(v)]);
    const bool is_missing = std::find(asked.missing.begin(), asked.missing.end(), factor) != asked.missing.end();
    if (is_missing) {
      box_.tell_function_failed(factor, states);
    } else {
      box_.tell_function(factor, states, value);
    }
  }
  box_.tell_done(asked.x);
  earlier_.note_answered(asked.x, asked.values);
  ++report_.num_asked;
  if (asked.log_density <= best_) return;
  best_ = asked.log_density;
  report_.best_by_calls.emplace_back(budget_.spent().calls, best_);
}

void BlackBoxSearch::sample_errors() {
  while (!is_over()) {
    while (queue_.has_room() && queue_.can_pay()) {
      std::vector<Assignment> next = box_.ask_check(1, should_stop_);
      if (next.empty()) break;
      queue_.submit(std::move(next.front()), 0);
    }
    if (queue_.num_pending() == 0 || !wait()) return;
  }
}

// Evaluated configurations give a lower bound. The mass of the tables times the declared maxima is an upper bound.
void BlackBoxSearch::add_bounds(BlackBoxResult& result) const {
  LogBounds& bounds = result.report.log_z;
  bounds = {result.answer.log_lower, result.answer.log_upper};
  if (result.answer.noise.is_there) return;
  if (result.answer.is_exact) {
    if (result.best) result.log_most = result.best->log_density + result.best_error;
    return;
  }
  CompensatedSum most, upper;
  for (const Factor& factor : graph_.factors()) {
    if (!factor.log_max()) return;
    most.add(*factor.log_max());
    if (!factor.is_table()) upper.add(*factor.log_max());
  }
  // Values are known to one unit in the last place, and so are the maxima of tables; large ones may cancel.
  result.log_most = most.value() + most.error();
  FactorGraph tables;
  for (int v = 0; v < graph_.num_variables(); ++v) tables.add_variable(graph_.num_states(v));
  for (const Factor& factor : graph_.factors()) {
    if (factor.is_table()) tables.add_factor(factor);
  }
  const double error = upper.error();
  upper.add(Elimination(tables, limits_, {}).bounds().upper);
  bounds.upper = std::max(bounds.lower, upper.value() + upper.rounding() + error);
}

BlackBoxResult BlackBoxSearch::result() {
  BlackBoxResult result{report_, box_.answer(should_stop_), {}, {}, 0.0};
  const BlackBoxAnswer& answer = result.answer;
  result.report.errors = answer.errors;
  result.report.spent = budget_.spent();
  result.report.stop = stop_.value_or(StopReason::kBudget);
  if (answer.is_exact) result.report.stop = StopReason::kExact;
  result.report.seconds = watch_.seconds();
  result.report.estimate = answer.errors ? answer.errors->log_z : answer.log_z;
  result.best = answer.best;
  result.best_error = answer.best_error;
  add_bounds(result);
  return result;
}

}  // namespace

BlackBoxResult black_box_search(const FactorGraph& graph, const Limits& limits, const BlackBoxSearchOptions& options,
                                const Observer& observer) {
  limits.validate();
  check_argument(!options.box.noise.is_there || can_repeat(graph), "black_box_search",
                 "values are noisy, but workers elsewhere evaluate nothing twice: noise needs functions or programs of "
                 "this machine");
  return BlackBoxSearch(graph, limits, options, observer).run();
}

}  // namespace treesample
