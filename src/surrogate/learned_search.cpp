#include "treesample/surrogate/learned_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "math/compensated_sum.hpp"
#include "space/asked_sum.hpp"
#include "space/configuration_queue.hpp"
#include "space/run_watch.hpp"
#include "surrogate/best_proposals.hpp"
#include "surrogate/difference_estimate.hpp"
#include "surrogate/learned_model.hpp"
#include "surrogate/learned_samplers.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr double kFromPosterior = 0.25;  // share of configurations from models drawn from the posterior
constexpr int kPosteriorDraws = 8;       // models drawn for that part of the error that comes from the posterior
constexpr int kMostTries = 300;
constexpr std::int64_t kFewestFirst = 20, kMostFirst = 50;  // configurations evaluated before the first fit
constexpr std::int64_t kLearnEvery = 6;                     // it fits again after growth by 1 / 6
constexpr double kNoSurprise = 1e-4;                        // nats: smaller differences teach nothing
constexpr int kMostOptima = 3;                              // learned optima evaluated at the end
constexpr double kShareForOptimum = 0.03;                   // share of the calls that is kept for them

class LearnedSearch {
 public:
  LearnedSearch(const FactorGraph& graph, const Limits& limits, const LearnedSearchOptions& options,
                const Observer& observer)
      : graph_(graph),
        limits_(limits),
        options_(options),
        watch_(limits, observer),
        should_stop_(observer.should_stop),
        budget_(budget_of(limits)),
        queue_(graph, budget_, options.answer_order),
        random_(options.seed, "learned search"),
        model_limits_{.max_entries = options.max_entries,
                      .max_bytes = static_cast<double>(limits.bytes) / 4.0,
                      .seed = options.seed,
                      .threads = limits.threads},
        model_(graph, queue_.functions(), model_limits_),
        best_proposals_(graph, model_limits_),
        posterior_(1.0, model_limits_) {}

  LearnedResult run() {
    learn();
    search();
    if (!stop_) ask_optimum();
    if (!stop_) sample_errors();
    return result();
  }

 private:
  void search();
  void ask_optimum();
  void sample_errors();
  double posterior_spread(Random& random) const;
  void learn();
  void rebuild();
  [[nodiscard]] const LearnedApproximation& approximation() const { return *samplers_.learned(); }
  bool wait();
  [[nodiscard]] std::int64_t num_first() const;
  void catch_up();
  bool is_over();
  [[nodiscard]] bool has_share_left() const;
  void take(const AskedConfiguration& asked);
  std::optional<BestProposals::Proposal> next();
  void add_bounds(LearnedResult& result) const;
  Marginals marginals() const;
  LearnedResult result();
  static std::string key(std::span<const int> x) { return {reinterpret_cast<const char*>(x.data()), x.size_bytes()}; }

  const FactorGraph& graph_;
  Limits limits_;
  LearnedSearchOptions options_;
  RunWatch watch_;
  ShouldStop should_stop_;
  Budget budget_;
  ConfigurationQueue queue_;
  Random random_;
  LearnedModelLimits model_limits_;
  LearnedModel model_;
  std::vector<Configuration> asked_;
  std::unordered_map<std::string, std::optional<double>> densities_;  // by states; none: under way or failed
  LearnedSamplers samplers_;
  BestProposals best_proposals_;
  PosteriorDraws posterior_;
  const double first_left_ = static_cast<double>(queue_.num_left());  // calls that could be paid for at the beginning
  std::int64_t next_learning_ = 0;
  AskedSum asked_sum_;
  double surprise_ = 0.0;           // the largest difference between a value and its prediction since the last fit
  std::vector<Foreseen> foreseen_;  // all values
  double learning_seconds_ = 0.0;
  LearnedReport report_;
  std::optional<StopReason> stop_;
  Configuration best_{{}, kNegInf};
  double best_error_ = 0.0;  // the rounding of the best density
};

void LearnedSearch::learn() {
  const double start = watch_.seconds();
  if (!asked_.empty() && (surprise_ > kNoSurprise || report_.num_learned == 0)) {
    model_.learn(should_stop_);
    ++report_.num_learned;
    surprise_ = 0.0;
  }
  rebuild();
  best_proposals_.forget_draw();
  posterior_.forget();
  const std::int64_t count = std::ssize(asked_);
  next_learning_ = count == 0 ? num_first() : count + std::max<std::int64_t>(kLearnEvery, count / kLearnEvery);
  learning_seconds_ = watch_.seconds() - start;
}

