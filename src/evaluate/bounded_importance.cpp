#include "treesample/evaluate/bounded_importance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "evaluate/betting.hpp"
#include "evaluate/sample_draws.hpp"
#include "math/compensated_sum.hpp"
#include "space/run_watch.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// Sums of weights and of their squares, in total and per state of each variable, in units of the largest weight so far.
// A state counts by its indicator. With p(x_v | the other variables) instead, errors were 15 % smaller per sample on a
// pedigree model; but a sample took 1.5 times as long, so that at equal time errors were larger on two of three models.
class WeightSums {
 public:
  explicit WeightSums(const FactorGraph& graph) {
    for (int v = 0; v < graph.num_variables(); ++v) {
      first_.push_back(static_cast<int>(sums_.size()));
      sums_.resize(sums_.size() + graph.num_states(v));
    }
    first_.push_back(static_cast<int>(sums_.size()));
  }

  void add(double log_weight, std::span<const int> x) {
    if (log_weight == kNegInf) return;
    if (log_weight > log_unit_) rescale(log_weight);
    const double weight = std::exp(log_weight - log_unit_);
    total_.weights += weight;
    total_.squares += weight * weight;
    for (std::size_t v = 0; v < x.size(); ++v) {
      Sums& sums = sums_[first_[v] + x[v]];
      sums.weights += weight;
      sums.squares += weight * weight;
    }
  }

  // The following need a weight above 0.
  [[nodiscard]] bool is_empty() const { return total_.weights == 0.0; }
  [[nodiscard]] double log_sum() const { return log_unit_ + std::log(total_.weights); }
  [[nodiscard]] double ess() const { return total_.weights * total_.weights / total_.squares; }

  [[nodiscard]] Marginals marginals() const {
    Marginals result;
    for (std::size_t v = 0; v + 1 < first_.size(); ++v) {
      result.emplace_back();
      for (int i = first_[v]; i < first_[v + 1]; ++i) result.back().push_back(sums_[i].weights / total_.weights);
    }
    return result;
  }
  // By variable. The delta method for a ratio of sums: it adds w^2 (1 - p)^2 over the samples with the state and w^2
  // p^2 over the others. A state that never occurred may still have a probability of about 1 / ess, or `least`.
  [[nodiscard]] std::vector<double> largest_errors(double least) const {
    std::vector<double> errors(first_.size() - 1, std::max(1.0 / ess(), least));
    for (std::size_t v = 0; v < errors.size(); ++v) {
      for (int i = first_[v]; i < first_[v + 1]; ++i) {
        const double p = sums_[i].weights / total_.weights;
        const double delta =
            (sums_[i].squares * (1.0 - 2.0 * p) + p * p * total_.squares) / (total_.weights * total_.weights);
        errors[v] = std::max(errors[v], std::sqrt(std::max({delta, p * (1.0 - p) / ess(), 0.0})));
      }
    }
    return errors;
  }

 private:
  struct Sums {
    double weights = 0.0, squares = 0.0;
  };
  void rescale(double log_unit) {
    const double factor = std::exp(log_unit_ - log_unit);
    const auto scale = [factor](Sums& sums) {
      sums.weights *= factor;
      sums.squares *= factor * factor;
    };
    scale(total_);
    std::for_each(sums_.begin(), sums_.end(), scale);
    log_unit_ = log_unit;
  }

  std::vector<int> first_;
  std::vector<Sums> sums_;
  Sums total_;
  double log_unit_ = kNegInf;
};

// The rounding of the logarithm of a weight, not counting that of the density, which its sum knows. A probability is a
// product over the variables. Its logarithms come from bounds, whose magnitudes are at most that of all factors
// together plus that of the bound on log Z.
double probability_rounding(const FactorGraph& graph, double log_bound) {
  double magnitude = 0.0;
  for (const Factor& factor : graph.factors()) {
    if (!factor.is_table()) continue;
    double largest = 0.0;
    for (const double value : factor.log_values())
      largest = std::max(largest, value == kNegInf ? 0.0 : std::abs(value));
    magnitude += largest;
  }
  return 8.0 * kEpsilon * static_cast<double>(graph.num_variables()) * (magnitude + std::abs(log_bound));
}

// Limits of log Z from limits of the mean of z, moved outward by the rounding of the weights.
LogBounds log_limits(double log_bound, const MeanLimits& mean, double rounding) {
  const LogBounds limits{mean.lower > 0.0 ? log_bound + std::log(mean.lower) : kNegInf,
                         mean.upper < 1.0 ? log_bound + std::log(mean.upper) : log_bound};
  const LogBounds wider = limits.widened(rounding);
  return {wider.lower, std::min(log_bound, wider.upper)};
}

