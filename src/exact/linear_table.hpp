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

// Large tables, in large pages where the system has them, are used again when they are given back: new memory costs as
// much as computing its entries, because the system clears it. Not for several threads at once.
class TablePool {
 public:
  // What is in use and what waits for being used again together take no more than this, if what is in use does not.
  explicit TablePool(double most_bytes) : most_bytes_(most_bytes) {}
  ~TablePool() { release(); }
  TablePool(const TablePool&) = delete;
  TablePool& operator=(const TablePool&) = delete;

  // Of what waits.
  void release() { release_down_to(0.0); }

  static constexpr std::size_t kLeastBytes = std::size_t{1} << 16;  // smaller ones are not worth it

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

// Not set to anything.
class TableMemory {
 public:
  TableMemory() = default;
  // The pool is for large ones.
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
  std::shared_ptr<TablePool> pool_;  // null of a small one
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
