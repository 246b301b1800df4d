#include "surrogate/difference_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "treesample/evaluate/importance.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr double kMostLogRatio = 300.0;  // limit for masses whose squares are added up

// The quantile of the normal distribution (Abramowitz and Stegun 26.2.23, to 4.5e-4), and from it that of Student's by
// Cornish and Fisher's expansion in 1 / degrees.
double student_quantile(double confidence, double degrees) {
  const double t = std::sqrt(-2.0 * std::log((1.0 - confidence) / 2.0));
  const double z =
      t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  const double z3 = z * z * z, z5 = z3 * z * z;
  return z + (z3 + z) / (4.0 * degrees) + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * degrees * degrees);
}

// All are multiples of the same mass.
struct Masses {
  double whole = 0.0, z = 0.0;  // Z_X, and the estimate of Z
  double largest = 0.0;         // the largest difference that a sample may have
  double open = 0.0;            // possible error of the learned mass
};

// Marginals of the target: those of P_X with the differences of its samples.
void correct_marginals(const Marginals& marginals, const std::vector<TargetSample>& samples,
                       const std::vector<double>& differences, const Masses& masses, SampledErrors& result) {
  const auto count = static_cast<double>(samples.size());
  for (std::size_t v = 0; v < marginals.size(); ++v) {
    double worst = 0.0;
    for (std::size_t a = 0; a < marginals[v].size(); ++a) {
      double part = 0.0;
      for (std::size_t k = 0; k < samples.size(); ++k) {
        if (samples[k].x[v] == static_cast<int>(a)) part += differences[k];
      }
      const double p = std::clamp((masses.whole * marginals[v][a] + part / count) / masses.z, 0.0, 1.0);
      double deviation = 0.0;
      for (std::size_t k = 0; k < samples.size(); ++k) {
        const double d = (samples[k].x[v] == static_cast<int>(a) ? 1.0 - p : -p) * differences[k];
        deviation += d * d;
      }
      result.marginals[v][a] = p;
      worst = std::max(worst, std::hypot(std::sqrt(deviation / (count - 1.0) / count) + 0.5 * masses.largest / count,
                                         0.5 * masses.open) /
                                  masses.z);
    }
    double total = 0.0;
    for (const double p : result.marginals[v]) total += p;
    for (double& p : result.marginals[v]) p /= total;
    if (total == 0.0) result.marginals[v] = marginals[v];  // samples rule out every state, so they are worth nothing
    result.marginal_errors.push_back(worst);
  }
}

// The log of the true mass of the other configurations as a multiple of the learned one, as far as errors of
// predictions tell: their mean factor or, if that is larger, the mean factor of a normal distribution with their upward
// spread. If values scatter by several nats, most of Z may lie in a few configurations that were not evaluated; as long
// as samples meet none of them, all samples agree that there is nothing. Errors count by the square root of the mass
// that was predicted or found: many configurations deep below the best ones may be predicted badly and hardly matter.
double log_possible_excess(const std::vector<TargetSample>& samples, std::vector<Foreseen> foreseen) {
  int num_possible = 0;
  std::set<Assignment> seen;
  for (const TargetSample& sample : samples) {
    num_possible += sample.log_target == kNegInf ? 0 : 1;
    if (!seen.insert(sample.x).second) continue;
    foreseen.push_back({sample.log_learned + sample.log_q, sample.log_target + sample.log_q});
  }
  std::vector<double> log_weights, log_factors, log_squares;
  for (const auto& [predicted, found] : foreseen) {
    if (predicted == kNegInf && found == kNegInf) continue;
    const double error = found - predicted;
    log_weights.push_back(0.5 * std::max(predicted, found));
    log_factors.push_back(log_weights.back() + error);
    log_squares.push_back(error > 0.0 ? log_weights.back() + 2.0 * std::log(error) : kNegInf);
  }
  if (num_possible < kFewestEffectiveSamples || log_weights.empty()) return HUGE_VAL;
  const double log_weight = log_sum_exp(log_weights);
  return std::max(log_sum_exp(log_factors) - log_weight, std::exp(log_sum_exp(log_squares) - log_weight));
}

// Shares of Z, outside the evaluated configurations.
struct Shares {
  double sampled = 0.0;   // estimated by the samples
  double possible = 0.0;  // possible according to errors of predictions
};