// Adds the known part of Z to the limits of the rest.
LogBounds with_known(const LogBounds& rest, const KnownPart& known, double log_bound) {
  const LogBounds sum{log_add_exp(known.log_mass.lower, rest.lower), log_add_exp(known.log_mass.upper, rest.upper)};
  const LogBounds wider = sum.widened(4.0 * kEpsilon *
                                      (1.0 + std::abs(std::isfinite(sum.lower) ? sum.lower : 0.0) +
                                       std::abs(std::isfinite(sum.upper) ? sum.upper : 0.0)));
  return {wider.lower, std::min(log_bound, wider.upper)};
}

// Estimates log Z from the weights of all samples, or only of those outside of the known part.
class Estimator {
 public:
  // `rounding` is the error of the logarithm of a probability.
  Estimator(const BoundedImportanceOptions& options, double log_bound, double rounding)
      : known_(options.known.value_or(KnownPart())),
        log_bound_(log_bound),
        of_probability_(rounding),
        betting_(options.confidence) {}

  // `rounding` is the error of the logarithm of the density.
  void add(double log_weight, double rounding, bool is_known, double expected) {
    ++count_;
    of_density_ = std::max(of_density_, rounding);
    const double z = is_known ? 0.0 : std::exp(log_weight - log_bound_);
    if (!is_known) rest_.add(log_weight, {});
    betting_.add(z, expected);
  }
  [[nodiscard]] LogBounds interval() const {
    const LogBounds rest =
        log_limits(log_bound_, betting_.limits(), std::max(kLeastRounding, of_density_ + of_probability_));
    return known_.holds ? with_known(rest, known_, log_bound_) : rest;
  }
  [[nodiscard]] double log_z() const { return log_add_exp(known_.estimate, log_rest()); }
  // The relative standard error, from the variance of the weights.
  [[nodiscard]] double error() const {
    if (rest_.is_empty()) return 0.0;
    const double share = std::exp(log_rest() - log_z());
    return share * std::sqrt(variance() / (count_ - 1.0));
  }
  // The weight below which samples may be given up. This adds at most `least` times the mean to the variance, which is
  // a third of it. (Giving up more samples, for models whose interval is long because of the bound, harmed the estimate
  // too much.)
  [[nodiscard]] double least() const {
    return rest_.is_empty() ? 0.0 : kMoreVariance * variance() * std::exp(log_rest() - log_bound_);
  }

 private:
  static constexpr double kMoreVariance = 1.0 / 3.0;
  static constexpr double kLeastRounding = 1e-9;

  // The variance of a weight divided by the mean.
  [[nodiscard]] double variance() const { return std::max(0.0, count_ / rest_.ess() - 1.0); }
  [[nodiscard]] double log_rest() const { return rest_.is_empty() ? kNegInf : rest_.log_sum() - std::log(count_); }

  KnownPart known_;
  double log_bound_, of_probability_, of_density_ = 0.0, count_ = 0.0;
  BettingInterval betting_;
  WeightSums rest_{FactorGraph()};
};

// The expected total number of samples; it is asked for now and then.
class ExpectedSamples {
 public:
  explicit ExpectedSamples(const BoundedImportanceOptions& options)
      : options_(options), expected_(static_cast<double>(options.max_samples)) {}

  double after(std::int64_t num_drawn) {
    if (options_.expected_samples && num_drawn > 0 && num_drawn % kInterval == 0) {
      expected_ = std::min(options_.expected_samples(num_drawn), static_cast<double>(options_.max_samples));
    }
    return expected_;
  }

 private:
  static constexpr std::int64_t kInterval = BettingInterval::kPilot;
  const BoundedImportanceOptions& options_;
  double expected_;
};

// Why standard errors would mean nothing; empty if they mean something.
std::string why_no_error(const BoundedImportance& result, double log_bound) {
  const double log_ratio = std::max(0.0, log_bound - result.log_z);
  if (static_cast<double>(result.num_samples) < kFewestHits * std::exp(log_ratio)) {
    return fmt::format("{} sample{}, and weights may exceed their mean by {:.1f} nats: what was missed is not known",
                       result.num_samples, result.num_samples == 1 ? "" : "s", log_ratio);
  }
  return result.interval.lower == kNegInf ? "the interval has no lower end" : "";
}

void check_upper(const FactorGraph& graph, const SearchApproximation& upper, const char* function) {
  check_space(function, graph, upper.space());
  check_argument(upper.kind() == SamplerKind::kUpper, function, "needs the sampler by upper bounds");
}

// The rounding of the logarithm of a probability, compared with the chances by which samples are really drawn. Each
// factor of the probability is the quotient of a number and a sum over the states.
double drawn_rounding(const FactorGraph& graph, double log_prob) {
  double terms = 0.0;
  for (int v = 0; v < graph.num_variables(); ++v) terms += graph.num_states(v) + 16.0;
  return kEpsilon * (terms + 4.0 * std::abs(log_prob));
}

}  // namespace