// With many values this takes seconds. If the search has to end, the previous result is good enough.
void LearnedSearch::rebuild() {
  try {
    samplers_.make(model_, graph_, asked_, model_limits_, samplers_.learned() ? should_stop_ : ShouldStop());
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInterrupted) throw;
    stop_ = StopReason::kInterrupted;
  }
}

// Lets the answer include values that arrived since the last fit, if that takes little time.
void LearnedSearch::catch_up() {
  constexpr double kSeconds = 0.2;
  const double end = watch_.seconds() + kSeconds;
  try {
    samplers_.make_learned(model_, graph_, asked_, model_limits_, [&] { return watch_.seconds() > end; });
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInterrupted) throw;
  }
}

// Depends on the model and not on the budget, so that a run with a larger budget repeats the evaluations of a smaller
// one and finds them in the journal.
std::int64_t LearnedSearch::num_first() const {
  std::int64_t num_effects = 0;
  for (int v = 0; v < graph_.num_variables(); ++v) num_effects += graph_.num_states(v) - 1;
  return std::clamp(num_effects, kFewestFirst, kMostFirst);
}

bool LearnedSearch::is_over() {
  if (!stop_ && watch_.is_asked_to_stop()) stop_ = StopReason::kInterrupted;
  if (!stop_ && watch_.is_time_over(2.0 * learning_seconds_)) stop_ = StopReason::kTime;
  return stop_.has_value();
}

// True if the search has calls left; the rest is for the learned optimum and for errors.
bool LearnedSearch::has_share_left() const {
  const double share = options_.wants_best ? 1.0 : 1.0 - options_.error_share;
  const double kept = (1.0 - share) * std::min(static_cast<double>(limits_.budget), 5.0 * first_left_);
  if (static_cast<double>(queue_.num_left()) <= kept) return false;
  if (limits_.budget == Limits::kUnlimited) return watch_.seconds() < share * limits_.seconds;
  const auto budget = static_cast<double>(limits_.budget);
  const bool has_rest = limits_.unit == BudgetUnit::kCall && share < 1.0;
  const double for_optimum = has_rest ? std::min<double>(kMostOptima, std::floor(kShareForOptimum * budget)) : 0.0;
  return budget_.spent().in(limits_.unit) + queue_.num_pending() < share * budget - for_optimum;
}

void LearnedSearch::search() {
  bool is_exhausted = false;  // true if nothing else was found; new samplers will tell whether there is anything
  while (!is_over()) {
    while (!is_exhausted && queue_.has_room() && queue_.can_pay() && has_share_left()) {
      std::optional<BestProposals::Proposal> proposal = next();
      is_exhausted = !proposal;
      if (proposal) queue_.submit(std::move(proposal->x), proposal->way);
    }
    if (queue_.num_pending() == 0) {
      if (!is_exhausted) return;
      rebuild();
      if (!stop_ && !samplers_.has_any()) stop_ = StopReason::kExact;
      is_exhausted = false;
      continue;
    }
    if (!wait()) return;
    if (std::ssize(asked_) >= next_learning_) learn();
  }
}

bool LearnedSearch::wait() {
  try {
    for (const AskedConfiguration& asked : queue_.wait()) take(asked);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInterrupted) throw;
    stop_ = StopReason::kInterrupted;
  }
  watch_.tell({.phase = "asking what was learned",
               .spent = budget_.spent(),
               .estimate = approximation().log_value(),
               .num_samples = std::ssize(asked_),
               .best = best_.log_density == kNegInf ? std::nullopt : std::optional(best_.log_density)});
  return !stop_;
}

void LearnedSearch::take(const AskedConfiguration& asked) {
  if (asked.error) {
    report_.error = asked.error;
    stop_ = asked.error->code() == ErrorCode::kInterrupted ? StopReason::kInterrupted : StopReason::kFactorFailed;
    return;
  }
  model_.add(asked);
  asked_sum_.add(asked.log_density, asked.log_error);
  const Elimination& learned = approximation().learned();
  foreseen_.push_back({learned.log_prob(asked.x) + learned.log_z(), asked.log_density});
  surprise_ = std::max(surprise_, std::abs(asked.log_density - foreseen_.back().predicted));
  densities_[key(asked.x)] = asked.log_density;
  asked_.push_back({asked.x, asked.log_density});
  if (options_.wants_best) best_proposals_.note(static_cast<BestProposals::Way>(asked.tag), asked_.back());
  if (asked.log_density <= best_.log_density) return;
  best_ = asked_.back();
  best_error_ = asked.log_error;
  report_.best_by_calls.emplace_back(budget_.spent().calls, best_.log_density);
}

