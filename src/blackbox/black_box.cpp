#include "treesample/blackbox/black_box.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "blackbox/box_log.hpp"
#include "blackbox/box_search.hpp"
#include "blackbox/learned_target.hpp"
#include "blackbox/rescaled.hpp"
#include "treesample/blackbox/portfolio.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

constexpr double kMostEntriesOfTables = 2e6;                // of the tables of a model
constexpr std::array<std::int64_t, 2> kRepeatAfter{8, 60};  // values after which one is asked for again

FactorGraph graph_of(const Domain& domain) {
  domain.validate();
  FactorGraph graph;
  std::vector<int> scope;
  for (int v = 0; v < domain.width(); ++v) {
    const auto place = static_cast<std::size_t>(v);
    const std::vector<double> levels = domain.is_ordered(v) ? domain.levels[place] : std::vector<double>();
    scope.push_back(graph.add_variable({.num_states = domain.num_states[place], .levels = levels}));
  }
  graph.add_factor(Factor::function(scope, [](std::span<const int>) { return 0.0; }));
  return graph;
}

BlackBoxOptions checked(BlackBoxOptions options) {
  options.validate();
  if (options.make_surrogate) return options;
  const MakeSurrogate portfolio = [without = options.without](const Domain& domain, const Noise& noise) {
    return make_portfolio(domain, noise, without);
  };
  options.make_surrogate = portfolio;
  if (options.wants_best) {
    options.make_surrogate = [portfolio](const Domain& domain, const Noise& noise) -> std::unique_ptr<Surrogate> {
      return std::make_unique<Rescaled>(domain, noise, portfolio);
    };
  }
  return options;
}

bool can_eliminate(const FactorGraph& tables) {
  return plan_elimination(tables, {.restarts = 1, .most_entries = kMostEntriesOfTables}).num_entries <=
         kMostEntriesOfTables;
}

std::unique_ptr<BoxSearch> make_search(LearnedTarget& target, const BlackBoxOptions& options) {
  if (options.wants_best) return make_best_search(target, options);
  if (target.domain().num_configurations() <= options.most_enumerated) return make_grid_search(target, options);
  check_argument(can_eliminate(target.tables()), "BlackBox",
                 "the tables of the model are too large for elimination, which P_X is normalised by");
  return make_wide_search(target, options);
}

}  // namespace

class BlackBox::Impl {
 public:
  Impl(FactorGraph graph, BlackBoxOptions options)
      : options_(checked(std::move(options))),
        target_(std::move(graph), options_.make_surrogate, options_.noise),
        search_(make_search(target_, options_)) {}

  std::vector<Assignment> ask(int n, const ShouldStop& should_stop);
  std::vector<Assignment> ask_check(int n, const ShouldStop& should_stop);
  void tell(int factor, std::span<const int> states, double value);
  void tell_failed(int factor, std::span<const int> states, std::string_view why);
  void tell_done(std::span<const int> x);
  void tell_whole(std::span<const int> x, std::optional<double> value, std::string_view why);
  BlackBoxAnswer answer(const ShouldStop& should_stop);
  [[nodiscard]] std::int64_t num_told() const { return target_.num_told(); }
  [[nodiscard]] std::optional<Configuration> best(const std::set<Assignment>& without) const;
  [[nodiscard]] std::vector<ToldValue> told() const;
  [[nodiscard]] const ProposerShares& shares() const { return search_->shares(); }
  [[nodiscard]] std::string save() const { return log_text({target_.domain().num_states, events_}); }
  void load(std::string_view text);

 private:
  std::optional<Assignment> to_repeat() const;
  void look_for_noise();
  void add_remarks(BlackBoxAnswer& answer) const;
  [[nodiscard]] bool is_whole(int factor) const {
    return target_.functions().size() == 1 &&
           std::ssize(target_.graph().factor(factor).scope()) == target_.domain().width();
  }

  BlackBoxOptions options_;
  LearnedTarget target_;
  std::unique_ptr<BoxSearch> search_;
  std::int64_t num_failed_ = 0;
  std::string why_failed_;
  std::vector<BoxEvent> events_;
  std::set<Assignment> repeated_;
};

// The best one that was told and not repeated yet, after the first eight and after the first sixty.
std::optional<Assignment> BlackBox::Impl::to_repeat() const {
  if (!options_.looks_for_noise || !options_.can_repeat || target_.noise().is_there ||
      repeated_.size() >= kRepeatAfter.size())
    return {};
  if (num_told() < kRepeatAfter[repeated_.size()]) return {};
  std::optional<Configuration> found = best(repeated_);
  if (!found) return {};
  return std::move(found->x);
}