void BoundedImportanceOptions::validate() const {
  check_range("BoundedImportanceOptions", "max_samples", max_samples, 1, std::numeric_limits<std::int64_t>::max());
  check_argument(confidence > 0.0 && confidence < 1.0, "BoundedImportanceOptions",
                 "confidence must be between 0 and 1");
  check_range("BoundedImportanceOptions", "threads", threads, 1, 1 << 16);
}

BoundedImportance bounded_importance(const FactorGraph& graph, const SearchApproximation& upper,
                                     const BoundedImportanceOptions& options, Random& random,
                                     const Observer& observer) {
  check_upper(graph, upper, "bounded_importance");
  const BoundedSampler sampler{
      upper.log_value(),
      [&](std::span<int> x, Random& stream, StopCheck& stop) { return upper.sample_into(x, stream, &stop); },
      [&](std::span<int> x, Random& stream, double least, StopCheck& stop) {
        return upper.sample_or_give_up(x, stream, least, &stop);
      }};
  return bounded_importance(graph, sampler, options, random, observer);
}

BoundedImportance bounded_importance(const FactorGraph& graph, const BoundedSampler& sampler,
                                     const BoundedImportanceOptions& options, Random& random,
                                     const Observer& observer) {
  options.validate();
  const RunWatch watch({}, observer);
  BoundedImportance result;
  result.confidence = options.confidence;
  result.best.log_density = kNegInf;
  result.std_error = kInf;
  result.log_z = kNegInf;
  result.interval = {kNegInf, sampler.log_bound};
  if (sampler.log_bound == kNegInf) return result;  // Z = 0
  WeightSums sums(graph);
  Estimator estimator(options, sampler.log_bound, probability_rounding(graph, sampler.log_bound));
  ExpectedSamples expected(options);
  Draws draws(
      graph, sampler, options, [&] { return estimator.least(); }, random.bits());
  while (result.num_samples < options.max_samples) {
    const double num_expected = expected.after(result.num_samples);  // before drawing the sample
    const Draw* const next = draws.next();
    if (next == nullptr) break;
    const Draw& draw = *next;
    result.spent += draw.spent;
    if (!draw.log_density) {
      result.error = draw.error;
      break;
    }
    const double log_weight = *draw.log_density == kNegInf ? kNegInf : *draw.log_density - draw.log_prob;
    sums.add(log_weight, draw.x);
    ++result.num_samples;
    estimator.add(log_weight, draw.rounding, draw.is_known, num_expected);
    if (*draw.log_density > result.best.log_density) result.best = {draw.x, *draw.log_density};
    watch.tell({.phase = "samples", .spent = result.spent, .num_samples = result.num_samples});
    if (watch.is_asked_to_stop()) break;
  }
  const auto count = static_cast<double>(result.num_samples);
  const double log_bound = sampler.log_bound;
  result.no_error = result.num_samples == 0 ? "there are no samples" : "all samples are impossible";
  result.interval = estimator.interval();
  result.log_z = estimator.log_z();
  if (sums.is_empty()) return result;
  result.ess = sums.ess();
  result.marginals = sums.marginals();
  const double num_hits = count * std::exp(std::min(0.0, result.log_z - log_bound));
  result.no_error = why_no_error(result, log_bound);
  if (!result.no_error.empty()) return result;
  // With r = num_hits, configurations that n samples miss have a probability of about 1 / n under P_U and weights of up
  // to n / r times the mean. So they can change the mean by a share of up to 1 / r.
  result.std_error = std::max(estimator.error(), 1.0 / num_hits);
  result.marginal_errors = sums.largest_errors(1.0 / num_hits);
  result.marginals_error = 0.5 / std::sqrt(result.ess);
  for (const double error : result.marginal_errors) result.marginals_error = std::max(result.marginals_error, error);
  return result;
}

RejectionSamples rejection_samples(const FactorGraph& graph, const SearchApproximation& upper,
                                   const RejectionOptions& options, Random& random, const Observer& observer) {
  check_upper(graph, upper, "rejection_samples");
  RejectionSamples result;
  if (upper.log_value() == kNegInf) return result;  // Z = 0
  Assignment x(graph.num_variables(), -1);
  const RunWatch watch({}, observer);
  while (static_cast<std::int64_t>(result.samples.size()) < options.num_samples &&
         result.num_tries < options.max_tries) {
    const double log_prob = upper.sample_into(x, random);
    const std::optional<CompensatedSum> density = density_if_answered(graph, x, result.spent, result.error);
    if (!density) break;
    ++result.num_tries;
    const double log_weight = density->value() - log_prob;
    if (log_weight != kNegInf) {
      result.log_error = std::max(result.log_error, density->error() + drawn_rounding(graph, log_prob));
    }
    if (std::log(random.uniform()) < log_weight - upper.log_value()) result.samples.push_back(x);
    watch.tell(
        {.phase = "rejection", .spent = result.spent, .num_samples = static_cast<std::int64_t>(result.samples.size())});
    if (watch.is_asked_to_stop()) break;
  }
  return result;
}

}  // namespace treesample
