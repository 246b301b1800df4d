#include "treesample/blackbox/black_box.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "blackbox/grid_proposals.hpp"
#include "blackbox/learned_target.hpp"
#include "treesample/blackbox/gaussian_process.hpp"
#include "treesample/blackbox/grid_approximation.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

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

BlackBoxOptions with_surrogate(BlackBoxOptions options) {
  if (!options.make_surrogate) {
    options.make_surrogate = [](const Domain& domain) { return std::make_unique<GaussianProcess>(domain); };
  }
  return options;
}

}  // namespace

class BlackBox::Impl {
 public:
  Impl(FactorGraph graph, const std::vector<std::vector<double>>& levels, BlackBoxOptions options)
      : options_(with_surrogate(std::move(options))),
        target_(std::move(graph), levels, options_.make_surrogate),
        random_(options_.seed, "black box"),
        grid_(target_, options_.without),
        means_(grid_.tables().begin(), grid_.tables().end()) {}

  std::vector<Assignment> ask(int n, const ShouldStop& should_stop);
  void tell(int factor, std::span<const int> states, double value);
  void tell_done(std::span<const int> x);
  void tell_whole(std::span<const int> x, std::optional<double> value);
  BlackBoxAnswer answer(const ShouldStop& should_stop);
  [[nodiscard]] std::int64_t num_told() const { return num_told_; }
  [[nodiscard]] const ProposerShares& shares() const { return grid_.shares(); }

 private:
  void learn(const ShouldStop& should_stop);
  void note(std::size_t place);
  [[nodiscard]] double spread_elsewhere(std::span<const double> log_weights);
  [[nodiscard]] std::int64_t num_first() const;

  BlackBoxOptions options_;
  LearnedTarget target_;
  Random random_;
  GridProposals grid_;
  std::vector<double> means_;
  std::unordered_map<std::size_t, int> under_way_;  // place, proposer
  std::unordered_map<std::size_t, double> known_;   // place, log density
  std::vector<double> prediction_errors_;
  std::int64_t num_told_ = 0, next_plan_ = 0, next_fit_ = 0;
  bool has_plan_ = false;
};

std::int64_t BlackBox::Impl::num_first() const {
  std::int64_t num_effects = 0;
  for (const int k : target_.domain().num_states) num_effects += k - 1;
  return std::clamp(num_effects, kFewestFirst, kMostFirst);
}

void BlackBox::Impl::learn(const ShouldStop& should_stop) {
  if (num_told_ == 0) return;
  if (num_told_ >= next_fit_) {
    target_.fit(should_stop);
    next_fit_ = num_told_ + std::max<std::int64_t>(4, num_told_ / kFitEvery);
  }
  means_.assign(grid_.tables().begin(), grid_.tables().end());
  target_.add_means(means_);
}

std::vector<Assignment> BlackBox::Impl::ask(int n, const ShouldStop& should_stop) {
  check_range("BlackBox::ask", "n", n, 0, 1'000'000);
  std::vector<Assignment> result;
  if (!has_plan_ || num_told_ >= next_plan_) {
    const bool has_guess = num_told_ >= num_first();
    if (has_guess) learn(should_stop);
    grid_.plan(means_, has_guess, random_);
    has_plan_ = true;
    next_plan_ =
        has_guess ? num_told_ + std::clamp<std::int64_t>(num_told_ / kPlanEvery, 1, kMostUnplanned) : num_first();
  }
  while (std::ssize(result) < n) {
    const auto proposal = grid_.next(random_);
    if (!proposal) break;
    under_way_[proposal->place] = proposal->proposer;
    result.push_back(grid_.at(proposal->place));
  }
  return result;
}

void BlackBox::Impl::tell(int factor, std::span<const int> states, double value) {
  target_.tell(factor, states, value);
}

void BlackBox::Impl::tell_done(std::span<const int> x) {
  target_.domain().check(x);
  ++num_told_;
  note(grid_.place_of(x));
}

