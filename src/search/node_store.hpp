// Where a search keeps its nodes: storage and identity, no policy.
//
// Each level has an array of equal blocks, one per node, addressed by a 32-bit index. A block of a
// level with K states and C children is
//
//   double    exponent           E, an integer: the weights below are in units of 2^E
//   uint8     choice             the action that q_uct chose last; 0xff = the node is complete, 0xfe = see below
//   byte[7]                      where K = 2: hints for fetching ahead; the last four: a choice of 0xfe or more
//   uint32    link[K][C]         index of the child's block, per child level; close to the choice, because a descent
//                                waits for the one and then the other
//   uint32    visits[K]          eta, with two flags in the highest bits
//   double    weight[K]          exp(Q(a)) / 2^E
//   double    factor[K]          exp(R), once the edge is expanded (see factor_of_reward)
//   double    prior[K]           Q_phi(a); only when the prior is not uniform
//   uint32    changed_at         time stamps, only at levels that are shared or have shared children:
//   uint32    refreshed_at       an edge is stale if a child changed after the node was refreshed
//
// (64 bytes for K = 2, C = 1, which is one line of the cache: the arrays begin at a line.) Values are kept in the
// linear domain relative to 2^E, because a chained log-sum-exp per level of a backup would cost several times the rest
// of it; changes of scale are then exact and need no exponential. E moves when a sum leaves a wide range (rebase).
//
// With a uniform prior a node that can have only one parent edge gets no block until it is visited a
// second time: until then its value is the prior's, which its parent's edge holds already.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "search/context_table.hpp"
#include "search/scaled_value.hpp"
#include "treesample/model/search_space.hpp"

namespace treesample {

inline constexpr std::uint32_t kNoChoice = UINT32_MAX;

// Calls f with the number of states, as a constant for the usual ones: loops over them then unroll.
template <class F>
[[gnu::always_inline]] inline decltype(auto) with_num_states(int num_states, F&& f) {
  switch (num_states) {
    case 2:
      return f(std::integral_constant<int, 2>());
    case 3:
      return f(std::integral_constant<int, 3>());
    case 4:
      return f(std::integral_constant<int, 4>());
    case 5:
      return f(std::integral_constant<int, 5>());
    default:
      return f(num_states);
  }
}

// Offsets are in bytes from the start of a block.
struct BlockLayout {
  int num_states = 1;
  int num_children = 0;
  std::uint32_t weights = 0;
  std::uint32_t factors = 0;
  std::uint32_t visits = 0;
  std::uint32_t prior = 0;
  std::uint32_t stamps = 0;
  std::uint32_t size = 0;
  bool has_stamps = false;
  bool has_hints = false;  // K = 2, an only child and grandchild, nothing shared, not at the top
};

// A view of one block. Cheap to copy; valid until a node of the same level is created.
class Node {
 public:
  Node() = default;
  Node(std::byte* block, const BlockLayout* layout) : block_(block), layout_(layout) {}

  [[nodiscard]] int num_states() const { return layout_->num_states; }
  [[nodiscard]] double& exponent() const { return *at<double>(0); }
  [[nodiscard]] std::uint32_t choice() const {
    const std::uint8_t small = *at<std::uint8_t>(8);
    if (small == kWideChoice) [[unlikely]]
      return *at<std::uint32_t>(12);
    return small == kNoSmallChoice ? kNoChoice : small;
  }
  void set_choice(std::uint32_t action) const {
    *at<std::uint8_t>(8) =
        static_cast<std::uint8_t>(action < kWideChoice || action == kNoChoice ? action : kWideChoice);
    if (action >= kWideChoice && action != kNoChoice) [[unlikely]]
      *at<std::uint32_t>(12) = action;
  }
  // The node that comes after the child behind an edge, by the child's choice when it was last visited through this
  // edge; kNoHint if there is none. In a tree it is the node that the next traversal through the edge comes to.
  [[nodiscard]] bool has_hints() const { return layout_->has_hints; }
  [[nodiscard]] NodeIndex hint(int action) const {
    return static_cast<NodeIndex>(hints() >> hint_shift(action)) & kNoHint;
  }
  void set_hint(int action, NodeIndex index) const {
    const std::uint64_t hint = std::min(index, kNoHint);
    hints() = (hints() & ~(std::uint64_t{kNoHint} << hint_shift(action))) | hint << hint_shift(action);
  }
  [[nodiscard]] double* weights() const { return at<double>(layout_->weights); }
  [[nodiscard]] double* factors() const { return at<double>(layout_->factors); }
  [[nodiscard]] double reward(int action) const { return reward_of_factor(factors()[action]); }
  [[nodiscard]] double* priors() const { return at<double>(layout_->prior); }
  [[nodiscard]] NodeIndex* links(int action) const {
    auto* const links = at<NodeIndex>(kHeaderBytes);
    // Each node of a path waits for this address; a product would make the wait longer.
    if (layout_->num_children == 1) [[likely]]
      return links + action;
    return links + static_cast<std::ptrdiff_t>(action) * layout_->num_children;
  }
  [[nodiscard]] bool has_stamps() const { return layout_->has_stamps; }
  [[nodiscard]] std::uint32_t& changed_at() const { return at<std::uint32_t>(layout_->stamps)[0]; }
  [[nodiscard]] std::uint32_t& refreshed_at() const { return at<std::uint32_t>(layout_->stamps)[1]; }

