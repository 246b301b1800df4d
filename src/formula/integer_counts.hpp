// The sums of a search as exact integers (count/exact_counts.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "count/exact_counts.hpp"
#include "formula/integer.hpp"

namespace treesample {

// The weights of the states 0 and 1 of a variable of the formula; both 1 if it has none.
using StatePair = std::pair<Integer, Integer>;
// Those of a variable of the search, which may stand for several of the formula.
using ExactStates = std::vector<Integer>;

class IntegerCounts final : public ExactCounts {
 public:
  // By variable; empty if no variable has weights. Must outlive it.
  explicit IntegerCounts(const std::vector<ExactStates>& weights) : weights_(weights) {}

  void begin_sum() override;
  void open_branch(const SplitTrace& split) override;
  void multiply(std::uint32_t sum) override;
  void multiply(const ExactCounts& other, std::uint32_t sum) override;
  void close_branch(bool is_zero) override;
  std::uint32_t end_sum() override;
  void forget(std::uint32_t sum) override;
  [[nodiscard]] std::unique_ptr<ExactCounts> make_empty() const override;
  std::uint32_t take_from(ExactCounts& other, std::uint32_t sum) override;
  [[nodiscard]] std::uint64_t bytes() const override;

  [[nodiscard]] const Integer& sum(std::uint32_t number) const { return sums_[number]; }

 private:
  std::uint32_t keep(Integer sum);

  struct Frame {
    Integer sum, branch;
  };

  const std::vector<ExactStates>& weights_;
  std::vector<Frame> frames_;
  std::vector<Integer> sums_;
  std::vector<std::uint32_t> free_;
  std::uint64_t sum_bytes_ = 0;
};

}  // namespace treesample
