#include "treesample/blackbox/black_box.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <unordered_map>
#include <utility>

#include "blackbox/box_log.hpp"
#include "blackbox/error_check.hpp"
#include "blackbox/grid_proposals.hpp"
#include "blackbox/learned_target.hpp"
#include "surrogate/asked_sum.hpp"
#include "treesample/blackbox/grid_approximation.hpp"
#include "treesample/blackbox/portfolio.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

constexpr std::array<std::int64_t, 2> kRepeatAfter{20, 60};  // values after which one is asked for again
constexpr double kUsualNoise = 0.01;                         // a variance, before there are repeats
constexpr std::int64_t kFewestFirst = 16, kMostFirst = 40;
constexpr std::int64_t kPlanEvery = 14, kMostUnplanned = 96;  // a new plan when there are a 14th more values
constexpr std::int64_t kFitEvery = 5;                         // a new fit when there are a fifth more

FactorGraph graph_of(const Domain& domain) {
  domain.validate();
  FactorGraph graph;
  std::vector<int> scope;
  for (const int k : domain.num_states) scope.push_back(graph.add_variable(k));
  graph.add_factor(Factor::function(scope, [](std::span<const int>) { return 0.0; }));
  return graph;
}

BlackBoxOptions checked(BlackBoxOptions options) {
  options.validate();
  if (!options.make_surrogate) {
    options.make_surrogate = [without = options.without](const Domain& domain, const Noise& noise) {
      return make_portfolio(domain, noise, without);
    };
  }
  return options;
}

}  // namespace

class BlackBox::Impl {
 public:
  Impl(FactorGraph graph, const std::vector<std::vector<double>>& levels, BlackBoxOptions options)
      : options_(checked(std::move(options))),
        target_(std::move(graph), levels, options_.make_surrogate, options_.noise),
        random_(options_.seed, "black box"),
        random_check_(options_.seed, "errors"),
        grid_(target_, options_.without),
        densities_(grid_.tables().begin(), grid_.tables().end()),
        is_known_(grid_.size(), 0) {
    if (is_noisy()) grid_.set_noisy();
  }

  std::vector<Assignment> ask(int n, const ShouldStop& should_stop);
  std::vector<Assignment> ask_check(int n, const ShouldStop& should_stop);
  void tell(int factor, std::span<const int> states, double value);
  void tell_failed(int factor, std::span<const int> states, std::string_view why);
  void tell_done(std::span<const int> x);
  void tell_whole(std::span<const int> x, std::optional<double> value, std::string_view why);
  BlackBoxAnswer answer(const ShouldStop& should_stop);
  [[nodiscard]] std::int64_t num_told() const { return target_.num_told(); }
  [[nodiscard]] std::optional<Configuration> best() const;
  [[nodiscard]] std::vector<ToldValue> told() const;
  [[nodiscard]] const ProposerShares& shares() const { return grid_.shares(); }
  [[nodiscard]] std::string save() const { return log_text({target_.domain().num_states, events_}); }
  void load(std::string_view text);

 private:
  void learn(const ShouldStop& should_stop);
  std::optional<std::size_t> place_to_repeat() const;
  void start_check(const ShouldStop& should_stop);
  void settle(std::span<const int> x);
  void look_for_noise();
  void add_errors(BlackBoxAnswer& answer) const;
  void add_remarks(BlackBoxAnswer& answer) const;
  [[nodiscard]] bool is_whole(int factor) const {
    return target_.functions().size() == 1 &&
           std::ssize(target_.graph().factor(factor).scope()) == target_.domain().width();
  }
  [[nodiscard]] double noise_sd() const;
  [[nodiscard]] bool is_noisy() const { return target_.noise().is_there; }
  [[nodiscard]] double spread_elsewhere();
  [[nodiscard]] std::int64_t num_first() const;

  BlackBoxOptions options_;
  LearnedTarget target_;
  Random random_, random_check_;
  GridProposals grid_;
  std::vector<double> densities_;                   // of the whole domain, when it was learned last
  std::vector<unsigned char> is_known_;             // which of them are true
  std::unordered_map<std::size_t, int> under_way_;  // place, proposer
  std::vector<double> prediction_errors_;           // of values that were told after the first fit: value minus guess
  std::int64_t next_plan_ = 0, next_fit_ = 0, num_failed_ = 0;
  std::string why_failed_;
  std::vector<BoxEvent> events_;
  std::set<std::size_t> repeated_;
  bool has_plan_ = false, is_checking_ = false;
  std::unique_ptr<ErrorCheck> check_;
};

