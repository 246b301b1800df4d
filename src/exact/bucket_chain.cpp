#include "exact/bucket_chain.hpp"

#include <algorithm>
#include <optional>

#include "model/dense_table.hpp"

namespace treesample {
namespace {

// Two blocks and the lists of places of a few tables must stay in the first-level cache. Blocks shrink from the last
// bucket of a chain to the first. Measured with one thread on a grid, in ns per entry: 0.46 for chains of one bucket,
// 0.44 for two and for three, 0.46 for four, 0.52 for five. Longer chains move less memory, whose bandwidth several
// threads share.
constexpr std::size_t kMostBlockEntries = 1024, kMostChainBlockEntries = 2048;
constexpr std::size_t kMostBuckets = 4;  // of a chain
// Smaller messages are left to the caches; smaller blocks cost more than they save.
constexpr std::size_t kLeastMessage = std::size_t{1} << 15, kLeastBlock = 64;
// The most blocks of the first bucket that one block of the last may need.
constexpr std::size_t kMostJointStates = 32;

bool contains(std::span<const int> scope, int v) { return std::find(scope.begin(), scope.end(), v) != scope.end(); }

std::size_t num_inner_variables(const FactorGraph& graph, std::span<const int> separator, std::size_t most_entries) {
  std::size_t num_inner = 0;
  for (std::size_t block = 1; num_inner < separator.size(); ++num_inner) {
    block *= static_cast<std::size_t>(graph.num_states(separator[separator.size() - 1 - num_inner]));
    if (block > most_entries && num_inner > 0) break;
  }
  return num_inner;
}

// The number of last variables of `below` that are within a block of the next bucket; nothing where the two buckets
// cannot be chained.
std::optional<std::size_t> num_inner_below(const FactorGraph& graph, std::span<const int> below,
                                           std::span<const int> separator, std::size_t num_inner) {
  const std::size_t num_outer = separator.size() - num_inner;
  for (std::size_t i = 0; i < num_outer; ++i) {
    if (!contains(below, separator[i])) return {};
  }
  std::size_t num_below = 0, block = 1;
  for (std::size_t i = num_outer; i < separator.size(); ++i) {
    if (!contains(below, separator[i])) continue;
    ++num_below;
    block *= static_cast<std::size_t>(graph.num_states(separator[i]));
  }
  if (block < kLeastBlock) return {};
  return num_below;
}

// All of these variables as one chain; nothing where they do not form one.
std::optional<BucketChain> chain_of(const FactorGraph& graph, const BucketTree& tree, std::span<const int> variables) {
  BucketChain chain{{variables.begin(), variables.end()}, std::vector<std::size_t>(variables.size())};
  chain.num_inner.back() = num_inner_variables(graph, tree.buckets[variables.back()].separator, kMostChainBlockEntries);
  std::size_t num_joint_states = 1;
  for (std::size_t i = variables.size() - 1; i-- > 0;) {
    const std::vector<int>& below = tree.buckets[variables[i]].separator;
    const std::vector<int>& separator = tree.buckets[variables[i + 1]].separator;
    const std::size_t num_entries = num_table_entries(graph, below);
    if (below.empty() || below.front() != variables[i + 1] || num_entries < kLeastMessage) return {};
    if (num_table_entries(graph, separator) > num_entries) return {};
    const auto num_inner = num_inner_below(graph, below, separator, chain.num_inner[i + 1]);
    num_joint_states *= static_cast<std::size_t>(graph.num_states(variables[i + 1]));
    if (!num_inner || num_joint_states > kMostJointStates) return {};
    chain.num_inner[i] = *num_inner;
  }
  return chain;
}

}  // namespace

std::size_t num_inner_variables(const FactorGraph& graph, std::span<const int> separator) {
  return num_inner_variables(graph, separator, kMostBlockEntries);
}

BucketChain longest_chain(const FactorGraph& graph, const BucketTree& tree, std::span<const int> order) {
  const bool is_large = num_table_entries(graph, tree.buckets[order.front()].separator) >= kLeastMessage;
  for (std::size_t count = is_large ? std::min(kMostBuckets, order.size()) : 1; count > 1; --count) {
    std::optional<BucketChain> chain = chain_of(graph, tree, order.first(count));
    if (chain) return *std::move(chain);
  }
  return {{order.front()}, {num_inner_variables(graph, tree.buckets[order.front()].separator)}};
}

}  // namespace treesample
