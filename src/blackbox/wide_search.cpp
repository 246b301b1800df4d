// A distribution over a domain that cannot be enumerated.
//
//   likely       of what was found where the guess is large (blackbox/surrogate_pool.hpp), drawn without replacement
//                from exp(mean + sd)
//   drawn        from P_X outside what was told (blackbox/wide_belief.hpp)
//   flat         from the square root of the part of it that is a sum of tables
//   neighbours   of evaluated configurations, which are drawn by their mass: one variable differs
//   uniform      any that the tables of the model allow
#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "blackbox/box_search.hpp"
#include "blackbox/surrogate_pool.hpp"
#include "blackbox/wide_belief.hpp"
#include "space/asked_sum.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr std::int64_t kFewestFirstWide = 20, kMostFirstWide = 50;
constexpr std::int64_t kPlanWideEvery = 14, kMostUnplannedWide = 96;  // a new plan when there are a 14th more values
constexpr std::int64_t kFitWideEvery = 5;                             // a new fit when there are a fifth more
constexpr double kWideWalk = 0.7;                                     // neighbours: mass to this power
constexpr double kLeastLocal = 0.1;                                   // see pick()
constexpr int kMostTries = 100;
constexpr std::size_t kWideQueue = 256;
// Work for a plan and for an answer, in values times states; standard deviations take the square of the values.
constexpr double kPlanWork = 3e7, kAnswerWork = 3e8, kSpreadWork = 5e8;
constexpr int kPlanDraws = 200, kAnswerDraws = 1000;  // by which the tables of P_X are corrected
constexpr double kMostBranches = 8e6;                 // of P_X, which limits what is cut out of the tables

class WideSearch final : public BoxSearch {
 public:
  WideSearch(LearnedTarget& target, const BlackBoxOptions& options)
      : target_(target),
        options_(options),
        random_(options.seed, "black box"),
        random_check_(options.seed, "errors"),
        pool_(target, most_computed()),
        uniform_(eliminate_tables(tempered(target.tables(), 0.0), options.seed)) {
    const auto add = [&](Way way, const char* name, double first, double least) {
      if (std::find(options.without.begin(), options.without.end(), name) != options.without.end()) return;
      ways_.push_back(way);
      shares_.add(name, first, least);
    };
    add(kLikely, "likely", 0.3, 0.1);
    add(kDrawn, "drawn", 0.3, 0.1);
    add(kFlat, "flat", 0.2, 0.15);
    add(kNeighbours, "neighbours", 0.2, 0.02);
    add(kUniform, "uniform", 0.0, 0.06);
  }

  std::vector<Assignment> ask(int n, const ShouldStop& should_stop) override;
  std::vector<Assignment> ask_check(int n, const ShouldStop& should_stop) override;
  void settle(std::span<const int> x) override;
  void note_noise() override { next_fit_ = next_plan_ = 0; }
  BlackBoxAnswer answer(const ShouldStop& should_stop) override;
  [[nodiscard]] const ProposerShares& shares() const override { return shares_; }

 private:
  enum Way { kLikely, kDrawn, kFlat, kNeighbours, kUniform };
  [[nodiscard]] bool is_noisy() const { return target_.noise().is_there; }
  [[nodiscard]] std::int64_t num_told() const { return target_.num_told(); }
  [[nodiscard]] std::size_t most_computed() const;
  [[nodiscard]] int num_expansions(double work) const;
  [[nodiscard]] bool is_new(const Assignment& x) const { return !under_way_.contains(x) && !known_.contains(x); }
  void learn(const ShouldStop& should_stop);
  void plan(const ShouldStop& should_stop);
  [[nodiscard]] WideBelief believe(double work, std::size_t most, int num_draws, Random& random);
  void queue_likely();
  [[nodiscard]] int pick();
  [[nodiscard]] std::optional<Assignment> next(Way way);
  [[nodiscard]] std::optional<Assignment> neighbour();
  [[nodiscard]] std::optional<Assignment> left_over();
  [[nodiscard]] std::vector<Configuration> known() const;
  void start_check(const ShouldStop& should_stop);
  void add_errors(BlackBoxAnswer& answer) const;
  void add_known(BlackBoxAnswer& answer);
  [[nodiscard]] double elsewhere_guess(const Assignment& x) const;

