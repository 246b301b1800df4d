// The best configuration by few calls.
//
//   improvement  the largest expected improvement, E max(0, value - best), found by ascents that change one variable
//                at a time: from configurations near the best ones, and from any
//   draws        the largest value of a function drawn from what is believed, by ascents that begin in the same places
//   neighbours   of the five best ones: one or two variables differ
//   uniform      any
//
// In an ascent the means of all neighbours are computed together (Surrogate::predict_neighbours), and the standard
// deviations, which cost more, of those with the largest means alone. Several configurations that are asked for at the
// same time are different ends of ascents, each counted less the closer it is to the ones that are under way.
#include <algorithm>
#include <cmath>
#include <map>

#include "blackbox/box_search.hpp"
#include "blackbox/expected_improvement.hpp"
#include "space/asked_sum.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr std::int64_t kFewestFirstForBest = 10, kMostFirstForBest = 20;
constexpr std::int64_t kFitBestEvery = 8;   // a new fit when there are an eighth more values
constexpr int kMostSteps = 60;              // of an ascent
constexpr std::size_t kBestNeighbours = 5;  // whose standard deviations are computed in a step
constexpr int kStartsEach = 4;              // ascents for each configuration that is asked for
constexpr std::size_t kBestKept = 10;
constexpr double kMostSpray = 3e4;        // values times candidates for starts
constexpr double kSameDirection = 0.3;    // share of the variables in which two are still close
constexpr double kSmallDomain = 1 << 20;  // may be looked through
constexpr double kSuccess = 0.1;          // of all values

class BestSearch final : public BoxSearch {
 public:
  BestSearch(LearnedTarget& target, const BlackBoxOptions& options)
      : target_(target), options_(options), random_(options.seed, "black box") {
    const auto add = [&](Way way, const char* name, double first, double least) {
      if (std::find(options.without.begin(), options.without.end(), name) != options.without.end()) return;
      ways_.push_back(way);
      shares_.add(name, first, least);
    };
    add(kImprovement, "improvement", 0.3, 0.2);
    add(kDraws, "draws", 0.6, 0.1);
    add(kNeighbours, "neighbours", 0.1, 0.01);
    add(kUniform, "uniform", 0.0, 0.02);
  }

  std::vector<Assignment> ask(int n, const ShouldStop& should_stop) override;
  std::vector<Assignment> ask_check(int n, const ShouldStop& should_stop) override {
    static_cast<void>(n);
    static_cast<void>(should_stop);
    return {};  // there is no distribution to check
  }
  void settle(std::span<const int> x) override;
  void note_noise() override { next_fit_ = 0; }
  BlackBoxAnswer answer(const ShouldStop& should_stop) override;
  [[nodiscard]] const ProposerShares& shares() const override { return shares_; }

 private:
  enum Way { kImprovement, kDraws, kNeighbours, kUniform };
  struct End {
    Assignment x;
    double gain = 0.0;
  };
  [[nodiscard]] int width() const { return target_.domain().width(); }
  [[nodiscard]] bool is_new(const Assignment& x) const { return !known_.contains(x) && !under_way_.contains(x); }
  [[nodiscard]] Assignment any();
  [[nodiscard]] Assignment mutated(Assignment x, int most);
  [[nodiscard]] std::optional<Assignment> possible_new(Way way);
  [[nodiscard]] std::optional<Assignment> left_over() const;
  void advance(Assignment& x) const;
  void settle_implied();
  void learn(const ShouldStop& should_stop);
  [[nodiscard]] std::vector<Assignment> starts(std::size_t count);
  void ascend(Assignment x, std::vector<End>& ends);
  [[nodiscard]] std::optional<Assignment> best_end(const ShouldStop& should_stop);
  [[nodiscard]] std::optional<Assignment> best_of_draw(const ShouldStop& should_stop);
  void climb(const DrawnFunction& drawn, Assignment x, Configuration& best) const;
  [[nodiscard]] double crowded(const Assignment& x) const;
  [[nodiscard]] std::vector<Prediction> predict(const std::vector<Assignment>& all) const;

  LearnedTarget& target_;
  const BlackBoxOptions& options_;
  Random random_;
  ProposerShares shares_;
  std::vector<int> ways_;
  std::map<Assignment, double> known_;
  std::map<Assignment, int> under_way_;
  std::vector<Configuration> best_;  // by their values, the best ones first
  std::vector<double> values_;       // sorted
  std::vector<End> ends_;            // of the last ascents
  double incumbent_ = kNegInf;
  std::int64_t next_fit_ = 0, num_at_ends_ = -1;
};