std::int64_t BlackBox::Impl::num_first() const {
  std::int64_t num_effects = 0;
  for (const int k : target_.domain().num_states) num_effects += k - 1;
  return std::clamp(num_effects, kFewestFirst, kMostFirst);
}

void BlackBox::Impl::learn(const ShouldStop& should_stop) {
  if (num_told() == 0) return;
  if (num_told() >= next_fit_) {
    target_.fit(should_stop);
    next_fit_ = num_told() + std::max<std::int64_t>(4, num_told() / kFitEvery);
  }
  densities_.assign(grid_.tables().begin(), grid_.tables().end());
  target_.add_all(densities_, is_known_);
}

double BlackBox::Impl::noise_sd() const {
  if (!is_noisy()) return 0.0;
  return target_.noise().sd.value_or(std::sqrt(target_.noise_variance().value_or(kUsualNoise)));
}

// The best one that was told and not repeated yet, after the first twenty and after the first sixty.
std::optional<std::size_t> BlackBox::Impl::place_to_repeat() const {
  if (!options_.looks_for_noise || is_noisy() || repeated_.size() >= kRepeatAfter.size()) return {};
  if (num_told() < kRepeatAfter[repeated_.size()]) return {};
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < grid_.size(); ++i) {
    if (is_known_[i] == 0 || densities_[i] == kNegInf || repeated_.contains(i)) continue;
    if (!best || densities_[i] > densities_[*best]) best = i;
  }
  return best;
}

std::vector<Assignment> BlackBox::Impl::ask(int n, const ShouldStop& should_stop) {
  check_range("BlackBox::ask", "n", n, 0, 1'000'000);
  events_.push_back({BoxEvent::kAsk, n});
  is_checking_ = false;
  std::vector<Assignment> result;
  if (!has_plan_ || num_told() >= next_plan_) {
    const bool has_guess = num_told() >= num_first();
    if (has_guess) learn(should_stop);
    for (std::size_t i = 0; i < grid_.size(); ++i) {
      if (is_known_[i] != 0 && grid_.is_new(i)) grid_.note(i, densities_[i], -1);
    }
    grid_.plan(densities_, has_guess, noise_sd(), random_);
    has_plan_ = true;
    next_plan_ =
        has_guess ? num_told() + std::clamp<std::int64_t>(num_told() / kPlanEvery, 1, kMostUnplanned) : num_first();
  }
  if (n > 0) {
    if (const auto place = place_to_repeat()) {
      repeated_.insert(*place);
      result.push_back(grid_.at(*place));
    }
  }
  while (std::ssize(result) < n) {
    const auto proposal = grid_.next(random_);
    if (!proposal) break;
    under_way_[proposal->place] = proposal->proposer;
    result.push_back(grid_.at(proposal->place));
  }
  return result;
}

void BlackBox::Impl::start_check(const ShouldStop& should_stop) {
  next_fit_ = 0;
  learn(should_stop);
  const GridApproximation now(target_.domain().num_states, densities_);
  std::vector<unsigned char> is_open(grid_.size());
  std::vector<double> known;
  for (std::size_t i = 0; i < is_open.size(); ++i) {
    is_open[i] = is_known_[i] == 0 ? 1 : 0;
    if (is_open[i] == 0) known.push_back(densities_[i]);
  }
  const auto recent = prediction_errors_.end() - std::min<std::int64_t>(std::ssize(prediction_errors_), num_told() / 4);
  check_ = std::make_unique<ErrorCheck>(
      now, log_sum_exp(known), is_open,
      ErrorSettings{options_.confidence, spread_elsewhere(), {recent, prediction_errors_.end()}});
  is_checking_ = true;
}