// A configuration that was not drawn before. None does not prove that there is none: the samplers exclude only what was
// evaluated before they were made.
std::optional<BestProposals::Proposal> LearnedSearch::next() {
  if (!samplers_.has_any()) return {};
  const bool has_learned = report_.num_learned > 0;
  for (int tries = 0; tries < kMostTries; ++tries) {
    std::optional<BestProposals::Proposal> proposal;
    if (options_.wants_best && has_learned && tries < kMostTries / 2) {
      proposal = best_proposals_.next(model_, random_);
    } else if (has_learned && tries < kMostTries / 2 && random_.uniform() < kFromPosterior) {
      if (auto x = posterior_.sample(model_, random_))
        proposal = BestProposals::Proposal{*std::move(x), BestProposals::kOther};
    }
    if (!proposal) {
      const bool is_uniform = !has_learned || tries > kMostTries * 3 / 4;
      proposal = BestProposals::Proposal{is_uniform ? samplers_.draw_uniform(random_) : samplers_.draw(random_),
                                         BestProposals::kOther};
    }
    if (densities_.emplace(key(proposal->x), std::nullopt).second) return proposal;
  }
  return {};
}

// The standard deviation of log Z over models drawn from the posterior given the values.
double LearnedSearch::posterior_spread(Random& random) const {
  double sum = 0.0, squares = 0.0;
  int count = 0;
  for (int i = 0; i < kPosteriorDraws; ++i) {
    const double off = eliminate(model_.draw(1.0, random), model_limits_).log_z() - approximation().learned().log_z();
    if (!std::isfinite(off)) continue;
    ++count;
    sum += off;
    squares += off * off;
  }
  if (count < 2) return 0.0;
  return std::sqrt(std::max(0.0, squares - sum * sum / count) / (count - 1));
}

// If many configurations matter, the search may know log Z well and still not have met the learned optimum. Each answer
// may show that another configuration is better.
void LearnedSearch::ask_optimum() {
  learn();
  for (int i = 0; i < kMostOptima && queue_.can_pay() && !is_over(); ++i) {
    std::optional<Assignment> x = learned_optimum(model_, model_limits_, should_stop_);
    if (!x || !densities_.emplace(key(*x), std::nullopt).second) return;
    queue_.submit(*std::move(x), BestProposals::kOther);
    while (queue_.num_pending() > 0 && wait()) {
    }
    if (stop_) return;
    learn();
  }
}

void LearnedSearch::sample_errors() {
  if (options_.wants_best || options_.error_share == 0.0 || approximation().log_elsewhere() == kNegInf) return;
  Random random(options_.seed, "errors");
  std::vector<TargetSample> samples;
  const Marginals before = marginals();
  const double log_asked = approximation().log_asked(), log_elsewhere = approximation().log_elsewhere();
  const auto recent = foreseen_.end() - std::ssize(asked_) / 4;
  const ErrorSettings settings{options_.confidence, posterior_spread(random), {recent, foreseen_.end()}};
  const auto most = static_cast<std::size_t>(4 * std::ssize(asked_));
  while (!is_over()) {
    while (queue_.has_room() && queue_.can_pay() && samples.size() < most) {
      samples.push_back(samplers_.weigh(samplers_.draw(random)));
      const Assignment& x = samples.back().x;
      if (densities_.emplace(key(x), std::nullopt).second) queue_.submit(x, BestProposals::kOther);
    }
    if (queue_.num_pending() == 0 || !wait()) break;
  }
  // Uses samples up to the first one without an answer, so that slow ones are not left out.
  const auto is_open = [&](const TargetSample& sample) { return !densities_.at(key(sample.x)); };
  samples.erase(std::ranges::find_if(samples, is_open), samples.end());
  for (TargetSample& sample : samples) sample.log_target += *densities_.at(key(sample.x));
  report_.errors = difference_estimate(log_asked, log_elsewhere, before, samples, settings);
  if (!stop_ || stop_ == StopReason::kTime) learn();
}

