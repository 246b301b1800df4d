#include "treesample/value/corrected_value.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <utility>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {

CorrectedValue::CorrectedValue(const SearchSpace& space, std::shared_ptr<const LeafValue> of,
                               std::vector<std::vector<double>> shifts)
    : LeafValue(space), of_(std::move(of)), shifts_(std::move(shifts)) {
  check_argument(of_ != nullptr && of_->fits(space), "CorrectedValue", "the leaf value was made for another space");
  bool is_fitting = shifts_.size() == space.levels.size();
  for (std::size_t n = 0; is_fitting && n < shifts_.size(); ++n) {
    is_fitting = shifts_[n].size() == static_cast<std::size_t>(space.levels[n].num_states);
  }
  check_argument(is_fitting, "CorrectedValue", "the shifts are not one for each level and state");
}

void CorrectedValue::q_values(int level, std::span<const int> prefixes, int count, std::span<double> q) const {
  of_->q_values(level, prefixes, count, q);
  const std::vector<double>& shifts = shifts_[static_cast<std::size_t>(level)];
  for (std::size_t r = 0; r < static_cast<std::size_t>(count); ++r) {
    const std::span<double> row = q.subspan(r * shifts.size(), shifts.size());
    const double before = log_sum_exp(row);
    if (before == kNegInf) continue;
    for (std::size_t a = 0; a < shifts.size(); ++a) row[a] += shifts[a];
    const double change = before - log_sum_exp(row);
    for (double& value : row) value += change;
  }
}

// Ridge regression in its dual form: it has one unknown per sample, whatever the number of levels.
std::vector<std::vector<double>> fit_shifts(const SearchSpace& space, std::span<const Innovations> samples) {
  samples = samples.first(std::min<std::size_t>(samples.size(), kMostCorrectingSamples));
  std::vector<std::vector<double>> shifts;
  for (const Level& level : space.levels) shifts.emplace_back(static_cast<std::size_t>(level.num_states), 0.0);
  const auto count = static_cast<Eigen::Index>(samples.size());
  if (count < 2) return shifts;
  Eigen::MatrixXd xi(static_cast<Eigen::Index>(samples[0].xi.size()), count);
  Eigen::VectorXd log_weights(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const Innovations& sample = samples[static_cast<std::size_t>(i)];
    xi.col(i) = Eigen::Map<const Eigen::VectorXd>(sample.xi.data(), xi.rows());
    log_weights[i] = sample.log_weight;
  }
  log_weights.array() -= log_weights.mean();
  const double variance = log_weights.squaredNorm() / static_cast<double>(count);
  if (!(variance > 1e-12)) return shifts;
  Eigen::MatrixXd gram = xi.transpose() * xi;
  gram.diagonal().array() += variance / kPriorVariance;
  const Eigen::VectorXd theta = xi * gram.llt().solve(log_weights);
  Eigen::Index at = 0;
  for (std::vector<double>& row : shifts) {
    for (double& shift : row) shift = theta[at++];
  }
  return shifts;
}

}  // namespace treesample
