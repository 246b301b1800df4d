// Tables of numbers >= 0, and their memory.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "exact/linear_error.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

// Not set to anything; large ones in large pages, where the system has them.
class TableMemory {
 public:
  TableMemory() = default;
  explicit TableMemory(std::size_t num_entries);

  [[nodiscard]] double* data() { return values_.get(); }
  [[nodiscard]] const double* data() const { return values_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<double> span() { return {values_.get(), size_}; }
  [[nodiscard]] std::span<const double> span() const { return {values_.get(), size_}; }

 private:
  struct Free {
    void operator()(double* values) const;
  };
  std::unique_ptr<double[], Free> values_;
  std::size_t size_ = 0;
};

// Stands for 2^exponent times its entries.
struct LinearTable {
  std::vector<int> scope;  // first removed first; the last one is the fastest in memory
  TableMemory values;
  double largest = 0.0;                                    // entry
  double least = std::numeric_limits<double>::infinity();  // entry above 0, or less
  LinearError error;
  int exponent = 0;

  // Brings the largest entry into [1/2, 1).
  void normalise();
};

// exp(f - largest of f), with the variables in the order of removal. All entries are 0 when all of f are -inf.
LinearTable linear_table(const FactorGraph& graph, const Factor& factor, std::span<const int> time);

}  // namespace treesample