std::vector<Assignment> BlackBox::Impl::ask(int n, const ShouldStop& should_stop) {
  check_range("BlackBox::ask", "n", n, 0, 1'000'000);
  events_.push_back({BoxEvent::kAsk, n});
  std::vector<Assignment> result;
  if (n > 0) {
    if (std::optional<Assignment> x = to_repeat()) {
      repeated_.insert(*x);
      result.push_back(*std::move(x));
    }
  }
  for (Assignment& x : search_->ask(n - static_cast<int>(result.size()), should_stop)) result.push_back(std::move(x));
  return result;
}

std::vector<Assignment> BlackBox::Impl::ask_check(int n, const ShouldStop& should_stop) {
  check_range("BlackBox::ask_check", "n", n, 0, 1'000'000);
  events_.push_back({BoxEvent::kCheck, n});
  return num_told() == 0 ? std::vector<Assignment>() : search_->ask_check(n, should_stop);
}

void BlackBox::Impl::tell(int factor, std::span<const int> states, double value) {
  const bool is_new = target_.tell(factor, states, value, options_.looks_for_noise);
  events_.push_back({BoxEvent::kTell, factor, {states.begin(), states.end()}, value});
  if (is_new) look_for_noise();
  if (is_whole(factor)) search_->settle(target_.whole(factor, states));
}

void BlackBox::Impl::tell_failed(int factor, std::span<const int> states, std::string_view why) {
  target_.tell_failed(factor, states);
  events_.push_back({BoxEvent::kFail, factor, {states.begin(), states.end()}, 0.0, std::string(why)});
  why_failed_ = why;
  ++num_failed_;
  if (is_whole(factor)) search_->settle(target_.whole(factor, states));
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
  search_->settle(x);
}

// Noise is there as soon as two values differ.
void BlackBox::Impl::look_for_noise() {
  if (target_.noise().is_there || !target_.noise_variance()) return;
  target_.set_noise({.is_there = true});
  search_->note_noise();
}

BlackBoxAnswer BlackBox::Impl::answer(const ShouldStop& should_stop) {
  events_.push_back({BoxEvent::kAnswer});
  BlackBoxAnswer answer = search_->answer(should_stop);
  if (answer.log_z == kNegInf) answer.approximation = nullptr;  // its probabilities would add up to 0
  if (answer.errors) {
    if (target_.noise().is_there) {
      answer.errors->no_error = "the values are noisy";
      answer.errors->std_error = HUGE_VAL;
    }
    // Samples that say nothing of the error correct nothing: P_X, which has learned their values, is the better guess.
    if (!answer.errors->no_error.empty()) {
      answer.errors->log_z = answer.log_z;
      answer.errors->marginals = answer.marginals;
    }
  }
  add_remarks(answer);
  return answer;
}

void BlackBox::Impl::add_remarks(BlackBoxAnswer& answer) const {
  answer.noise = target_.noise();
  answer.num_failed = num_failed_;
  answer.why_failed = why_failed_;
  if (answer.noise.is_there) {
    answer.noise.sd = target_.noise_sd();
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

std::optional<Configuration> BlackBox::Impl::best(const std::set<Assignment>& without) const {
  std::optional<Configuration> best;
  for (const BoxEvent& event : events_) {
    if (event.kind != BoxEvent::kTell && event.kind != BoxEvent::kDone) continue;
    if (event.kind == BoxEvent::kTell && !is_whole(event.number)) continue;
    const Assignment x = event.kind == BoxEvent::kDone ? event.states : target_.whole(event.number, event.states);
    const std::optional<double> density = target_.known(x);
    if (!density || *density == kNegInf || (best && *density <= best->log_density) || without.contains(x)) continue;
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

void BlackBoxOptions::validate() const {
  check_argument(most_enumerated >= 0.0 && most_enumerated <= 1 << 26, "BlackBoxOptions",
                 fmt::format("most_enumerated is {}, allowed are 0 to 2^26", most_enumerated));
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

BlackBox::BlackBox(const Domain& domain, BlackBoxOptions options) : BlackBox(graph_of(domain), std::move(options)) {}
BlackBox::BlackBox(FactorGraph graph, BlackBoxOptions options)
    : impl_(std::make_unique<Impl>(std::move(graph), std::move(options))) {}
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
std::optional<Configuration> BlackBox::best() const { return impl_->best({}); }
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