Assignment BestSearch::any() {
  Assignment x;
  for (const int k : target_.domain().num_states) x.push_back(static_cast<int>(random_.below(k)));
  return x;
}

Assignment BestSearch::mutated(Assignment x, int most) {
  const int count = 1 + static_cast<int>(random_.below(static_cast<std::uint64_t>(most)));
  for (int i = 0; i < count; ++i) {
    const auto v = random_.below(x.size());
    x[v] = static_cast<int>(random_.below(target_.domain().num_states[v]));
  }
  return x;
}

// One that the tables allow.
std::optional<Assignment> BestSearch::possible_new(Way way) {
  constexpr int kTries = 200;
  for (int i = 0; i < kTries; ++i) {
    Assignment x = way == kUniform || best_.empty()
                       ? any()
                       : mutated(best_[random_.below(std::min<std::size_t>(5, best_.size()))].x, 2);
    if (is_new(x) && target_.tables_alone(x) != kNegInf) return x;
  }
  return {};
}

// Where nearly everything was asked: the first one that was not.
// To the next configuration, the last variable fastest.
void BestSearch::advance(Assignment& x) const {
  for (auto v = x.size(); v-- > 0;) {
    if (++x[v] < target_.domain().num_states[v]) break;
    x[v] = 0;
  }
}

std::optional<Assignment> BestSearch::left_over() const {
  if (target_.domain().num_configurations() > kSmallDomain) return {};
  Assignment x(static_cast<std::size_t>(width()), 0);
  for (double i = 0; i < target_.domain().num_configurations(); ++i) {
    if (is_new(x) && !target_.known(x)) return x;
    advance(x);
  }
  return {};
}

void BestSearch::learn(const ShouldStop& should_stop) {
  if (target_.num_told() < next_fit_) return;
  target_.fit(should_stop);
  next_fit_ = target_.num_told() + std::max<std::int64_t>(4, target_.num_told() / kFitBestEvery);
}

std::vector<Prediction> BestSearch::predict(const std::vector<Assignment>& all) const {
  std::vector<int> rows;
  for (const Assignment& x : all) rows.insert(rows.end(), x.begin(), x.end());
  std::vector<Prediction> predicted(all.size());
  target_.predict(rows, predicted);
  return predicted;
}

// The most promising of configurations near the best ones and elsewhere.
std::vector<Assignment> BestSearch::starts(std::size_t count) {
  const double most = kMostSpray / static_cast<double>(target_.num_told() + 1);
  const auto size = std::max(static_cast<std::size_t>(std::clamp(most, 20.0, 150.0)), 2 * count);
  std::vector<Assignment> sprayed;
  for (std::size_t i = 0; i < size; ++i) {
    const bool is_any = best_.empty() || i % 4 == 3;
    sprayed.push_back(is_any ? any() : mutated(best_[random_.below(best_.size())].x, 5));
  }
  const std::vector<Prediction> predicted = predict(sprayed);
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < size; ++i) order.emplace_back(-expected_improvement(predicted[i], incumbent_), i);
  std::sort(order.begin(), order.end());
  std::vector<Assignment> result;
  if (!best_.empty()) result.push_back(best_.front().x);
  for (std::size_t i = 0; result.size() < count; ++i) result.push_back(sprayed[order[i].second]);
  return result;
}

void BestSearch::ascend(Assignment x, std::vector<End>& ends) {
  const std::vector<int>& num_states = target_.domain().num_states;
  std::size_t count = 0;
  for (const int k : num_states) count += static_cast<std::size_t>(k);
  std::vector<double> means(count);
  // What was told gains nothing: from there to the best of its neighbours.
  double gain = is_new(x) ? expected_improvement(predict({x}).front(), incumbent_) : -1.0;
  for (int step = 0; step < kMostSteps; ++step) {
    target_.predict_neighbours(x, means);
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < count; ++i) order.emplace_back(-means[i], i);
    std::sort(order.begin(), order.end());
    std::vector<Assignment> close;
    for (std::size_t k = 0; k < count && close.size() < kBestNeighbours; ++k) {
      std::size_t v = 0, a = order[k].second;
      while (a >= static_cast<std::size_t>(num_states[v])) a -= static_cast<std::size_t>(num_states[v++]);
      if (x[v] == static_cast<int>(a) || order[k].first == HUGE_VAL) continue;
      Assignment other = x;
      other[v] = static_cast<int>(a);
      if (is_new(other)) close.push_back(std::move(other));
    }
    if (close.empty()) break;
    const std::vector<Prediction> predicted = predict(close);
    double most = -2.0;
    std::size_t best = 0;
    for (std::size_t i = 0; i < close.size(); ++i) {
      const double own = expected_improvement(predicted[i], incumbent_);
      if (own > most) best = i;
      most = std::max(most, own);
    }
    if (most <= gain * (1.0 + 1e-9)) break;
    x = close[best];
    gain = most;
  }
  if (gain >= 0.0 && is_new(x)) ends.push_back({std::move(x), gain});
}