// The marginals of P_X: those of the learned model, with the true values of evaluated configurations. If these have
// most of the learned mass and little of the true mass, rounding is all that is left of the learned probabilities.
Marginals LearnedSearch::marginals() const {
  constexpr double kMostShare = 1e6;
  const double log_z = approximation().log_value();
  const double share = std::exp(approximation().learned().log_z() - log_z);
  const bool is_lost = share > kMostShare && best_.log_density != kNegInf;
  if (stop_ == StopReason::kExact || is_lost) return marginals_of(asked_, graph_, best_.log_density);
  Marginals result = approximation().learned().marginals();
  for (std::vector<double>& probabilities : result) {
    for (double& p : probabilities) p *= share;
  }
  for (const Configuration& known : asked_) {
    const double learned = approximation().learned().log_prob(known.x) + approximation().learned().log_z();
    const double more = std::exp(known.log_density - log_z) - std::exp(learned - log_z);
    for (std::size_t v = 0; v < result.size(); ++v) result[v][known.x[v]] += more;
  }
  for (std::vector<double>& probabilities : result) normalise(probabilities);
  return result;
}

// Evaluated configurations give a lower bound. The mass of the tables times the declared maxima is an upper bound.
void LearnedSearch::add_bounds(LearnedResult& result) const {
  LogBounds& bounds = result.report.log_z;
  bounds = asked_sum_.bounds();
  if (result.report.stop == StopReason::kExact) {
    if (result.best) result.log_most = asked_sum_.log_most();
    return;
  }
  bounds.upper = HUGE_VAL;
  CompensatedSum most, most_functions;
  for (const Factor& factor : graph_.factors()) {
    if (!factor.log_max()) return;
    most.add(*factor.log_max());
    if (!factor.is_table()) most_functions.add(*factor.log_max());
  }
  // Values are known to one unit in the last place, and so are the maxima of tables; large ones may cancel.
  result.log_most = most.value() + most.error();
  const LogBounds all = eliminate(tables_alone(graph_, 1.0), model_limits_).bounds();
  CompensatedSum upper;
  upper.add(all.upper);
  upper.add(most_functions.value());
  bounds.upper = std::max(bounds.lower, upper.value() + upper.rounding() + most_functions.error());
}

LearnedResult LearnedSearch::result() {
  if (approximation().log_asked() == kNegInf && approximation().log_elsewhere() == kNegInf && !asked_.empty())
    rebuild();
  if (stop_ && stop_ != StopReason::kTime) catch_up();
  LearnedResult result{report_, samplers_.learned(), {}, {}, {}, 0.0};
  result.report.spent = budget_.spent();
  result.report.stop = stop_.value_or(StopReason::kBudget);
  result.report.seconds = watch_.seconds();
  // Samples that say nothing of the error correct nothing: P_X, which has learned their values, is the better guess.
  if (result.report.errors && !result.report.errors->no_error.empty() && approximation().log_value() != kNegInf) {
    result.report.errors->log_z = approximation().log_value();
    result.report.errors->marginals = marginals();
  }
  result.report.estimate = result.report.errors ? result.report.errors->log_z : approximation().log_value();
  result.report.num_asked = std::ssize(asked_);
  result.report.num_terms = model_.num_terms();
  result.report.width = approximation().learned().plan().width;
  if (best_.log_density != kNegInf) {
    result.best = best_;
    result.best_error = best_error_;
  }
  add_bounds(result);
  if (approximation().log_value() == kNegInf) {
    result.approximation = nullptr;
  } else {
    // Bounds by declared maxima may prove that the evaluated configurations are all but a millionth of Z, whatever the
    // model has learned about the rest.
    result.marginals = result.report.log_z.is_exact() ? marginals_of(asked_, graph_, best_.log_density) : marginals();
  }
  return result;
}

}  // namespace

void LearnedSearchOptions::validate() const {
  check_argument(error_share >= 0.0 && error_share < 1.0, "learned_search",
                 fmt::format("error_share is {}, allowed are numbers from 0 to below 1", error_share));
  check_argument(confidence > 0.0 && confidence < 1.0, "learned_search",
                 fmt::format("confidence is {}, allowed are numbers between 0 and 1", confidence));
  check_at_least("learned_search", "max_entries", max_entries, 1.0);
}

LearnedResult learned_search(const FactorGraph& graph, const Limits& limits, const LearnedSearchOptions& options,
                             const Observer& observer) {
  limits.validate();
  options.validate();
  return LearnedSearch(graph, limits, options, observer).run();
}

}  // namespace treesample
