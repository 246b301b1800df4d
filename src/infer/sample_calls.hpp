// Samples whose true densities are asked: how many the limits of calls pay for, and what they have called.
#pragma once

#include <cstdint>

#include "infer/methods.hpp"

namespace treesample {

class SampleCalls {
 public:
  // The draft knows what was called before; charge() adds to that.
  SampleCalls(const Task& task, Draft& draft);

  // As many of the wanted samples as the limits allow, if each of them calls every function.
  [[nodiscard]] std::int64_t affordable(std::int64_t wanted) const;
  // What the samples have spent so far, before it is charged.
  void note(const Spending& spent) { noted_ = spent; }
  // Adds what the samples have spent. Of calls that a queue makes only those count that it did not know.
  void charge(Spending spent);

 private:
  [[nodiscard]] std::int64_t num_answered() const;
  [[nodiscard]] std::int64_t num_called(const Spending& spent) const;

  const Task& task_;
  Draft& draft_;
  std::int64_t num_answered_;  // before what is not charged yet
  Spending noted_;
};

}  // namespace treesample
