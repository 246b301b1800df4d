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

// Memory for large tables, in huge pages where the system has them, which is reused after it is given back: new memory
// costs as much time as computing its entries, because the system clears it. Not thread-safe.
class TablePool {
 public:
  // Used and waiting blocks together take at most this much, unless the used ones alone take more.
  explicit TablePool(double most_bytes) : most_bytes_(most_bytes) {}
  ~TablePool() { release(); }
  TablePool(const TablePool&) = delete;
  TablePool& operator=(const TablePool&) = delete;

  // Frees the waiting blocks.
  void release() { release_down_to(0.0); }

  static constexpr std::size_t kLeastBytes = std::size_t{1} << 16;  // reuse does not pay for smaller tables

 private:
  friend class TableMemory;
  struct Block {
    double* values = nullptr;
    std::size_t bytes = 0;
  };
  Block take(std::size_t bytes);
  void give_back(const Block& block);
  void release_down_to(double bytes);

  double most_bytes_, used_bytes_ = 0.0, waiting_bytes_ = 0.0;
  std::vector<Block> waiting_;  // smallest first
};

// The numbers of a table, uninitialised.
class TableMemory {
 public:
  TableMemory() = default;
  // Large tables come from the pool.
  TableMemory(std::size_t num_entries, const std::shared_ptr<TablePool>& pool);
  ~TableMemory();
  TableMemory(TableMemory&& other) noexcept { swap(other); }
  TableMemory& operator=(TableMemory&& other) noexcept {
    TableMemory old;
    swap(old);
    swap(other);
    return *this;
  }

  [[nodiscard]] double* data() { return block_.values; }
  [[nodiscard]] const double* data() const { return block_.values; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<double> span() { return {block_.values, size_}; }
  [[nodiscard]] std::span<const double> span() const { return {block_.values, size_}; }

 private:
  void swap(TableMemory& other) noexcept;

  TablePool::Block block_;
  std::size_t size_ = 0;
  std::shared_ptr<TablePool> pool_;  // null for a small table
};

// A table that stands for 2^exponent times its entries.
struct LinearTable {
  std::vector<int> scope;  // in the order of removal; the last variable is the fastest in memory
  TableMemory values;
  double largest = 0.0;                                    // entry; at least that where not all were computed
  double least = std::numeric_limits<double>::infinity();  // of the computed entries above 0, or less
  LinearError error;
  int exponent = 0;

  // Scales the largest entry into [1/2, 1).
  void normalise();
};

// exp(f - largest of f), with the variables in the order of removal. All entries are 0 where all of f are -inf.
LinearTable linear_table(const FactorGraph& graph, const Factor& factor, std::span<const int> time);

}  // namespace treesample
