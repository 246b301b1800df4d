// What a search counts, in other numbers beside its own: exact integers (formula/integer_counts.hpp). The search says
// what it adds and multiplies, and its own numbers decide what it does next.
//
// The sum of a component is begun, has branches opened and closed, and is ended. A branch begins with the weights of
// what the split has fixed and freed, and is multiplied by the sums of its components. Sums nest.
#pragma once

#include <cstdint>
#include <memory>

#include "count/circuit_trace.hpp"

namespace treesample {

class ExactCounts {
 public:
  virtual ~ExactCounts() = default;
  virtual void begin_sum() = 0;
  virtual void open_branch(const SplitTrace& split) = 0;
  // By the sum with this number.
  virtual void multiply(std::uint32_t sum) = 0;
  // By a sum of another object of the same kind.
  virtual void multiply(const ExactCounts& other, std::uint32_t sum) = 0;
  virtual void close_branch(bool is_zero) = 0;
  // Returns the number of the sum, which stays valid until it is forgotten.
  virtual std::uint32_t end_sum() = 0;
  virtual void forget(std::uint32_t sum) = 0;
  // Another one of the same kind, without sums.
  [[nodiscard]] virtual std::unique_ptr<ExactCounts> make_empty() const = 0;
  // Moves a sum of another one of the same kind here, and returns its number. The other one has 0 instead.
  virtual std::uint32_t take_from(ExactCounts& other, std::uint32_t sum) = 0;
  [[nodiscard]] virtual std::uint64_t bytes() const = 0;
};

}  // namespace treesample
