#include "search/search_memory.hpp"

#include "search/collapse.hpp"

namespace treesample {
namespace {

// The share of the memory limit at which nodes are given back.
constexpr double kFullShare = 0.75;
// Bounds of log Z may stay the same while those of nodes far below are tightened.
constexpr int kMostFruitless = 100;

}  // namespace

SearchMemory::SearchMemory(BoundStore& store, std::size_t most_bytes, std::span<const BoundStore::Extent> kept)
    : store_(store), full_bytes_(static_cast<std::size_t>(kFullShare * static_cast<double>(most_bytes))), kept_(kept) {}

bool SearchMemory::has_progress(const LogBounds& log_z) {
  const bool is_new = num_collapses_ == 0 || log_z.lower != log_z_then_.lower || log_z.upper != log_z_then_.upper;
  log_z_then_ = log_z;
  num_fruitless_ = is_new ? 0 : num_fruitless_ + 1;
  return num_fruitless_ < kMostFruitless;
}

bool SearchMemory::give_back(const LogBounds& log_z) {
  const std::size_t before = store_.used_bytes();
  const bool goes_on = has_progress(log_z);
  ++num_collapses_;
  if (!goes_on) return false;
  collapse_least(store_, 0.5, kept_);
  return store_.used_bytes() < before - before / 10;
}

}  // namespace treesample