void BlackBox::Impl::tell_whole(std::span<const int> x, std::optional<double> value) {
  const std::vector<int> functions = target_.functions();
  check_argument(functions.size() == 1, "BlackBox::tell", "the model has several functions: tell the value of each");
  target_.domain().check(x);
  std::vector<int> states;
  for (const int v : target_.graph().factor(functions.front()).scope()) states.push_back(x[v]);
  if (value) {
    target_.tell(functions.front(), states, *value);
  } else {
    target_.tell_failed(functions.front(), states);
  }
  ++num_told_;
  note(grid_.place_of(x));
}

void BlackBox::Impl::note(std::size_t place) {
  const std::optional<double> density = target_.known(grid_.at(place));
  if (!density) return;
  known_[place] = *density;
  if (next_fit_ > 0 && grid_.tables()[place] != kNegInf) prediction_errors_.push_back(*density - means_[place]);
  const auto asked = under_way_.find(place);
  grid_.note(place, *density, asked == under_way_.end() ? -1 : asked->second);
  if (asked != under_way_.end()) under_way_.erase(asked);
}

BlackBoxAnswer BlackBox::Impl::answer(const ShouldStop& should_stop) {
  BlackBoxAnswer answer;
  next_fit_ = 0;
  learn(should_stop);
  std::vector<double> log_weights = means_;
  std::vector<double> known;
  for (const auto& [place, log_density] : known_) {
    log_weights[place] = log_density;
    known.push_back(log_density);
    if (log_density != kNegInf && (!answer.best || log_density > answer.best->log_density)) {
      answer.best = Configuration{grid_.at(place), log_density};
    }
  }
  answer.log_known = log_sum_exp(known);
  answer.prediction_errors = prediction_errors_;
  answer.log_spread = spread_elsewhere(log_weights);
  answer.is_exact = true;
  for (std::size_t i = 0; i < grid_.size() && answer.is_exact; ++i) {
    answer.is_exact = grid_.tables()[i] == kNegInf || known_.contains(i);
  }
  auto approximation = std::make_shared<GridApproximation>(target_.domain().num_states, std::move(log_weights));
  answer.log_z = approximation->log_value();
  answer.marginals = approximation->marginals();
  answer.approximation = std::move(approximation);
  return answer;
}

// The standard deviation of the guesses, by mass. Guesses err together, so that it is that of their sum as well.
double BlackBox::Impl::spread_elsewhere(std::span<const double> log_weights) {
  constexpr int kDraws = 512;
  std::vector<double> sums;
  double top = kNegInf, sum = 0.0;
  for (std::size_t i = 0; i < log_weights.size(); ++i) {
    if (!known_.contains(i)) top = std::max(top, log_weights[i]);
  }
  if (top == kNegInf) return 0.0;
  for (std::size_t i = 0; i < log_weights.size(); ++i) {
    if (!known_.contains(i)) sum += std::exp(log_weights[i] - top);
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
void BlackBox::tell(std::span<const int> x, double value) { impl_->tell_whole(x, value); }
void BlackBox::tell_function(int factor, std::span<const int> states, double value) {
  impl_->tell(factor, states, value);
}
void BlackBox::tell_done(std::span<const int> x) { impl_->tell_done(x); }
void BlackBox::tell_failed(std::span<const int> x) { impl_->tell_whole(x, std::nullopt); }
BlackBoxAnswer BlackBox::answer(const ShouldStop& should_stop) { return impl_->answer(should_stop); }
std::int64_t BlackBox::num_told() const { return impl_->num_told(); }
std::vector<std::pair<std::string, std::int64_t>> BlackBox::proposers() const {
  std::vector<std::pair<std::string, std::int64_t>> result;
  for (int i = 0; i < impl_->shares().size(); ++i)
    result.emplace_back(impl_->shares().name(i), impl_->shares().count(i));
  return result;
}

}  // namespace treesample