// How much less a configuration counts that is close to others under way.
double BestSearch::crowded(const Assignment& x) const {
  double factor = 1.0;
  for (const auto& [other, proposer] : under_way_) {
    int differ = 0;
    for (std::size_t v = 0; v < x.size(); ++v) differ += x[v] != other[v] ? 1 : 0;
    factor *= 1.0 - std::exp(-static_cast<double>(differ) / (kSameDirection * width()));
  }
  return factor;
}

std::optional<Assignment> BestSearch::best_end(const ShouldStop& should_stop) {
  learn(should_stop);
  incumbent_ = best_.empty() ? 0.0 : best_.front().log_density;
  if (target_.noise().is_there && !best_.empty()) {
    // The best value may be luck: the best mean of the best ones.
    std::vector<Assignment> all;
    for (const Configuration& one : best_) all.push_back(one.x);
    incumbent_ = kNegInf;
    for (const Prediction& one : predict(all)) incumbent_ = std::max(incumbent_, one.mean);
  }
  // Ascents are made again after each value; for further ones at the same time a few more are enough.
  if (num_at_ends_ != target_.num_told()) ends_.clear();
  const std::size_t count = ends_.size() < 2 || under_way_.size() % 8 == 0 ? kStartsEach : 1;
  num_at_ends_ = target_.num_told();
  for (Assignment& x : starts(count)) ascend(std::move(x), ends_);
  const End* best = nullptr;
  double most = -1.0;
  for (const End& end : ends_) {
    if (!is_new(end.x) || target_.tables_alone(end.x) == kNegInf) continue;
    const double gain = end.gain * crowded(end.x);
    if (best == nullptr || gain > most) best = &end;
    most = std::max(most, gain);
  }
  if (best == nullptr) return {};
  return best->x;
}

// From a start, the best neighbour as long as it is better. Of what is new and was seen on the way, the best one.
void BestSearch::climb(const DrawnFunction& drawn, Assignment x, Configuration& best) const {
  const std::vector<int>& num_states = target_.domain().num_states;
  std::size_t count = 0;
  for (const int k : num_states) count += static_cast<std::size_t>(k);
  std::vector<double> values(count);
  double here = kNegInf;
  for (int step = 0; step < kMostSteps; ++step) {
    drawn.neighbours(x, values);
    if (step == 0) {
      here = values[static_cast<std::size_t>(x[0])];
      if (is_new(x) && here > best.log_density) best = {x, here};
    }
    double most = here;
    std::size_t at = 0, to_v = 0;
    int to = -1;
    for (std::size_t v = 0; v < x.size(); ++v) {
      const int own = x[v];
      for (int a = 0; a < num_states[v]; ++a, ++at) {
        if (a == own) continue;
        if (values[at] > most) {
          most = values[at];
          to_v = v;
          to = a;
        }
        if (!(values[at] > best.log_density)) continue;
        x[v] = a;
        if (is_new(x)) best = {x, values[at]};
        x[v] = own;
      }
    }
    if (to < 0) return;
    x[to_v] = to;
    here = most;
  }
}

std::optional<Assignment> BestSearch::best_of_draw(const ShouldStop& should_stop) {
  learn(should_stop);
  const std::unique_ptr<DrawnFunction> drawn = target_.draw(random_);
  Configuration best{{}, kNegInf};
  for (int i = 0; i < kStartsEach; ++i) {
    Assignment start = any();
    if (i == 0 && !best_.empty()) start = best_.front().x;
    if (i == 1 && !best_.empty()) start = best_[random_.below(best_.size())].x;
    if (i == 2 && !best_.empty()) start = mutated(best_[random_.below(best_.size())].x, 5);
    climb(*drawn, std::move(start), best);
  }
  if (best.x.empty()) return {};
  return std::move(best.x);
}

