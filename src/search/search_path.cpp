#include "search/search_path.hpp"

#include "math/dispatched.hpp"
#include "math/vector_kernels.hpp"
#include "search/soft_bellman.hpp"
#include "treesample/math/vector_math.hpp"

namespace treesample {
namespace {

// multipliers[i] *= exp(log_multipliers[i]), NaN where that is not in range. Count is a multiple of 8.
TS_DISPATCHED void multiply_each(const double* __restrict log_multipliers, double* __restrict multipliers,
                                 std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const ScaledValue value{log_multipliers[i], multipliers[i]};
    multipliers[i] = value.is_in_range() ? exp_one(value.log_scale) * value.sum : NAN;
  }
}

}  // namespace

SearchPath::SearchPath(const NodeStore& store) : store_(store) {
  const std::size_t longest = store.space().levels.size();
  steps_.resize(longest);
  log_multipliers_.resize(padded(longest));
  multipliers_.resize(padded(longest));
  for (const Level& level : store.space().levels) has_components_ = has_components_ || level.children.size() > 1;
}

// Adds the components of edge i that are off the path.
void SearchPath::add_components(int i) {
  const auto& [node, level, action] = steps_[i];
  const std::vector<int>& children = store_.space().levels[level].children;
  const int level_below = i + 1 < length_ ? steps_[i + 1].level : -1;
  ScaledValue value{log_multipliers_[i], 1.0};
  for (std::size_t j = 0; j < children.size(); ++j) {
    if (children[j] != level_below) value *= scaled_value(store_, children[j], node.links(action)[j]);
  }
  log_multipliers_[i] = value.log_scale;
  multipliers_[i] = value.sum;
}

const double* SearchPath::multiply_out() {
  const auto& [node, level, action] = steps_[length_ - 1];
  log_multipliers_[length_ - 1] = node.rewards()[action] - node.log_scale();  // the reward is new
  add_components(length_ - 1);
  for (int i = 0; has_components_ && i + 1 < length_; ++i) {
    if (store_.space().levels[steps_[i].level].children.size() > 1) add_components(i);
  }
  multiply_each(log_multipliers_.data(), multipliers_.data(), padded(length_));
  return multipliers_.data();
}

}  // namespace treesample
