#include "treesample/blackbox/black_box_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "blackbox/elsewhere_mixture.hpp"
#include "math/compensated_sum.hpp"
#include "space/configuration_queue.hpp"
#include "space/run_watch.hpp"
#include "surrogate/asked_sum.hpp"
#include "surrogate/difference_estimate.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

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
        box_(graph, options.levels, options.box) {}

  BlackBoxResult run() {
    search();
    if (!stop_ && !options_.box.wants_best && options_.error_share > 0.0) sample_errors();
    return result();
  }

 private:
  void search();
  void sample_errors();
  bool wait();
  void take(const AskedConfiguration& asked);
  bool is_over();
  [[nodiscard]] bool has_share_left() const;
  void add_bounds(BlackBoxResult& result) const;
  BlackBoxResult result();
  [[nodiscard]] std::size_t place_of(std::span<const int> x) const;
  [[nodiscard]] Assignment at(std::size_t place) const;

  const FactorGraph& graph_;
  Limits limits_;
  BlackBoxSearchOptions options_;
  RunWatch watch_;
  ShouldStop should_stop_;
  Budget budget_;
  ConfigurationQueue queue_;
  BlackBox box_;
  const double first_left_ = static_cast<double>(queue_.num_left());  // calls that may be paid for
  std::unordered_map<std::size_t, std::optional<double>> densities_;  // by place; none of what is under way or failed
  AskedSum asked_sum_;
  std::optional<BlackBoxAnswer> answer_;  // none: values were told since
  BlackBoxReport report_;
  std::optional<StopReason> stop_;
  Configuration best_{{}, kNegInf};
  double best_error_ = 0.0;
};

std::size_t BlackBoxSearch::place_of(std::span<const int> x) const {
  std::size_t place = 0;
  for (std::size_t v = 0; v < x.size(); ++v) {
    place = place * static_cast<std::size_t>(graph_.num_states(static_cast<int>(v))) + static_cast<std::size_t>(x[v]);
  }
  return place;
}

Assignment BlackBoxSearch::at(std::size_t place) const {
  Assignment x(static_cast<std::size_t>(graph_.num_variables()));
  for (std::size_t v = x.size(); v-- > 0;) {
    const auto count = static_cast<std::size_t>(graph_.num_states(static_cast<int>(v)));
    x[v] = static_cast<int>(place % count);
    place /= count;
  }
  return x;
}

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

void BlackBoxSearch::search() {
  bool is_exhausted = false;
  while (!is_over()) {
    while (!is_exhausted && queue_.has_room() && queue_.can_pay() && has_share_left()) {
      std::vector<Assignment> next = box_.ask(1, should_stop_);
      is_exhausted = next.empty();
      if (is_exhausted) break;
      densities_.emplace(place_of(next.front()), std::nullopt);
      queue_.submit(std::move(next.front()), 0);
    }
    if (queue_.num_pending() == 0) {
      if (is_exhausted) stop_ = StopReason::kExact;
      return;
    }
    if (!wait()) return;
  }
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
               .best = best_.log_density == kNegInf ? std::nullopt : std::optional(best_.log_density)});
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
    box_.tell_function(factor, states, value);
  }
  box_.tell_done(asked.x);
  answer_.reset();
  ++report_.num_asked;
  asked_sum_.add(asked.log_density, asked.log_error);
  densities_[place_of(asked.x)] = asked.log_density;
  if (asked.log_density <= best_.log_density) return;
  best_ = {asked.x, asked.log_density};
  best_error_ = asked.log_error;
  report_.best_by_calls.emplace_back(budget_.spent().calls, best_.log_density);
}

void BlackBoxSearch::sample_errors() {
  answer_ = box_.answer(should_stop_);
  const std::span<const double> log_weights = answer_->approximation->log_weights();
  std::vector<unsigned char> is_open(log_weights.size(), 1);
  for (const auto& [place, density] : densities_) is_open[place] = 0;
  for (std::size_t i = 0; i < is_open.size(); ++i) {
    if (log_weights[i] == kNegInf) is_open[i] = 0;  // what the tables forbid
  }
  const ElsewhereMixture mixture(log_weights, is_open);
  if (!mixture.has_any()) return;
  const std::vector<double>& errors = answer_->prediction_errors;
  const auto recent = errors.end() - std::min(std::ssize(errors), static_cast<std::ptrdiff_t>(report_.num_asked / 4));
  const ErrorSettings settings{options_.confidence, answer_->log_spread, {recent, errors.end()}};
  const double log_known = answer_->log_known;
  const Marginals before = answer_->marginals;
  const std::vector<double> guesses(log_weights.begin(), log_weights.end());
  Random random(options_.box.seed, "errors");
  std::vector<TargetSample> samples;
  std::vector<std::size_t> places;
  const auto most = static_cast<std::size_t>(4 * report_.num_asked);
  while (!is_over()) {
    while (queue_.has_room() && queue_.can_pay() && samples.size() < most) {
      places.push_back(mixture.draw(random));
      const double log_q = mixture.log_prob(places.back());
      samples.push_back({at(places.back()), -log_q, guesses[places.back()] - log_q});
      if (densities_.emplace(places.back(), std::nullopt).second) queue_.submit(samples.back().x, 0);
    }
    if (queue_.num_pending() == 0 || !wait()) break;
  }
  // Up to the first one without an answer, so that slow ones are not left out.
  std::size_t num_answered = 0;
  while (num_answered < samples.size() && densities_.at(places[num_answered])) {
    samples[num_answered].log_target += *densities_.at(places[num_answered]);
    ++num_answered;
  }
  samples.resize(num_answered);
  report_.errors = difference_estimate(log_known, mixture.log_mass(), before, samples, settings);
}

// Evaluated configurations give a lower bound. The mass of the tables times the declared maxima is an upper bound.
void BlackBoxSearch::add_bounds(BlackBoxResult& result) const {
  LogBounds& bounds = result.report.log_z;
  bounds = asked_sum_.bounds();
  if (result.report.stop == StopReason::kExact) {
    if (result.best) result.log_most = asked_sum_.log_most();
    return;
  }
  bounds.upper = HUGE_VAL;
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
  if (!answer_) answer_ = box_.answer(should_stop_);
  BlackBoxResult result{report_, *answer_, {}, {}, 0.0};
  result.report.spent = budget_.spent();
  result.report.stop = stop_.value_or(StopReason::kBudget);
  if (answer_->is_exact) result.report.stop = StopReason::kExact;
  result.report.seconds = watch_.seconds();
  result.report.estimate = report_.errors ? report_.errors->log_z : answer_->log_z;
  if (best_.log_density != kNegInf) {
    result.best = best_;
    result.best_error = best_error_;
  }
  add_bounds(result);
  return result;
}

}  // namespace

BlackBoxResult black_box_search(const FactorGraph& graph, const Limits& limits, const BlackBoxSearchOptions& options,
                                const Observer& observer) {
  limits.validate();
  return BlackBoxSearch(graph, limits, options, observer).run();
}

}  // namespace treesample
