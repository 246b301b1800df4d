// The logarithm of a sum of numbers that change one at a time. Nothing is subtracted, so nothing cancels.
#pragma once

#include <cstddef>
#include <vector>

#include "treesample/math/log_domain.hpp"

namespace treesample {

class LogSumTree {
 public:
  void set(std::size_t index, double log_value) {
    while (index >= capacity_) grow();
    std::size_t node = capacity_ + index;
    sums_[node] = log_value;
    while (node > 1) {
      node /= 2;
      sums_[node] = log_add_exp(sums_[2 * node], sums_[2 * node + 1]);
    }
  }
  [[nodiscard]] double total() const { return sums_[1]; }
  // The number of additions between a number and the total.
  [[nodiscard]] int depth() const {
    int depth = 0;
    for (std::size_t size = capacity_; size > 1; size /= 2) ++depth;
    return depth;
  }

 private:
  void grow() {
    std::vector<double> larger(4 * capacity_, kNegInf);
    for (std::size_t i = 0; i < capacity_; ++i) larger[2 * capacity_ + i] = sums_[capacity_ + i];
    capacity_ *= 2;
    for (std::size_t node = capacity_ - 1; node > 0; --node) {
      larger[node] = log_add_exp(larger[2 * node], larger[2 * node + 1]);
    }
    sums_ = std::move(larger);
  }

  std::size_t capacity_ = 1;
  std::vector<double> sums_ = std::vector<double>(2, kNegInf);  // heap order, leaves last
};

}  // namespace treesample