std::vector<Assignment> BlackBox::Impl::ask_check(int n, const ShouldStop& should_stop) {
  check_range("BlackBox::ask_check", "n", n, 0, 1'000'000);
  events_.push_back({BoxEvent::kCheck, n});
  std::vector<Assignment> result;
  if (num_told() == 0) return result;
  if (!is_checking_) start_check(should_stop);
  const auto most = static_cast<std::size_t>(4 * num_told());
  while (std::ssize(result) < n && check_->has_any() && check_->num_draws() < most) {
    const std::size_t place = check_->draw(random_check_);
    if (is_known_[place] != 0 || under_way_.contains(place)) continue;
    under_way_[place] = -1;
    grid_.close(place);
    result.push_back(grid_.at(place));
  }
  return result;
}

void BlackBox::Impl::tell(int factor, std::span<const int> states, double value) {
  const bool is_new = target_.tell(factor, states, value, options_.looks_for_noise);
  events_.push_back({BoxEvent::kTell, factor, {states.begin(), states.end()}, value});
  if (is_new) look_for_noise();
  if (is_whole(factor)) settle(target_.whole(factor, states));
}

void BlackBox::Impl::tell_failed(int factor, std::span<const int> states, std::string_view why) {
  target_.tell_failed(factor, states);
  events_.push_back({BoxEvent::kFail, factor, {states.begin(), states.end()}, 0.0, std::string(why)});
  why_failed_ = why;
  ++num_failed_;
  if (is_whole(factor)) settle(target_.whole(factor, states));
}

void BlackBox::Impl::tell_whole(std::span<const int> x, std::optional<double> value, std::string_view why) {
  const std::vector<int> functions = target_.functions();
  check_argument(functions.size() == 1, "BlackBox::tell", "the model has several functions: tell the value of each");
  target_.domain().check(x);
  std::vector<int> states;
  for (const int v : target_.graph().factor(functions.front()).scope()) states.push_back(x[v]);
  if (value) {
    tell(functions.front(), states, *value);
  } else {
    tell_failed(functions.front(), states, why);
  }
  tell_done(x);
}

void BlackBox::Impl::tell_done(std::span<const int> x) {
  target_.domain().check(x);
  events_.push_back({BoxEvent::kDone, 0, {x.begin(), x.end()}});
  settle(x);
}

// A configuration may be known now. What it brought, the proposer learns.
void BlackBox::Impl::settle(std::span<const int> x) {
  const std::size_t place = grid_.place_of(x);
  const std::optional<double> density = target_.known(x);
  if (!density) return;
  const auto asked = under_way_.find(place);
  if (is_known_[place] == 0) {
    if (next_fit_ > 0 && grid_.tables()[place] != kNegInf) prediction_errors_.push_back(*density - densities_[place]);
    grid_.note(place, *density, asked == under_way_.end() ? -1 : asked->second);
  } else {
    grid_.note_again(place, *density);
  }
  is_known_[place] = 1;
  if (!is_noisy() || *density == kNegInf) densities_[place] = *density;
  if (asked != under_way_.end()) under_way_.erase(asked);
}

// Noise is there as soon as two values differ.
void BlackBox::Impl::look_for_noise() {
  if (is_noisy() || !target_.noise_variance()) return;
  target_.set_noise({.is_there = true});
  grid_.set_noisy();
  next_fit_ = next_plan_ = 0;
}

BlackBoxAnswer BlackBox::Impl::answer(const ShouldStop& should_stop) {
  events_.push_back({BoxEvent::kAnswer});
  BlackBoxAnswer answer;
  next_fit_ = 0;
  learn(should_stop);
  std::vector<double> known;
  AskedSum bounds;
  for (std::size_t i = 0; i < grid_.size(); ++i) {
    if (is_known_[i] == 0) continue;
    known.push_back(densities_[i]);
    if (densities_[i] == kNegInf) continue;
    if (!is_noisy()) bounds.add(densities_[i], target_.rounding(grid_.at(i)));
    if (answer.best && !(densities_[i] > answer.best->log_density)) continue;
    answer.best = Configuration{grid_.at(i), densities_[i]};
  }
  answer.log_known = log_sum_exp(known);
  if (!is_noisy() && answer.best) answer.log_lower = bounds.bounds().lower;
  if (!is_noisy() && known.size() == grid_.size()) answer.log_upper = bounds.bounds().upper;
  answer.log_spread = spread_elsewhere();
  answer.is_exact = !is_noisy() && known.size() == grid_.size();
  auto approximation = std::make_shared<GridApproximation>(target_.domain().num_states, densities_);
  answer.log_z = approximation->log_value();
  answer.marginals = approximation->marginals();
  answer.approximation = std::move(approximation);
  add_errors(answer);
  add_remarks(answer);
  return answer;
}