  LearnedTarget& target_;
  const BlackBoxOptions& options_;
  Random random_, random_check_;
  SurrogatePool pool_;
  Elimination uniform_;
  std::optional<Elimination> flat_;
  std::optional<WideBelief> belief_;
  ProposerShares shares_;
  std::vector<Way> ways_;
  std::deque<Assignment> likely_;
  std::map<Assignment, double> known_;
  std::vector<Configuration> best_first_;  // of what is known, and possible
  std::map<Assignment, int> under_way_;    // by whom it was proposed
  std::vector<Foreseen> foreseen_;         // values that were told after the first plan, and their guesses
  std::int64_t next_plan_ = 0, next_fit_ = 0;
  bool has_guess_ = false;
  double share_found_ = 1.0, share_told_ = 1.0;  // of the mass of P_X; told: what was told as well
  struct Check {
    WideMixture mixture;
    double log_known = 0.0;
    Marginals marginals;
    ErrorSettings settings;
    std::vector<Assignment> drawn = {};
  };
  std::optional<Check> check_;
  bool is_checking_ = false;
};

std::size_t WideSearch::most_computed() const {
  double branches = 0.0;
  for (const int k : target_.domain().num_states) branches += k;
  return static_cast<std::size_t>(std::clamp(kMostBranches / branches, 500.0, 40'000.0));
}

int WideSearch::num_expansions(double work) const {
  double states = 0.0;
  for (const int k : target_.domain().num_states) states += k;
  const double each = states * static_cast<double>(std::clamp<std::int64_t>(num_told(), 50, 2500));
  return static_cast<int>(std::clamp(work / each, 10.0, work / 1e5));
}

std::vector<Configuration> WideSearch::known() const {
  std::vector<Configuration> result;
  for (const auto& [x, density] : known_) result.push_back({x, density});
  if (!is_noisy() || result.empty()) return result;
  std::vector<int> rows;
  for (const Configuration& one : result) rows.insert(rows.end(), one.x.begin(), one.x.end());
  std::vector<double> means(result.size());
  target_.believe(rows, means);
  for (std::size_t i = 0; i < result.size(); ++i) result[i].log_density = means[i];
  return result;
}

void WideSearch::learn(const ShouldStop& should_stop) {
  if (num_told() == 0 || num_told() < next_fit_) return;
  target_.fit(should_stop);
  next_fit_ = num_told() + std::max<std::int64_t>(4, num_told() / kFitWideEvery);
}

// Looks anew for where the mass is, beginning with the best that is known and with what was found before.
WideBelief WideSearch::believe(double work, std::size_t most, int num_draws, Random& random) {
  constexpr std::size_t kSeeds = 64;
  std::vector<Assignment> seeds;
  for (const Configuration& one : pool_.best_first(kSeeds)) seeds.push_back(one.x);
  for (std::size_t i = 0; i < std::min(kSeeds, best_first_.size()); ++i) seeds.push_back(best_first_[i].x);
  pool_.clear();
  pool_.add(seeds);
  pool_.expand(num_expansions(work), random);
  return {target_, known(), pool_, most, num_draws, options_.seed, random};
}

void WideSearch::plan(const ShouldStop& should_stop) {
  std::int64_t num_effects = 0;
  for (const int k : target_.domain().num_states) num_effects += k - 1;
  const std::int64_t num_first = std::clamp(num_effects, kFewestFirstWide, kMostFirstWide);
  has_guess_ = num_told() >= num_first;
  next_plan_ = has_guess_ ? num_told() + std::clamp<std::int64_t>(num_told() / kPlanWideEvery, 1, kMostUnplannedWide)
                          : num_first;
  if (!has_guess_) return;
  learn(should_stop);
  belief_.emplace(believe(kPlanWork, most_computed() / 8, kPlanDraws, random_));
  flat_.emplace(eliminate_tables(tempered(belief_->tables(), 0.5), options_.seed));
  const double found = log_mass(belief_->computed()), told = log_mass(belief_->known());
  const double all = log_add_exp(belief_->elsewhere()->log_value(), told);
  share_found_ = all == kNegInf ? 1.0 : std::exp(found - all);
  share_told_ = all == kNegInf ? 1.0 : std::exp(log_add_exp(found, told) - all);
  queue_likely();
}

// The largest of log weight + Gumbel noise are draws without replacement. What was told may be proposed again where
// values are noisy: what that is worth is by how much it lowers the standard deviation.
void WideSearch::queue_likely() {
  likely_.clear();
  const auto told = static_cast<double>(num_told() + 1);
  const auto most = static_cast<std::size_t>(std::clamp(kSpreadWork / (told * told), 64.0, 2048.0));
  const bool repeats = is_noisy() && options_.can_repeat;
  std::vector<Assignment> candidates;
  std::vector<int> rows;
  for (Configuration& one : pool_.best_first(most + known_.size())) {
    if (candidates.size() == most || under_way_.contains(one.x) || (!repeats && known_.contains(one.x))) continue;
    rows.insert(rows.end(), one.x.begin(), one.x.end());
    candidates.push_back(std::move(one.x));
  }
  std::vector<Prediction> predicted(candidates.size());
  target_.predict(rows, predicted);
  const double noise = target_.noise_sd();
  std::vector<std::pair<double, std::size_t>> keys;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    double score = predicted[i].mean + predicted[i].sd;
    if (repeats) score += std::log(1.0 - noise / std::hypot(predicted[i].sd, noise) + 1e-12);
    keys.emplace_back(score - std::log(-std::log(random_.uniform() + 1e-300) + 1e-300), i);
  }
  std::sort(keys.begin(), keys.end(), std::greater<>());
  for (std::size_t i = 0; i < std::min(kWideQueue, keys.size()); ++i) likely_.push_back(candidates[keys[i].second]);
}

std::optional<Assignment> WideSearch::neighbour() {
  if (best_first_.empty()) return {};
  constexpr std::size_t kMostFrom = 200;
  std::vector<double> weights;
  for (std::size_t i = 0; i < std::min(kMostFrom, best_first_.size()); ++i)
    weights.push_back(std::exp(kWideWalk * (best_first_[i].log_density - best_first_.front().log_density)));
  Assignment x = best_first_[static_cast<std::size_t>(random_.categorical(weights))].x;
  const auto v = random_.below(x.size());
  x[v] = static_cast<int>(random_.below(target_.domain().num_states[v]));
  return target_.tables_alone(x) == kNegInf ? std::nullopt : std::optional(std::move(x));
}

std::optional<Assignment> WideSearch::next(Way way) {
  for (int tries = 0; tries < kMostTries; ++tries) {
    std::optional<Assignment> x;
    if (way == kLikely) {
      if (likely_.empty()) return {};
      x = std::move(likely_.front());
      likely_.pop_front();
      if (!under_way_.contains(*x) && (is_noisy() || !known_.contains(*x))) return x;
      continue;
    }
    if (way == kDrawn && belief_ && belief_->elsewhere()->log_value() != kNegInf)
      x = belief_->elsewhere()->sample(random_);
    if (way == kFlat && flat_ && flat_->log_z() != kNegInf) x = flat_->sample(random_);
    if (way == kNeighbours) x = neighbour();
    if (way == kUniform && uniform_.log_z() != kNegInf) x = uniform_.sample(random_);
    if (x && is_new(*x)) return x;
  }
  return {};
}

// Where nearly everything that the tables allow was asked: one of the rest.
std::optional<Assignment> WideSearch::left_over() {
  std::vector<Configuration> closed;
  for (const auto& [x, density] : known_) closed.push_back({x, kNegInf});
  for (const auto& [x, proposer] : under_way_) {
    if (!known_.contains(x)) closed.push_back({x, kNegInf});
  }
  const LearnedApproximation rest(uniform_, tempered(target_.tables(), 0.0), std::move(closed));
  if (rest.log_value() == kNegInf) return {};
  return rest.sample(random_);
}

// What was found and what was told may be next to nothing of the mass, however large each single value is. Their shares
// are then for draws from all of P_X.
int WideSearch::pick() {
  if (!has_guess_) return -1;
  const int proposer = shares_.pick(random_);
  const Way way = ways_[static_cast<std::size_t>(proposer)];
  if (way != kLikely && way != kNeighbours) return proposer;
  if (random_.uniform() < std::max(kLeastLocal, way == kLikely ? share_found_ : share_told_)) return proposer;
  const auto other = std::find(ways_.begin(), ways_.end(), random_.below(2) == 0 ? kDrawn : kFlat);
  return other == ways_.end() ? proposer : static_cast<int>(other - ways_.begin());
}

std::vector<Assignment> WideSearch::ask(int n, const ShouldStop& should_stop) {
  is_checking_ = false;
  std::vector<Assignment> result;
  if (n > 0 && num_told() >= next_plan_) plan(should_stop);
  while (std::ssize(result) < n) {
    const int proposer = pick();
    std::optional<Assignment> x = next(proposer < 0 ? kUniform : ways_[static_cast<std::size_t>(proposer)]);
    if (!x) x = next(kUniform);
    if (!x) x = left_over();
    if (!x) break;
    if (proposer >= 0) shares_.note_proposed(proposer);
    under_way_[*x] = proposer;
    result.push_back(*std::move(x));
  }
  return result;
}

void WideSearch::settle(std::span<const int> x) {
  const std::optional<double> density = target_.known(x);
  if (!density) return;
  const Assignment own(x.begin(), x.end());
  const double top = best_first_.empty() ? *density : best_first_.front().log_density;
  const auto [place, is_first] = known_.insert_or_assign(own, *density);
  if (is_first && belief_ && *density != kNegInf) {
    const double guess = elsewhere_guess(own);
    if (guess != kNegInf) foreseen_.push_back({guess, *density});
  }
  if (const auto asked = under_way_.find(own); asked != under_way_.end()) {
    if (asked->second >= 0 && is_first)
      shares_.note_gain(asked->second, *density == kNegInf ? 0.0 : std::exp(std::min(0.0, *density - top)));
    under_way_.erase(asked);
  }
  std::erase_if(best_first_, [&](const Configuration& other) { return other.x == own; });
  if (*density == kNegInf) return;
  const auto after = std::find_if(best_first_.begin(), best_first_.end(),
                                  [&](const Configuration& other) { return other.log_density < *density; });
  best_first_.insert(after, {own, *density});
}

void WideSearch::start_check(const ShouldStop& should_stop) {
  next_fit_ = 0;
  learn(should_stop);
  const WideBelief belief = believe(kAnswerWork, most_computed(), kAnswerDraws, random_check_);
  const auto all = belief.all();
  ErrorSettings settings{options_.confidence, mean_sd(target_, *belief.elsewhere(), options_.seed),
                         target_.recently_foreseen(foreseen_)};
  settings.no_error = target_.why_no_error();
  check_.emplace(WideMixture(belief, target_.tables(), options_.seed), log_mass(belief.known()), all->marginals(),
                 std::move(settings));
  is_checking_ = true;
}

std::vector<Assignment> WideSearch::ask_check(int n, const ShouldStop& should_stop) {
  std::vector<Assignment> result;
  if (!is_checking_) start_check(should_stop);
  const auto most = static_cast<std::size_t>(4 * num_told());
  while (std::ssize(result) < n && check_->mixture.has_any() && check_->drawn.size() < most) {
    check_->drawn.push_back(check_->mixture.draw(random_check_));
    const Assignment& x = check_->drawn.back();
    if (!is_new(x)) continue;
    under_way_[x] = -1;
    result.push_back(x);
  }
  return result;
}

// What P_X of the last plan has at a configuration that was not known then; -inf where it has nothing.
double WideSearch::elsewhere_guess(const Assignment& x) const {
  const LearnedApproximation& elsewhere = *belief_->elsewhere();
  return elsewhere.log_value() == kNegInf ? kNegInf : elsewhere.log_prob(x) + elsewhere.log_value();
}

void WideSearch::add_known(BlackBoxAnswer& answer) {
  AskedSum bounds;
  std::vector<double> told;
  for (const auto& [x, density] : known_) {
    told.push_back(density);
    if (!is_noisy() && density != kNegInf) bounds.add(density, target_.rounding(x));
  }
  answer.log_known = log_sum_exp(told);
  answer.is_exact = !is_noisy() && under_way_.empty() && !left_over();
  if (answer.is_exact) answer.log_upper = best_first_.empty() ? kNegInf : bounds.bounds().upper;
  if (best_first_.empty()) return;
  answer.best = best_first_.front();
  answer.best_error = target_.rounding(answer.best->x);
  if (!is_noisy()) answer.log_lower = bounds.bounds().lower;
}

void WideSearch::add_errors(BlackBoxAnswer& answer) const {
  std::vector<TargetSample> samples;
  for (const Assignment& x : check_->drawn) {
    const auto density = known_.find(x);
    if (density == known_.end()) break;  // so that slow ones are not left out
    samples.push_back(check_->mixture.weigh(x));
    samples.back().log_target += density->second;
  }
  if (samples.empty()) return;
  answer.errors =
      difference_estimate(check_->log_known, check_->mixture.log_mass(), check_->marginals, samples, check_->settings);
}

BlackBoxAnswer WideSearch::answer(const ShouldStop& should_stop) {
  BlackBoxAnswer answer;
  next_fit_ = 0;
  learn(should_stop);
  add_known(answer);
  Random random(options_.seed, "answer");
  const WideBelief belief = believe(kAnswerWork, most_computed(), kAnswerDraws, random);
  answer.log_spread = answer.is_exact ? 0.0 : mean_sd(target_, *belief.elsewhere(), options_.seed);
  const auto all = belief.all();
  answer.log_z = all->log_value();
  answer.marginals = all->marginals();
  answer.approximation = all;
  if (check_) add_errors(answer);
  return answer;
}

}  // namespace

std::unique_ptr<BoxSearch> make_wide_search(LearnedTarget& target, const BlackBoxOptions& options) {
  return std::make_unique<WideSearch>(target, options);
}

}  // namespace treesample
