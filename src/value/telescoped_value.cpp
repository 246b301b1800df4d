#include "treesample/value/telescoped_value.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/value/corrected_value.hpp"
#include "value/weighed_samples.hpp"

namespace treesample {
namespace {

// Shifts one row so that its log sum exp is `value`; an impossible row stays impossible.
void move_to(std::span<double> q, double value) {
  const double now = log_sum_exp(q);
  for (double& entry : q) entry = now == kNegInf || value == kNegInf ? kNegInf : entry - now + value;
}

double root_value_of(const LeafValue& value, const SearchSpace& space) {
  const Assignment nothing(space.levels.size(), -1);
  std::vector<double> q(static_cast<std::size_t>(space.levels[0].num_states));
  value.q_values(0, nothing, 1, q);
  return log_sum_exp(q);
}

// An estimate of V(root) = log Z - KL(q' || P*) for the distribution q' of the possible samples: q' = q / s if q gives
// the impossible ones probability 1 - s. None if no sample is possible.
std::optional<double> value_of_samples(std::span<const double> log_weights) {
  double sum = 0.0;
  int count = 0;
  for (const double weight : log_weights) {
    if (weight == kNegInf) continue;
    sum += weight;
    ++count;
  }
  if (count == 0) return {};
  return sum / count + std::log(static_cast<double>(count) / static_cast<double>(log_weights.size()));
}

// The mean square, over samples and levels, of V(x_<n) as the search would have it minus the sum of R_m - log q(x_m |
// x_<m) over the levels m >= n. That sum is one sample of V^q(x_<n).
double squared_error(std::span<const WeighedSample> samples, const Calibration& calibration) {
  double sum = 0.0;
  std::size_t count = 0;
  for (const WeighedSample& sample : samples) {
    if (!sample.log_weight || *sample.log_weight == kNegInf) continue;
    double value = calibration.root_value;
    double below = *sample.log_weight;
    for (std::size_t n = 1; n < sample.values.size(); ++n) {
      const double step = sample.path.steps[n - 1].reward - sample.log_probs[n - 1];
      below -= step;
      value = calibration.value(value - step, sample.values[n]);
      sum += (value - below) * (value - below);
      ++count;
    }
  }
  return count > 0 ? sum / static_cast<double>(count) : 0.0;
}

// The trust that predicts the samples best; 0 if there are few samples.
double fitted_trust(std::span<const WeighedSample> samples, Calibration calibration) {
  constexpr std::size_t kFewSamples = 8;
  if (samples.size() < kFewSamples) return 0.0;
  double best = 0.0;
  double least = HUGE_VAL;
  for (const double trust : {0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0}) {
    calibration.trust = trust;
    const double error = squared_error(samples, calibration);
    if (error < least) best = trust;
    least = std::min(least, error);
  }
  return best;
}

// The weights of the samples that were paid for in full.
std::vector<double> weights_of(std::span<const WeighedSample> samples) {
  std::vector<double> weights;
  for (const WeighedSample& sample : samples) {
    if (sample.log_weight) weights.push_back(*sample.log_weight);
  }
  return weights;
}

std::shared_ptr<const LeafValue> corrected(const SearchSpace& space, std::shared_ptr<const LeafValue> of,
                                           std::span<const WeighedSample> samples) {
  std::vector<Innovations> rows;
  for (const WeighedSample& sample : samples) {
    if (sample.log_weight.value_or(kNegInf) != kNegInf) rows.push_back({sample.innovations, *sample.log_weight});
  }
  return std::make_shared<CorrectedValue>(space, std::move(of), fit_shifts(space, rows));
}

void hand_on(std::vector<WeighedSample>& samples, KnownPaths& known) {
  for (WeighedSample& sample : samples) known.push_back(std::move(sample.path));
}

}  // namespace

TelescopedValue::TelescopedValue(const SearchSpace& space, std::shared_ptr<const LeafValue> of,
                                 const Calibration& calibration)
    : LeafValue(space), of_(std::move(of)), calibration_(calibration) {
  check_argument(of_ != nullptr && of_->fits(space), "TelescopedValue", "the leaf value was made for another space");
  check_argument(space.kind == SpaceKind::kTree, "TelescopedValue",
                 "what an edge promises belongs to one path: use the space tree");
  check_argument(is_log_value(calibration.root_value), "TelescopedValue", "the value of the root is NaN or +inf");
  check_argument(calibration.trust >= 0.0 && calibration.trust <= 1.0 && std::isfinite(calibration.shift),
                 "TelescopedValue", "trust must lie between 0 and 1, and the shift be finite");
}

void TelescopedValue::q_values(int level, std::span<const int> prefixes, int count, std::span<double> q) const {
  of_->q_values(level, prefixes, count, q);
  if (level != 0) return;
  const auto num_states = static_cast<std::size_t>(space().levels[0].num_states);
  for (std::size_t r = 0; r < static_cast<std::size_t>(count); ++r) {
    move_to(q.subspan(r * num_states, num_states), calibration_.root_value);
  }
}

void TelescopedValue::q_values_given(int level, std::span<const int> prefix, double expected,
                                     std::span<double> q) const {
  of_->q_values(level, prefix, 1, q);
  move_to(q, calibration_.value(expected, calibration_.trust > 0.0 ? log_sum_exp(q) : 0.0));
}

double TelescopedValue::draw_below(int level, std::span<int> x, Random& random, StopCheck& stop) const {
  return of_->sample_below(level, x, random, &stop);
}

double TelescopedValue::log_prob_below(int level, std::span<const int> x) const {
  return of_->log_prob_below(level, x);
}

void TelescopedValue::probabilities(int level, std::span<const int> x, std::span<double> probs) const {
  of_->probabilities(level, x, probs);
}

double Calibration::value(double expected, double own) const {
  if (trust == 0.0 || expected == kNegInf || own == kNegInf) return expected;
  return expected + trust * (own + shift - expected);
}

void RootSamplesOptions::validate() const {
  check_range("RootSamplesOptions", "count", count, 0, 1 << 20);
  check_argument(share >= 0.0 && share <= 1.0, "RootSamplesOptions", "share must lie between 0 and 1");
  check_argument(correcting >= 0.0 && correcting <= 1.0, "RootSamplesOptions", "correcting must lie between 0 and 1");
}

Telescoped telescope(const FactorGraph& graph, const SearchSpace& space, std::shared_ptr<const LeafValue> of,
                     const Budget& budget, const RootSamplesOptions& options, std::uint64_t seed) {
  options.validate();
  check_space("telescope", graph, space);
  check_argument(of != nullptr && space.num_levels() > 0, "telescope", "there is no leaf value or no variable");
  Telescoped result;
  const auto known = std::make_shared<KnownPaths>();
  result.known = known;
  const double most = std::min(options.share * static_cast<double>(budget.limit()), 9e18);
  PaidRewards rewards(graph, space, Budget(static_cast<std::int64_t>(most), budget.unit()));
  Random random(seed, "root samples");
  const int num_correcting = static_cast<int>(std::lround(options.correcting * options.count));
  rewards.spend_up_to(options.correcting * most);
  std::vector<WeighedSample> samples = weighed_samples(space, *of, num_correcting, rewards, random);
  result.num_samples = static_cast<int>(weights_of(samples).size());
  if (!samples.empty()) of = corrected(space, std::move(of), samples);
  hand_on(samples, *known);
  rewards.spend_up_to(most);
  samples = weighed_samples(space, *of, options.count - num_correcting, rewards, random);
  result.spent = rewards.spent();
  const std::vector<double> weights = weights_of(samples);
  result.num_samples += static_cast<int>(weights.size());
  const std::optional<double> value = value_of_samples(weights);
  if (!weights.empty()) {
    const double log_mean = log_sum_exp(weights) - std::log(static_cast<double>(weights.size()));
    const bool are_possible = std::find(weights.begin(), weights.end(), kNegInf) == weights.end();
    result.sampled_kl = are_possible ? log_mean - *value : HUGE_VAL;
  }
  // If no sample was possible, the leaf value's own root value is as good as any.
  const double own = root_value_of(*of, space);
  Calibration calibration{.root_value = value.value_or(own), .shift = 0.0, .trust = 0.0};
  if (value && own != kNegInf) {
    calibration.shift = *value - own;
    calibration.trust = fitted_trust(samples, calibration);
  }
  hand_on(samples, *known);
  result.calibration = calibration;
  result.value = std::make_shared<TelescopedValue>(space, std::move(of), calibration);
  return result;
}

}  // namespace treesample