void BlackBox::Impl::add_errors(BlackBoxAnswer& answer) const {
  if (!check_) return;
  const auto density = [&](std::size_t place) { return target_.known(grid_.at(place)); };
  answer.errors = check_->errors(density, [&](std::size_t place) { return grid_.at(place); });
  if (!answer.errors) return;
  if (is_noisy()) {
    answer.errors->no_error = "the values are noisy";
    answer.errors->std_error = HUGE_VAL;
  }
  if (answer.errors->no_error.empty()) return;
  // Samples that say nothing of the error correct nothing: P_X, which has learned their values, is the better guess.
  answer.errors->log_z = answer.log_z;
  answer.errors->marginals = answer.marginals;
}

void BlackBox::Impl::add_remarks(BlackBoxAnswer& answer) const {
  answer.noise = target_.noise();
  answer.num_failed = num_failed_;
  answer.why_failed = why_failed_;
  if (is_noisy()) {
    answer.noise.sd = noise_sd();
    answer.remarks.push_back(fmt::format(
        "{}values are noisy, with a standard deviation of {:.2g}: nothing is certified, and P_X is of their means",
        options_.noise.is_there ? "" : "the same configuration gave different values: ", *answer.noise.sd));
  }
  if (num_failed_ > 0) {
    answer.remarks.push_back(fmt::format("{} evaluation{} failed{}{}; where more would fail is guessed", num_failed_,
                                         num_failed_ == 1 ? "" : "s",
                                         why_failed_.empty() ? "" : ", the last one: ", printable(why_failed_)));
  }
}

std::optional<Configuration> BlackBox::Impl::best() const {
  std::optional<Configuration> best;
  for (const BoxEvent& event : events_) {
    if (event.kind != BoxEvent::kTell && event.kind != BoxEvent::kDone) continue;
    if (event.kind == BoxEvent::kTell && !is_whole(event.number)) continue;
    const Assignment x = event.kind == BoxEvent::kDone ? event.states : target_.whole(event.number, event.states);
    const std::optional<double> density = target_.known(x);
    if (!density || *density == kNegInf || (best && *density <= best->log_density)) continue;
    best = Configuration{x, *density};
  }
  return best;
}

std::vector<ToldValue> BlackBox::Impl::told() const {
  std::vector<ToldValue> result;
  for (const BoxEvent& event : events_) {
    if (event.kind == BoxEvent::kTell) result.push_back({event.number, event.states, event.value});
    if (event.kind == BoxEvent::kFail) result.push_back({event.number, event.states, {}, event.why});
  }
  return result;
}

void BlackBox::Impl::load(std::string_view text) {
  const BoxLog log = read_log(text);
  check_argument(events_.empty(), "BlackBox::load", "something has happened to this box already");
  check_argument(log.num_states == target_.domain().num_states, "BlackBox::load",
                 "the text belongs to variables with other numbers of states");
  for (const BoxEvent& event : log.events) {
    if (event.kind == BoxEvent::kTell || event.kind == BoxEvent::kFail)
      target_.check(event.number, event.states, event.value);
    if (event.kind == BoxEvent::kDone) target_.domain().check(event.states);
  }
  for (const BoxEvent& event : log.events) {
    switch (event.kind) {
      case BoxEvent::kAsk:
        ask(event.number, {});
        break;
      case BoxEvent::kCheck:
        ask_check(event.number, {});
        break;
      case BoxEvent::kTell:
        tell(event.number, event.states, event.value);
        break;
      case BoxEvent::kFail:
        tell_failed(event.number, event.states, event.why);
        break;
      case BoxEvent::kDone:
        tell_done(event.states);
        break;
      case BoxEvent::kAnswer:
        answer({});
        break;
    }
  }
}

