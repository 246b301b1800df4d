// When the learned estimates of a search are updated in its nodes.
#pragma once

#include <cstdint>
#include <memory>

#include "treesample/value/calibrated_value.hpp"

namespace treesample {

// Older estimates lack the rewards seen since. Updating all of them takes a pass over the store, which is made whenever
// the number of rewards has grown by a tenth. A level that is seen for the first time must enter all estimates at once;
// otherwise those with and those without it could not be compared, and a search of few evaluations goes wrong (a KL of
// 8.7 instead of 2.6 nats on chains after 100 evaluations).
class CalibrationSchedule {
 public:
  // From now on the search learns.
  std::shared_ptr<const CalibratedValue> start(const SearchSpace& space) {
    value_ = std::make_shared<CalibratedValue>(space);
    return value_;
  }
  [[nodiscard]] bool is_on() const { return value_ != nullptr; }
  // Pre: is_on().
  [[nodiscard]] const CalibratedValue& value() const { return *value_; }

  void add(int level, double reward) {
    if (!is_on()) return;
    value_->add(level, reward);
    ++num_rewards_;
  }
  // True when an update is due; at most once for the same rewards.
  bool is_due() {
    if (!is_on() || (value_->num_known_levels() == num_levels_then_ && num_rewards_ < next_)) return false;
    num_levels_then_ = value_->num_known_levels();
    next_ = num_rewards_ + num_rewards_ / 10 + 1;
    return true;
  }

 private:
  std::shared_ptr<CalibratedValue> value_;
  std::int64_t num_rewards_ = 0;
  std::int64_t next_ = 0;
  int num_levels_then_ = 0;
};

}  // namespace treesample
