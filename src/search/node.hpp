// A node of the search as a block of bytes, and views of it.
//
// A block of a level with K states and C children is
//
//   int32     unit               u: the weights below are in units of 2^(256 u)
//   uint8     choice             the action that q_uct chose last; 0xff = the node is complete, 0xfe = see below
//   byte[3]                      a choice of 0xfe or more; K = 2: byte[11], hints for fetching ahead
//   uint32    link[K][C]         index of the child's block, per child level; close to the choice, because a descent
//                                waits for the one and then the other; one per edge also where C = 0
//   uint32    visits[K]          eta, with two flags in the highest bits
//   double    weight[K]          exp(Q(a)) / 2^(256 u)
//   double    log_weight[K]      its logarithm, so that only one has to be taken per visit
//   double    factor[K]          exp(R), once the edge is expanded (see factor_of_reward); only where the search cannot
//                                look it up (see reward_tables.hpp)
//   double    prior[K]           Q_phi(a); only when the prior is not uniform
//   uint32    changed_at         time stamps, only at levels that are shared or have shared children:
//   uint32    refreshed_at       an edge is stale if a child changed after the node was refreshed
//
// With factors looked up and a uniform prior these are 64 bytes for K = 2, C = 1, one line of the cache, and 128 for
// K = 5. Values are kept in the linear domain, because a chained log-sum-exp per level of a backup would cost several
// times the rest of it. The unit moves when a sum leaves a wide range (rebase).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "search/context_table.hpp"
#include "search/scaled_value.hpp"

namespace treesample {

inline constexpr std::uint32_t kNoChoice = UINT32_MAX;

// Calls f with the number of states as a constant, 0 for the unusual ones: loops over them then unroll.
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
      return f(std::integral_constant<int, 0>());
  }
}

// Offsets in bytes from the start of a block. Those that the constructor sets depend on its arguments alone.
struct BlockLayout {
  constexpr BlockLayout(int k, int c) : num_states(k), links_per_edge(std::max(c, 1)) {
    const auto num_edges = static_cast<std::uint32_t>(k);
    links = k == 2 ? 16 : 8;  // the hints are before them
    visits = links + 4 * num_edges * static_cast<std::uint32_t>(links_per_edge);
    weights = (visits + 4 * num_edges + 7) / 8 * 8;
    log_weights = weights + 8 * num_edges;
    factors = log_weights + 8 * num_edges;
  }

  int num_states = 1;
  int links_per_edge = 1;  // one also where there is no child, so that levels look alike
  std::uint32_t links = 0;
  std::uint32_t visits = 0;
  std::uint32_t weights = 0;
  std::uint32_t log_weights = 0;
  std::uint32_t factors = 0;

  std::uint32_t prior = 0;
  std::uint32_t stamps = 0;
  std::uint32_t size = 0;
  bool has_factors = true;
  bool has_stamps = false;
};

// What the compiler may know of all nodes of a store: their number of states (0: it does not), and that the levels are
// a path, each the only child of the one above. With both it knows the offsets, which is a tenth of the time of a
// search with K = 2.
template <int kStates, bool kLevelsArePath>
struct NodeShape {
  static constexpr int kNumStates = kStates;
  static constexpr bool kIsPath = kLevelsArePath;
  static constexpr bool kHasHints = kStates == 2 && kIsPath;

  static constexpr int num_states(const BlockLayout& own) { return kStates > 0 ? kStates : own.num_states; }
  static constexpr const BlockLayout& layout(const BlockLayout& own) {
    if constexpr (kStates > 0 && kIsPath) {
      return kLayout;
    } else {
      return own;
    }
  }

 private:
  static constexpr BlockLayout kLayout{kStates, 1};
};
using AnyShape = NodeShape<0, false>;

// The two nodes that come after the child behind an edge, by the choices when it was last taken; kNoHint if there is
// none. In a tree they are the nodes that the next traversal through the edge comes to.
struct NodeHints {
  NodeIndex second, third;
};

// A view of one block. Cheap to copy; valid until a node of the same level is created.
template <class Shape>
class BasicNode {
 public:
  BasicNode() = default;
  BasicNode(std::byte* block, const BlockLayout* layout) : block_(block), layout_(layout) {}
  // The same node, for a shape that it is known to have.
  template <class Known>
  [[nodiscard]] BasicNode<Known> as() const {
    return {block_, layout_};
  }