// The standard deviation of the guesses, by mass. Guesses err together, so that it is that of their sum as well.
double BlackBox::Impl::spread_elsewhere() {
  constexpr int kDraws = 512;
  std::vector<double> sums;
  double top = kNegInf, sum = 0.0;
  for (std::size_t i = 0; i < densities_.size(); ++i) {
    if (is_known_[i] == 0) top = std::max(top, densities_[i]);
  }
  if (top == kNegInf) return 0.0;
  for (std::size_t i = 0; i < densities_.size(); ++i) {
    if (is_known_[i] == 0) sum += std::exp(densities_[i] - top);
    sums.push_back(sum);
  }
  Random random(options_.seed, "spread");
  std::vector<int> rows;
  for (int i = 0; i < kDraws; ++i) {
    const auto found = std::upper_bound(sums.begin(), sums.end(), random.uniform() * sum);
    const Assignment x = grid_.at(static_cast<std::size_t>(std::min(found, sums.end() - 1) - sums.begin()));
    rows.insert(rows.end(), x.begin(), x.end());
  }
  std::vector<Prediction> predicted(kDraws);
  target_.predict(rows, predicted);
  double mean = 0.0;
  for (const Prediction& one : predicted) mean += one.sd / kDraws;
  return mean;
}

void BlackBoxOptions::validate() const {
  check_argument(confidence > 0.0 && confidence < 1.0, "BlackBoxOptions",
                 fmt::format("confidence is {}, allowed are numbers between 0 and 1", confidence));
  if (!noise.sd) return;
  check_argument(noise.is_there, "BlackBoxOptions", "noise.sd is given, but noise.is_there is false");
  check_argument(*noise.sd > 0.0 && std::isfinite(*noise.sd), "BlackBoxOptions",
                 fmt::format("noise.sd is {}, allowed are numbers above 0", *noise.sd));
}

bool BlackBox::can_enumerate(const FactorGraph& graph) {
  return graph.log_num_configurations() <= std::log(kMostEnumerated) + 1e-9;
}

BlackBox::BlackBox(const Domain& domain, BlackBoxOptions options)
    : BlackBox(graph_of(domain), domain.levels, std::move(options)) {}
BlackBox::BlackBox(FactorGraph graph, const std::vector<std::vector<double>>& levels, BlackBoxOptions options)
    : impl_(std::make_unique<Impl>(std::move(graph), levels, std::move(options))) {}
BlackBox::~BlackBox() = default;
BlackBox::BlackBox(BlackBox&&) noexcept = default;
BlackBox& BlackBox::operator=(BlackBox&&) noexcept = default;

std::vector<Assignment> BlackBox::ask(int n, const ShouldStop& should_stop) { return impl_->ask(n, should_stop); }
std::vector<Assignment> BlackBox::ask_check(int n, const ShouldStop& should_stop) {
  return impl_->ask_check(n, should_stop);
}
void BlackBox::tell(std::span<const int> x, double value) { impl_->tell_whole(x, value, {}); }
void BlackBox::tell_function(int factor, std::span<const int> states, double value) {
  impl_->tell(factor, states, value);
}
void BlackBox::tell_function_failed(int factor, std::span<const int> states, std::string_view why) {
  impl_->tell_failed(factor, states, why);
}
void BlackBox::tell_done(std::span<const int> x) { impl_->tell_done(x); }
void BlackBox::tell_failed(std::span<const int> x, std::string_view why) { impl_->tell_whole(x, std::nullopt, why); }
std::optional<Configuration> BlackBox::best() const { return impl_->best(); }
std::vector<ToldValue> BlackBox::told() const { return impl_->told(); }
std::string BlackBox::save() const { return impl_->save(); }
void BlackBox::load(std::string_view text) { impl_->load(text); }
BlackBoxAnswer BlackBox::answer(const ShouldStop& should_stop) { return impl_->answer(should_stop); }
std::int64_t BlackBox::num_told() const { return impl_->num_told(); }
std::vector<std::pair<std::string, std::int64_t>> BlackBox::proposers() const {
  std::vector<std::pair<std::string, std::int64_t>> result;
  for (int i = 0; i < impl_->shares().size(); ++i)
    result.emplace_back(impl_->shares().name(i), impl_->shares().count(i));
  return result;
}

}  // namespace treesample
