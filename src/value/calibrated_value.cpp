#include "treesample/value/calibrated_value.hpp"

#include <algorithm>
#include <cmath>

#include "treesample/math/log_domain.hpp"

namespace treesample {

CalibratedValue::CalibratedValue(const SearchSpace& space) : LeafValue(space), levels_(space.levels.size()) {
  for (int n = this->space().num_levels() - 1; n >= 0; --n) update(n);
}

void CalibratedValue::add(int level, double reward) {
  LevelRewards& seen = levels_[level];
  ++seen.count;
  if (reward != kNegInf) {
    seen.log_sum = seen.num_possible == 0 ? reward : log_add_exp(seen.log_sum, reward);
    seen.sum += reward;
    if (seen.num_possible++ == 0) ++num_known_levels_;
  }
  for (int n = level; n >= 0; n = space().levels[n].parent) update(n);
}

void CalibratedValue::update(int level) {
  LevelRewards& here = levels_[level];
  here.value_below = here.elbo_below = std::log(space().levels[level].num_states);
  if (here.num_possible > 0) {
    const auto count = static_cast<double>(here.count);
    const auto num_possible = static_cast<double>(here.num_possible);
    here.value_below += here.log_sum - std::log(count);
    here.elbo_below += here.sum / num_possible + std::log(num_possible / count);
  }
  for (const int child : space().levels[level].children) {
    here.value_below += levels_[child].value_below;
    here.elbo_below += levels_[child].elbo_below;
  }
}

double CalibratedValue::log_value(int level, std::span<const int>) const { return levels_[level].value_below; }

double CalibratedValue::draw_below(int level, std::span<int> x, Random& random, StopCheck& stop) const {
  std::vector<int> open = {level};
  while (!open.empty()) {
    stop.go_on("sample", 8);
    const Level& here = space().levels[open.back()];
    open.pop_back();
    x[here.variable] = static_cast<int>(random.below(static_cast<std::uint64_t>(here.num_states)));
    open.insert(open.end(), here.children.begin(), here.children.end());
  }
  return log_prob_below(level, x);
}

double CalibratedValue::log_prob_below(int level, std::span<const int>) const {
  return -std::log(space().levels[level].num_states) - space().levels[level].log_states_below;
}

void CalibratedValue::probabilities(int, std::span<const int>, std::span<double> probs) const {
  std::fill(probs.begin(), probs.end(), 1.0 / static_cast<double>(probs.size()));
}

}  // namespace treesample
