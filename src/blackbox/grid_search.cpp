#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "blackbox/box_search.hpp"
#include "blackbox/error_check.hpp"
#include "blackbox/grid_proposals.hpp"
#include "blackbox/overshoot.hpp"
#include "space/asked_sum.hpp"
#include "treesample/blackbox/grid_approximation.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr std::int64_t kFewestFirst = 16, kMostFirst = 40;
constexpr std::int64_t kPlanEvery = 14, kMostUnplanned = 96;  // a new plan when there are a 14th more values
constexpr std::int64_t kFitEvery = 5;                         // a new fit when there are a fifth more

class GridSearch final : public BoxSearch {
 public:
  GridSearch(LearnedTarget& target, const BlackBoxOptions& options)
      : target_(target),
        options_(options),
        random_(options.seed, "black box"),
        random_check_(options.seed, "errors"),
        grid_(target, options.without),
        densities_(grid_.tables().begin(), grid_.tables().end()),
        is_known_(grid_.size(), 0) {
    if (is_noisy() && options_.can_repeat) grid_.set_noisy();
  }

  std::vector<Assignment> ask(int n, const ShouldStop& should_stop) override;
  std::vector<Assignment> ask_check(int n, const ShouldStop& should_stop) override;
  void settle(std::span<const int> x) override;
  void note_noise() override {
    if (options_.can_repeat) grid_.set_noisy();
    next_fit_ = next_plan_ = 0;
  }
  BlackBoxAnswer answer(const ShouldStop& should_stop) override;
  [[nodiscard]] const ProposerShares& shares() const override { return grid_.shares(); }

 private:
  void learn(const ShouldStop& should_stop);
  void learn_for_answer(const ShouldStop& should_stop);
  void start_check(const ShouldStop& should_stop);
  [[nodiscard]] double noise_sd() const { return target_.noise_sd(); }
  [[nodiscard]] bool is_noisy() const { return target_.noise().is_there; }
  [[nodiscard]] double spread_elsewhere();
  [[nodiscard]] std::int64_t num_told() const { return target_.num_told(); }
  [[nodiscard]] std::int64_t num_first() const;

  LearnedTarget& target_;
  const BlackBoxOptions& options_;
  Random random_, random_check_;
  GridProposals grid_;
  std::vector<double> densities_;                   // of the whole domain, when it was learned last
  std::vector<unsigned char> is_known_;             // which of them are true
  std::unordered_map<std::size_t, int> under_way_;  // place, proposer
  std::vector<Foreseen> foreseen_;                  // values that were told after the first fit, and their guesses
  std::int64_t next_plan_ = 0, next_fit_ = 0;
  Overshoot overshoot_;
  bool has_plan_ = false, is_checking_ = false;
  std::unique_ptr<ErrorCheck> check_;
};

std::int64_t GridSearch::num_first() const {
  std::int64_t num_effects = 0;
  for (const int k : target_.domain().num_states) num_effects += k - 1;
  return std::clamp(num_effects, kFewestFirst, kMostFirst);
}

void GridSearch::learn(const ShouldStop& should_stop) {
  if (num_told() == 0) return;
  if (num_told() >= next_fit_) {
    target_.fit(should_stop);
    next_fit_ = num_told() + std::max<std::int64_t>(4, num_told() / kFitEvery);
  }
  densities_.assign(grid_.tables().begin(), grid_.tables().end());
  target_.add_all(densities_, is_known_);
}

// Proposals follow guesses wherever they lead; an answer believes them as far as they were kept.
void GridSearch::learn_for_answer(const ShouldStop& should_stop) {
  next_fit_ = 0;
  learn(should_stop);
  if (is_noisy() || !grid_.has_possible()) return;
  for (std::size_t i = 0; i < densities_.size(); ++i) {
    if (is_known_[i] == 0) densities_[i] = overshoot_.believed(densities_[i], grid_.best());
  }
}

std::vector<Assignment> GridSearch::ask(int n, const ShouldStop& should_stop) {
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
  while (std::ssize(result) < n) {
    const auto proposal = grid_.next(random_);
    if (!proposal) break;
    under_way_[proposal->place] = proposal->proposer;
    result.push_back(grid_.at(proposal->place));
  }
  return result;
}

void GridSearch::start_check(const ShouldStop& should_stop) {
  learn_for_answer(should_stop);
  const GridApproximation now(target_.domain().num_states, densities_);
  std::vector<unsigned char> is_open(grid_.size());
  std::vector<double> known;
  for (std::size_t i = 0; i < is_open.size(); ++i) {
    is_open[i] = is_known_[i] == 0 ? 1 : 0;
    if (is_open[i] == 0) known.push_back(densities_[i]);
  }
  ErrorSettings settings{options_.confidence, spread_elsewhere(), target_.recently_foreseen(foreseen_)};
  settings.no_error = target_.why_no_error();
  check_ = std::make_unique<ErrorCheck>(now, log_sum_exp(known), is_open, std::move(settings));
  is_checking_ = true;
}

std::vector<Assignment> GridSearch::ask_check(int n, const ShouldStop& should_stop) {
  std::vector<Assignment> result;
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

// A configuration may be known now. What it brought, the proposer learns.
void GridSearch::settle(std::span<const int> x) {
  const std::size_t place = grid_.place_of(x);
  const std::optional<double> density = target_.known(x);
  if (!density) return;
  const auto asked = under_way_.find(place);
  if (is_known_[place] == 0) {
    if (next_fit_ > 0 && grid_.tables()[place] != kNegInf) {
      foreseen_.push_back({densities_[place], *density});
      if (!is_checking_ && grid_.has_possible()) overshoot_.note(densities_[place], *density, grid_.best());
    }
    grid_.note(place, *density, asked == under_way_.end() ? -1 : asked->second);
  } else {
    grid_.note_again(place, *density);
  }
  is_known_[place] = 1;
  if (!is_noisy() || *density == kNegInf) densities_[place] = *density;
  if (asked != under_way_.end()) under_way_.erase(asked);
}

BlackBoxAnswer GridSearch::answer(const ShouldStop& should_stop) {
  BlackBoxAnswer answer;
  learn_for_answer(should_stop);
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
  if (answer.best) answer.best_error = target_.rounding(answer.best->x);
  if (!is_noisy() && answer.best) answer.log_lower = bounds.bounds().lower;
  answer.log_spread = spread_elsewhere();
  answer.is_exact = !is_noisy() && known.size() == grid_.size();
  if (answer.is_exact) answer.log_upper = answer.best ? bounds.bounds().upper : kNegInf;
  auto approximation = std::make_shared<GridApproximation>(target_.domain().num_states, densities_);
  answer.log_z = approximation->log_value();
  answer.marginals = approximation->marginals();
  answer.approximation = std::move(approximation);
  if (!check_) return answer;
  const auto density = [&](std::size_t place) { return target_.known(grid_.at(place)); };
  answer.errors = check_->errors(density, [&](std::size_t place) { return grid_.at(place); });
  return answer;
}

// The standard deviation of the guesses, by mass. Guesses err together, so that it is that of their sum as well.
double GridSearch::spread_elsewhere() {
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

}  // namespace

std::unique_ptr<BoxSearch> make_grid_search(LearnedTarget& target, const BlackBoxOptions& options) {
  return std::make_unique<GridSearch>(target, options);
}

}  // namespace treesample