  [[nodiscard]] int num_states() const { return Shape::num_states(*layout_); }
  [[nodiscard]] std::int32_t& unit() const { return *at<std::int32_t>(0); }
  [[nodiscard]] std::uint32_t choice() const {
    const std::uint8_t small = *at<std::uint8_t>(4);
    if (Shape::kNumStates == 0 && small == kWideChoice) [[unlikely]]
      return *at<std::uint32_t>(4) >> 8;
    return small == kNoSmallChoice ? kNoChoice : small;
  }
  void set_choice(std::uint32_t action) const {
    if (action >= kWideChoice && action != kNoChoice) [[unlikely]] {
      *at<std::uint32_t>(4) = action << 8 | kWideChoice;
    } else {
      *at<std::uint8_t>(4) = static_cast<std::uint8_t>(action);
    }
  }
  // The same for an action below kWideChoice, or kNoChoice.
  void set_small_choice(std::uint64_t action) const { *at<std::uint8_t>(4) = static_cast<std::uint8_t>(action); }
  // Only where K = 2.
  [[nodiscard]] NodeHints hints(int action) const {
    const std::uint64_t both = hint_word(action) >> hint_shift(action);
    return {static_cast<NodeIndex>(both) & kNoHint, static_cast<NodeIndex>(both >> kHintBits) & kNoHint};
  }
  void set_hints(int action, const NodeHints& hints) const {
    const std::uint64_t mask = ((std::uint64_t{1} << 2 * kHintBits) - 1) << hint_shift(action);
    const std::uint64_t both = std::min(hints.second, kNoHint) | std::uint64_t{std::min(hints.third, kNoHint)}
                                                                     << kHintBits;
    const std::uint64_t word = (hint_word(action) & ~mask) | both << hint_shift(action);
    std::memcpy(hint_place(action), &word, sizeof word);
  }
  [[nodiscard]] double* weights() const { return at<double>(known().weights); }
  // Logarithms of the weights, right also where a weight is too small for a double.
  [[nodiscard]] double* log_weights() const { return at<double>(known().log_weights); }
  // Q(a), the paper's.
  [[nodiscard]] double q(int action) const { return ScaledValue::scaled_log(log_weights()[action], unit()); }
  [[nodiscard]] bool has_factors() const { return layout_->has_factors; }
  [[nodiscard]] double* factors() const { return at<double>(known().factors); }
  [[nodiscard]] double* priors() const { return at<double>(layout_->prior); }
  [[nodiscard]] NodeIndex* links(int action) const {
    auto* const links = at<NodeIndex>(known().links);
    // Each node of a path waits for this address; a product would make the wait longer.
    if (known().links_per_edge == 1) [[likely]]
      return links + action;
    return links + static_cast<std::ptrdiff_t>(action) * known().links_per_edge;
  }
  [[nodiscard]] bool has_stamps() const { return layout_->has_stamps; }
  [[nodiscard]] std::uint32_t& changed_at() const { return at<std::uint32_t>(layout_->stamps)[0]; }
  [[nodiscard]] std::uint32_t& refreshed_at() const { return at<std::uint32_t>(layout_->stamps)[1]; }

  // Visits and flags of all edges as they are stored.
  [[nodiscard]] const std::uint32_t* edges() const { return at<std::uint32_t>(known().visits); }
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
  [[nodiscard]] bool is_complete() const { return *at<std::uint8_t>(4) == kNoSmallChoice; }
  [[nodiscard]] bool are_all_complete() const {
    std::uint32_t common = kComplete;
    for (int a = 0; a < num_states(); ++a) common &= edge(a);
    return common != 0;
  }

  // Sum of the weights, always from all of them: updating a sum by differences loses it to cancellation.
  [[nodiscard]] double sum() const {
    return with_num_states(num_states(), [this](auto known) {
      const double* const w = weights();
      const int num_states = known > 0 ? static_cast<int>(known) : this->num_states();
      double total = w[0];
      for (int a = 1; a < num_states; ++a) total += w[a];
      return total;
    });
  }

  // Makes this block a copy of another one of its level.
  void copy_from(const BasicNode& other) const { std::memcpy(block_, other.block_, layout_->size); }

  static constexpr std::uint8_t kNoSmallChoice = 0xff;
  static constexpr std::uint8_t kWideChoice = 0xfe;  // the choice is in the three bytes after this one
  static constexpr int kHintBits = 22;
  static constexpr NodeIndex kNoHint = (1U << kHintBits) - 1;
  static constexpr std::uint32_t kExpanded = 1U << 31;
  static constexpr std::uint32_t kComplete = 1U << 30;
  static constexpr std::uint32_t kVisitsMask = kComplete - 1;

 private:
  [[nodiscard]] const BlockLayout& known() const { return Shape::layout(*layout_); }
  template <class T>
  [[nodiscard]] T* at(std::uint32_t offset) const {
    return reinterpret_cast<T*>(block_ + offset);
  }
  // Of the 88 bits from byte 5 on, edge 0 has the first 44, edge 1 the others: those above bit 20 from byte 8 on.
  [[nodiscard]] std::byte* hint_place(int action) const { return block_ + 5 + std::ptrdiff_t{3} * action; }
  [[nodiscard]] std::uint64_t hint_word(int action) const {
    std::uint64_t word = 0;
    std::memcpy(&word, hint_place(action), sizeof word);
    return word;
  }
  static int hint_shift(int action) { return 20 * action; }
  [[nodiscard]] std::uint32_t& edge(int action) const { return at<std::uint32_t>(known().visits)[action]; }

  std::byte* block_ = nullptr;
  const BlockLayout* layout_ = nullptr;
};
using Node = BasicNode<AnyShape>;

}  // namespace treesample
