#include "reading_fit.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "experiments/statistics.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample::experiments {
namespace {

struct Errors {
  double of_mean = 0.0;
  double of_log_deviation = 0.0;
};

Errors errors_of(const PaperCell& paper, const Moments& ours) {
  const double count = ours.count;
  const double inverse_counts = 1.0 / kPaperProblems + 1.0 / count;
  return {.of_mean =
              std::sqrt(paper.deviation * paper.deviation / kPaperProblems + ours.deviation * ours.deviation / count),
          .of_log_deviation = std::sqrt(0.25 * (ours.kurtosis - 1.0) * inverse_counts)};
}

double log_normal(double standardised, double error) {
  return -0.5 * standardised * standardised - std::log(error) - 0.5 * std::log(2.0 * std::numbers::pi);
}

}  // namespace

Moments moments_of(const std::vector<double>& values) {
  const Summary summary = summarize(values);
  double fourth = 0.0;
  for (const double value : values) fourth += std::pow(value - summary.mean, 4);
  const double variance = std::max(summary.deviation * summary.deviation, 1e-12);
  const double kurtosis = fourth / static_cast<double>(values.size()) / (variance * variance);
  // A sample of few problems can have any kurtosis; below that of a uniform distribution it is not believed.
  return {summary.mean, std::sqrt(variance), std::max(kurtosis, 1.8), static_cast<int>(values.size())};
}

Misfit misfit(const PaperCell& paper, const Moments& ours) {
  const Errors errors = errors_of(paper, ours);
  return {(paper.mean - ours.mean) / errors.of_mean,
          std::log(paper.deviation / ours.deviation) / errors.of_log_deviation};
}

double log_likelihood(const PaperCell& paper, const Moments& ours) {
  const Errors errors = errors_of(paper, ours);
  const Misfit z = misfit(paper, ours);
  const double explained =
      std::log1p(-kUnexplained) + log_normal(z.mean, errors.of_mean) + log_normal(z.deviation, errors.of_log_deviation);
  const double unexplained = std::log(kUnexplained / kMeanRange / std::log(kDeviationRange));
  return log_add_exp(explained, unexplained);
}

}  // namespace treesample::experiments