std::vector<Assignment> BestSearch::ask(int n, const ShouldStop& should_stop) {
  std::vector<Assignment> result;
  std::int64_t num_effects = 0;
  for (const int k : target_.domain().num_states) num_effects += k - 1;
  const bool has_guess = target_.num_told() >= std::clamp(num_effects / 2, kFewestFirstForBest, kMostFirstForBest);
  while (std::ssize(result) < n && !(should_stop && should_stop())) {
    const int proposer = has_guess ? shares_.pick(random_) : -1;
    const int way = has_guess ? ways_[static_cast<std::size_t>(proposer)] : kUniform;
    std::optional<Assignment> x = way == kImprovement ? best_end(should_stop)
                                  : way == kDraws     ? best_of_draw(should_stop)
                                                      : possible_new(static_cast<Way>(way));
    if (!x) x = possible_new(kNeighbours);
    if (!x) x = possible_new(kUniform);
    if (!x) x = left_over();
    if (!x) break;
    if (proposer >= 0) shares_.note_proposed(proposer);
    under_way_[*x] = proposer;
    result.push_back(*std::move(x));
  }
  return result;
}

void BestSearch::settle(std::span<const int> x) {
  const Assignment own(x.begin(), x.end());
  const std::optional<double> density = target_.known(x);
  if (!density) return;
  const auto asked = under_way_.find(own);
  const bool is_first = !known_.contains(own);
  known_[own] = *density;
  if (is_first) {
    const auto place = std::lower_bound(values_.begin(), values_.end(), *density);
    const auto num_better = static_cast<double>(values_.end() - place);
    if (asked != under_way_.end() && asked->second >= 0) {
      shares_.note_gain(asked->second, num_better <= kSuccess * static_cast<double>(values_.size()) ? 1.0 : 0.0);
    }
    values_.insert(place, *density);
  }
  if (asked != under_way_.end()) under_way_.erase(asked);
  std::erase_if(best_, [&](const Configuration& other) { return other.x == own; });
  if (*density == kNegInf) return;
  best_.insert(std::find_if(best_.begin(), best_.end(),
                            [&](const Configuration& other) { return other.log_density < *density; }),
               {own, *density});
  if (best_.size() > kBestKept) best_.pop_back();
}

// A value of a function of few variables is that of many configurations, which nobody asked for.
void BestSearch::settle_implied() {
  Assignment x(static_cast<std::size_t>(width()), 0);
  for (double i = 0; i < target_.domain().num_configurations(); ++i) {
    if (!known_.contains(x)) settle(x);
    advance(x);
  }
}

BlackBoxAnswer BestSearch::answer(const ShouldStop& should_stop) {
  BlackBoxAnswer answer;
  answer.log_z = answer.log_known = kNegInf;  // nothing is said of the other configurations
  AskedSum bounds;
  const bool is_noisy = target_.noise().is_there;
  answer.is_exact =
      !is_noisy && target_.domain().num_configurations() <= kSmallDomain && under_way_.empty() && !left_over();
  if (answer.is_exact) settle_implied();
  std::vector<double> known;
  for (const auto& [x, density] : known_) {
    known.push_back(density);
    if (!is_noisy && density != kNegInf) bounds.add(density, target_.rounding(x));
  }
  answer.log_known = log_sum_exp(known);
  if (answer.is_exact) {
    answer.log_upper = best_.empty() ? kNegInf : bounds.bounds().upper;
    answer.log_z = answer.log_known;
  }
  if (best_.empty()) return answer;
  if (!is_noisy) answer.log_lower = bounds.bounds().lower;
  answer.best = best_.front();
  answer.best_error = target_.rounding(answer.best->x);
  if (!is_noisy) return answer;
  next_fit_ = 0;
  learn(should_stop);
  std::vector<Assignment> all;
  for (const Configuration& one : best_) all.push_back(one.x);
  const std::vector<Prediction> predicted = predict(all);
  answer.best->log_density = kNegInf;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (predicted[i].mean > answer.best->log_density) answer.best = Configuration{all[i], predicted[i].mean};
  }
  return answer;
}

}  // namespace

std::unique_ptr<BoxSearch> make_best_search(LearnedTarget& target, const BlackBoxOptions& options) {
  return std::make_unique<BestSearch>(target, options);
}

}  // namespace treesample
