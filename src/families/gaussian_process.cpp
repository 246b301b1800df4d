#include "families/gaussian_process.hpp"

#include <algorithm>
#include <cmath>

#include "treesample/math/random.hpp"

namespace treesample {
namespace {

// Added to the diagonal, because at bandwidths above 2 the smallest eigenvalues are lost to rounding. It adds the same
// amount to the variances, far too little for any sample to show.
constexpr double kJitter = 1e-10;
// Kernel values below this are taken as 0. It is far below the jitter, so the matrix stays positive definite.
constexpr double kNegligible = 1e-18;

// A lower triangular band matrix: row i has the columns i - reach to i.
struct BandMatrix {
  int size = 0;
  int reach = 0;
  std::vector<double> entries = {};

  double& at(int i, int j) { return entries[std::size_t(i) * (reach + 1) + (j - i + reach)]; }
  [[nodiscard]] int first(int i) const { return std::max(0, i - reach); }
};

BandMatrix rbf_cholesky(int size, double bandwidth) {
  const int decay = static_cast<int>(std::ceil(bandwidth * std::sqrt(-2.0 * std::log(kNegligible))));
  BandMatrix lower{.size = size, .reach = std::min(size - 1, decay)};
  lower.entries.assign(std::size_t(size) * (lower.reach + 1), 0.0);
  for (int i = 0; i < size; ++i) {
    for (int j = lower.first(i); j <= i; ++j) {
      const double distance = (i - j) / bandwidth;
      double sum = std::exp(-0.5 * distance * distance) + (i == j ? kJitter : 0.0);
      for (int m = lower.first(i); m < j; ++m) sum -= lower.at(i, m) * lower.at(j, m);
      lower.at(i, j) = i == j ? std::sqrt(sum) : sum / lower.at(j, j);
    }
  }
  return lower;
}

// vector := lower * vector, for a vector with the given stride. Works in place, from the last row up.
void multiply(BandMatrix& lower, double* vector, int stride) {
  for (int i = lower.size - 1; i >= 0; --i) {
    double sum = 0.0;
    for (int j = lower.first(i); j <= i; ++j) sum += lower.at(i, j) * vector[std::size_t(j) * stride];
    vector[std::size_t(i) * stride] = sum;
  }
}

}  // namespace

std::vector<double> draw_gaussian_process(int rows, int columns, double bandwidth, Random& random) {
  std::vector<double> values(std::size_t(rows) * columns);
  for (double& value : values) value = random.normal();
  BandMatrix along_rows = rbf_cholesky(rows, bandwidth);
  BandMatrix along_columns = rbf_cholesky(columns, bandwidth);
  for (int column = 0; column < columns; ++column) multiply(along_rows, values.data() + column, columns);
  for (int row = 0; row < rows; ++row) multiply(along_columns, values.data() + std::size_t(row) * columns, 1);
  return values;
}

}  // namespace treesample
