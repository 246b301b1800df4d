#include "search/search_memory.hpp"

#include "search/collapse.hpp"

namespace treesample {
namespace {

// The share of the memory limit at which nodes are given back.
constexpr double kFullShare = 0.75;

}  // namespace

SearchMemory::SearchMemory(BoundStore& store, std::size_t most_bytes, std::span<const BoundStore::Extent> kept)
    : store_(store), full_bytes_(static_cast<std::size_t>(kFullShare * static_cast<double>(most_bytes))), kept_(kept) {}

bool SearchMemory::give_back(std::int64_t num_evaluations) {
  const std::size_t before = store_.used_bytes();
  if (num_collapses_++ > 0 && num_evaluations == num_evaluations_then_) return false;
  num_evaluations_then_ = num_evaluations;
  collapse_least(store_, 0.5, kept_);
  return store_.used_bytes() < before - before / 10;
}

}  // namespace treesample