// Empty if the errors mean something.
std::string why_no_error(const SampledErrors& result, const Shares& shares) {
  constexpr double kMoreThanSampled = 3.0;
  const auto count = static_cast<double>(result.num_samples);
  const double fewest = std::max(kFewestEffectiveSamples, kLeastEffectiveSamplesShare * count);
  if (result.std_error > kMostRelativeError) {
    return fmt::format("the relative standard error of Z is {:.2g}, too large to be meaningful", result.std_error);
  }
  if (result.ess < fewest && shares.sampled > kShareThatMatters) {
    return fmt::format("{:.1f} effective samples of {}, fewer than {:.0f}, have {:.3g} % of Z", result.ess,
                       result.num_samples, fewest, 100.0 * shares.sampled);
  }
  if (shares.possible > std::max(kMostRelativeError, kMoreThanSampled * shares.sampled)) {
    return fmt::format("values scatter so much that what no sample has met may be more than {:.2g} % of Z",
                       100.0 * kMostRelativeError);
  }
  return {};
}

}  // namespace

SampledErrors difference_estimate(double log_asked, double log_elsewhere, const Marginals& marginals,
                                  const std::vector<TargetSample>& samples, const ErrorSettings& settings) {
  SampledErrors result;
  result.confidence = settings.confidence;
  result.num_samples = std::ssize(samples);
  const double log_z_x = log_add_exp(log_asked, log_elsewhere);
  result.log_z = log_z_x;
  result.marginals = marginals;
  const auto count = static_cast<double>(samples.size());
  if (samples.size() < 2 || log_z_x == kNegInf) {
    result.no_error = "there are too few samples";
    result.std_error = HUGE_VAL;
    return result;
  }
  // All masses are multiples of Z_X, or of something larger if their squares would overflow.
  double log_unit = log_z_x;
  for (const TargetSample& sample : samples) {
    log_unit = std::max(log_unit, std::max(sample.log_target, sample.log_learned) - kMostLogRatio);
  }
  std::vector<double> targets, differences;
  for (const TargetSample& sample : samples) {
    targets.push_back(std::exp(sample.log_target - log_unit));
    differences.push_back(targets.back() - std::exp(sample.log_learned - log_unit));
  }
  const double whole = std::exp(log_z_x - log_unit);
  const auto sum_of = [](const std::vector<double>& values) {
    double sum = 0.0;
    for (const double value : values) sum += value;
    return sum;
  };
  const double mean = sum_of(differences) / count;
  double squares = 0.0;
  for (const double target : targets) squares += target * target;
  const double target_sum = sum_of(targets);
  result.ess = squares == 0.0 ? 0.0 : target_sum * target_sum / squares;
  const double asked_share = std::exp(log_asked - log_unit);
  // Z is at least the mass of evaluated configurations, whatever the differences add up to.
  const double z = std::max(whole + mean, std::max(asked_share, 1e-300));
  result.log_z = log_unit + std::log(z);
  double variance = 0.0;
  for (const double d : differences) variance += (d - mean) * (d - mean);
  variance /= count - 1.0;
  // There may be a part of Z that no sample has met. It is assumed to be met with probability 1 / count, and to be as
  // large as the largest difference or, if all samples agree with the learned model, as the whole mass that was not
  // evaluated.
  double largest = std::exp(log_elsewhere - log_unit);
  for (const double d : differences) largest = std::max(largest, std::abs(d));
  // Effective samples test what the surrogates think possible, one after the other.
  const double spread = std::min(1.0, settings.log_spread) / std::sqrt(1.0 + result.ess);
  const double open = spread * std::exp(log_elsewhere - log_unit);
  const double std_error = std::hypot(std::sqrt(variance / count) + largest / count, open);
  result.std_error = std_error / z;
  const double quantile = student_quantile(settings.confidence, count - 1.0), half = quantile * std_error;
  result.interval = {log_unit + std::log(std::max(z - half, asked_share)), log_unit + std::log(z + half)};
  if (asked_share == 0.0 && z - half <= 0.0) result.interval.lower = kNegInf;
  correct_marginals(marginals, samples, differences, {.whole = whole, .z = z, .largest = largest, .open = open},
                    result);
  constexpr double kMostLogShare = 50.0;
  const double log_excess = log_possible_excess(samples, settings.foreseen);
  const double log_possible = log_elsewhere == kNegInf ? kNegInf : log_elsewhere + log_excess - result.log_z;
  const Shares shares{target_sum / count / z, std::exp(std::min(log_possible, kMostLogShare))};
  // What there may be elsewhere belongs to the interval, even where no sample has met it.
  const double most = asked_share + shares.possible * z;
  result.interval.upper = std::max(result.interval.upper, log_unit + std::log(most));
  result.std_error = std::max(result.std_error, (most / z - 1.0) / quantile);
  result.no_error = why_no_error(result, shares);
  if (!settings.no_error.empty()) result.no_error = settings.no_error;
  if (!result.no_error.empty()) result.std_error = HUGE_VAL;
  return result;
}

}  // namespace treesample