  // Visits and flags of all edges as they are stored.
  [[nodiscard]] const std::uint32_t* edges() const { return at<std::uint32_t>(layout_->visits); }
  [[nodiscard]] std::uint32_t visits(int action) const { return edge(action) & kVisitsMask; }
  void add_visit(int action) const {
    if ((edge(action) & kVisitsMask) != kVisitsMask) ++edge(action);
  }
  [[nodiscard]] bool is_expanded(int action) const { return (edge(action) & kExpanded) != 0; }
  [[nodiscard]] bool is_complete(int action) const { return (edge(action) & kComplete) != 0; }
  void set_expanded(int action) const { edge(action) |= kExpanded; }
  void set_complete(int action) const {
    edge(action) |= kComplete;
    if (are_all_complete()) set_choice(kNoChoice);
  }
  [[nodiscard]] bool is_complete() const { return *at<std::uint8_t>(8) == kNoSmallChoice; }
  [[nodiscard]] bool are_all_complete() const {
    std::uint32_t common = kComplete;
    for (int a = 0; a < num_states(); ++a) common &= edge(a);
    return common != 0;
  }

  // Sum of the weights, always from all of them: updating a sum by differences loses it to cancellation.
  [[nodiscard]] double sum() const {
    return with_num_states(num_states(), [w = weights()](auto num_states) {
      double total = w[0];
      for (int a = 1; a < num_states; ++a) total += w[a];
      return total;
    });
  }

  // Makes this block a copy of another one of its level.
  void copy_from(const Node& other) const { std::memcpy(block_, other.block_, layout_->size); }

  static constexpr std::uint32_t kHeaderBytes = 16;
  static constexpr std::uint8_t kNoSmallChoice = 0xff;
  static constexpr std::uint8_t kWideChoice = 0xfe;  // the choice is in the last four bytes
  static constexpr NodeIndex kNoHint = (1U << 28) - 1;
  static constexpr int kFirstLevelWithHints = 12;  // with K = 2 the levels above have 4095 nodes, which stay in a cache
  static constexpr std::uint32_t kExpanded = 1U << 31;
  static constexpr std::uint32_t kComplete = 1U << 30;
  static constexpr std::uint32_t kVisitsMask = kComplete - 1;

 private:
  template <class T>
  [[nodiscard]] T* at(std::uint32_t offset) const {
    return reinterpret_cast<T*>(block_ + offset);
  }
  [[nodiscard]] std::uint64_t& hints() const { return *at<std::uint64_t>(8); }
  static int hint_shift(int action) { return 8 + 28 * action; }
  [[nodiscard]] std::uint32_t& edge(int action) const { return at<std::uint32_t>(layout_->visits)[action]; }

  std::byte* block_ = nullptr;
  const BlockLayout* layout_ = nullptr;
};

// Can values below an edge of this level change without a visit of the node?
bool has_shared_children(const SearchSpace& space, int level);

class NodeStore {
 public:
  NodeStore(std::shared_ptr<const SearchSpace> space, bool has_prior);

  [[nodiscard]] const SearchSpace& space() const { return *space_; }
  [[nodiscard]] bool has_prior() const { return has_prior_; }
  [[nodiscard]] Node node(int level, NodeIndex index) const {
    const LevelStore& store = levels_[level];
    return {store.blocks + std::size_t{index} * store.layout.size, &store.layout};
  }
  // Asks for a node's first line of the cache.
  [[gnu::always_inline]] void prefetch(int level, NodeIndex index) const {
    const LevelStore& store = levels_[level];
    __builtin_prefetch(store.blocks + std::size_t{index} * store.layout.size);
  }
  [[nodiscard]] std::uint32_t num_nodes(int level) const { return levels_[level].count; }

  // A copy of the level's blank node. Throws kResource when 32 bits or memory do not suffice.
  NodeIndex create(int level);
  // What a new node looks like: no visits, no links, no weights; the search fills in its prior.
  [[nodiscard]] Node blank(int level) { return {levels_[level].blank.get(), &levels_[level].layout}; }
  // V of a node that has no block, by the uniform prior: log K + log_states_below.
  [[nodiscard]] double prior_value(int level) const { return levels_[level].prior_value; }
  [[nodiscard]] const ScaledValue& scaled_prior_value(int level) const { return levels_[level].scaled_prior_value; }
  // For shared levels: the node with the context that x gives it, kNoNode if there is none.
  NodeIndex& find_or_insert(int level, std::span<const int> x);

  [[nodiscard]] std::uint64_t num_nodes() const;
  // Bytes that are in use by nodes, and bytes held in all (growing ahead, look-up tables).
  [[nodiscard]] std::size_t used_bytes() const;
  [[nodiscard]] std::size_t held_bytes() const { return held_bytes_; }

  // The virtual edge above the roots, which Algorithm 2 backs up as n = 0: a link per root.
  std::vector<NodeIndex>& root_links() { return root_links_; }
  [[nodiscard]] const std::vector<NodeIndex>& root_links() const { return root_links_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  struct LevelStore {
    BlockLayout layout;
    std::byte* blocks = nullptr;  // the first line of the cache in `memory`
    double prior_value = 0.0;
    ScaledValue scaled_prior_value;
    std::unique_ptr<std::byte, Free> memory;
    std::unique_ptr<std::byte, Free> blank;
    std::uint32_t count = 0;
    std::uint32_t capacity = 0;
  };

  void grow(LevelStore& store);

  std::shared_ptr<const SearchSpace> space_;
  bool has_prior_;
  std::vector<LevelStore> levels_;
  std::vector<ContextTable> contexts_;
  std::vector<NodeIndex> root_links_;
  std::size_t held_bytes_ = 0;
};

}  // namespace treesample
