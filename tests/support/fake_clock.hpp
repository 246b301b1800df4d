// A clock for tests of policy: time passes only when somebody looks at it, the same amount for each look. A run of many
// seconds then takes milliseconds, and has the same bits every time. For one thread.
#pragma once

#include <memory>

#include "infer/run.hpp"

namespace treesample::testing {

class FakeClock {
 public:
  explicit FakeClock(double seconds_per_look) : each_(seconds_per_look) {}

  [[nodiscard]] TimeSource time() const {
    return {[now = now_, each = each_] { return *now += each; }, [now = now_] { return *now; }};
  }
  [[nodiscard]] double seconds() const { return *now_; }

 private:
  double each_;
  std::shared_ptr<double> now_ = std::make_shared<double>(0.0);
};

}  // namespace treesample::testing
