// How likely the paper's cells are under a reading, by their means and by their standard deviations.
#pragma once

#include <vector>

#include "paper_cells.hpp"

namespace treesample::experiments {

// Of the errors of one method on many problems.
struct Moments {
  double mean = 0.0;
  double deviation = 0.0;
  double kurtosis = 3.0;  // E (x - mean)^4 / variance^2; 3 for a normal distribution
  int count = 0;
};
// Needs at least two finite values.
Moments moments_of(const std::vector<double>& values);

// The paper's mean and standard deviation, less ours, in standard errors of the difference. The paper's error of the
// mean is deviation / sqrt(1000); that of the logarithm of a standard deviation is sqrt((kurtosis - 1) / (4 count)).
struct Misfit {
  double mean = 0.0;
  double deviation = 0.0;
};
Misfit misfit(const PaperCell& paper, const Moments& ours);

// The log-likelihood of a cell: both numbers are normal around ours, or, with probability kUnexplained, the cell has a
// reason that no reading here has, and then its mean is uniform over kMeanRange nats and its standard deviation over a
// factor of kDeviationRange. Without that, a single cell that nothing explains would decide among all readings.
inline constexpr double kUnexplained = 0.1;
inline constexpr double kMeanRange = 50.0;
inline constexpr double kDeviationRange = 100.0;
double log_likelihood(const PaperCell& paper, const Moments& ours);

}  // namespace treesample::experiments
