#include "train/bound_targets.hpp"

#include <algorithm>

#include "treesample/math/log_domain.hpp"

namespace treesample {

BoundTargets::BoundTargets(const Problem& problem, std::uint64_t bytes, int passes)
    : problem_(problem),
      buckets_(std::make_unique<WeightedMiniBucket>(
          problem.graph, problem.space,
          MiniBucketOptions{.bytes = std::uint64_t{1} << 30, .wanted_bytes = bytes, .passes = passes})) {}

Assignment BoundTargets::sample(Random& random) const {
  Assignment x(problem_.space.levels.size(), -1);
  buckets_->sample_below(0, x, random);
  return x;
}

BoundTargets::Row BoundTargets::bounds(int level, std::span<const int> x) const {
  const Level& here = problem_.space.levels[level];
  Row row;
  row.high.resize(static_cast<std::size_t>(here.num_states));
  buckets_->q_values(level, x, 1, row.high);
  row.low = row.high;
  if (is_exact() || level + 1 == problem_.space.num_levels()) return row;
  Assignment child(x.begin(), x.end());
  for (int a = 0; a < here.num_states; ++a) {
    if (row.high[a] == kNegInf) continue;
    child[here.variable] = a;
    const double upper = buckets_->log_upper(level + 1, child);
    row.low[a] = std::min(row.high[a], row.high[a] - upper + buckets_->log_lower(level + 1, child));
  }
  return row;
}

void BoundTargets::add_rows(std::span<const int> x, int sample, const std::map<int, std::vector<double>>& found,
                            Experience& experience) const {
  for (int n = 0; n < problem_.space.num_levels(); ++n) {
    Row row = bounds(n, x);
    const double offset = problem_.offsets[n];
    const auto search = found.find(n);
    experience.row_samples.push_back(sample);
    experience.row_levels.push_back(n);
    for (int a = 0; a < experience.num_targets; ++a) {
      const bool is_state = a < static_cast<int>(row.high.size());
      double low = is_state ? row.low[a] : kNegInf;
      double high = is_state ? row.high[a] : kNegInf;
      if (is_state && search != found.end() && search->second[a] != kNegInf) {
        low = high = std::clamp(search->second[a], low, high);
      }
      if (low - offset < problem_.target_ranges[n].low) low = kNegInf;  // such a low bound is no better than none
      if (high - offset < problem_.target_ranges[n].low) high = kNegInf;
      experience.row_targets.push_back(static_cast<float>(low - offset));
      experience.row_highs.push_back(static_cast<float>(high - offset));
    }
  }
}

}  // namespace treesample
