// A node of the tree search as a block of bytes, and views of it.
//
// A block of a level with K states is
//
//   int32     unit               u: the weights below are in units of 2^(256 u)
//   uint8     choice             the action that q_uct chose last; 0xff = the node is complete, 0xfe = see below
//   byte[3]                      a choice of 0xfe or more
//   byte[2][13]                  hints for fetching ahead, from byte 6 on; only where all levels have two states
//   uint32    link[K]            index of the child's block; close to the choice, because a descent waits first for
//                                the choice and then for the link
//   uint32    visits[K]          eta, with two flags in the highest bits
//   double    weight[K]          exp(Q(a)) / 2^(256 u)
//   double    log_weight[K]      its logarithm, so that a visit computes only one logarithm; not in binary stores
//   double    factor[K]          exp(R), once the edge is expanded (see factor_of_reward); only where the search cannot
//                                look it up (see reward_tables.hpp), or where other nodes of the same size need it
//   double    q_phi[K]           Q_phi(a); only when it is not uniform
//
// In a binary store no variable has more than two states. One logarithm per visit, that of the quotient of the weights,
// is then enough, and none is stored. A weight below kLeastWeight is stored as its logarithm, which is negative.
//
// With factors looked up and a uniform Q_phi a node has 64 bytes for K = 2, one cache line, and 128 for K = 5. Values
// are kept in the linear domain, because a chained log-sum-exp per level of a backup would cost several times as much
// as the rest of it. The unit changes when a sum leaves a wide range (rebase).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "tree/tree_number.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/store/store_view.hpp"

namespace treesample {

inline constexpr std::uint32_t kNoChoice = UINT32_MAX;

// Calls f with the number of states as a constant, so that loops over states unroll; 0 for unusual numbers.
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

// Offsets in bytes from the start of a block. Those that the constructor sets depend only on its arguments.
struct BlockLayout {
  constexpr BlockLayout(int k, bool keeps_logs, bool has_hints) : num_states(k), has_logs(keeps_logs) {
    const auto num_edges = static_cast<std::uint32_t>(k);
    links = has_hints ? 32 : 8;
    visits = links + 4 * num_edges;
    weights = (visits + 4 * num_edges + 7) / 8 * 8;
    log_weights = weights + 8 * num_edges;
    factors = log_weights + (has_logs ? 8 * num_edges : 0);
  }

  int num_states = 1;
  std::uint32_t links = 0;
  std::uint32_t visits = 0;
  std::uint32_t weights = 0;
  std::uint32_t log_weights = 0;
  std::uint32_t factors = 0;
  bool has_logs = true;

  std::uint32_t q_phi = 0;
  std::uint32_t size = 0;
  bool has_factors = true;
};

// The number of states of all nodes of a store as a compile-time constant (0: not constant). The compiler then knows
// the offsets, which saves a tenth of the time of a search with K = 2.
template <int kStates>
struct NodeShape {
  static constexpr int kNumStates = kStates;
  static constexpr bool kHasHints = kStates == 2;

  static constexpr int num_states(const BlockLayout& own) { return kStates > 0 ? kStates : own.num_states; }
  static constexpr bool has_logs(const BlockLayout& own) { return kStates > 0 ? kStates > 2 : own.has_logs; }
  static constexpr const BlockLayout& layout(const BlockLayout& own) {
    if constexpr (kStates > 0) {
      return kLayout;
    } else {
      return own;
    }
  }

 private:
  static constexpr BlockLayout kLayout{kStates, kStates > 2, kHasHints};
};
using AnyShape = NodeShape<0>;

// The nodes two to five levels below a node that the next traversal through an edge will reach. They follow from the
// choices at the time when the edge was last taken, because no other traversal changes these choices. Each node takes
// 26 bits, the nearest one the lowest: 104 bits, of which `low` has the lowest 64 and `high` the highest 64.
struct NodeHints {
  static constexpr int kFarthest = 5;
  static constexpr int kBits = 26;
  static constexpr NodeIndex kNone = (1U << kBits) - 1;  // there is no node, or its index needs more bits

  std::uint64_t low = ~std::uint64_t{0};
  std::uint64_t high = ~std::uint64_t{0};

  // The hints for an edge whose child is `child`, where the child's chosen edge has these hints.
  [[nodiscard]] NodeHints behind(NodeIndex child) const {
    return {low << kBits | std::min(child, kNone), high << kBits | low >> (kHighBegin - kBits)};
  }
  [[nodiscard]] NodeIndex farthest() const { return static_cast<NodeIndex>(high >> (64 - kBits)); }

  static constexpr int kNumBytes = 4 * kBits / 8;
  static constexpr int kHighBegin = 4 * kBits - 64;  // the lowest bit of `high`
};

// A view of one block. Cheap to copy; valid until the store grows (TreeStore::make_room).
template <class Shape>
class BasicNode {
 public:
  BasicNode() = default;
  BasicNode(std::byte* block, const BlockLayout* layout) : block_(block), layout_(layout) {}
  // The same node as a view whose number of states is known only at run time.
  [[nodiscard]] BasicNode<AnyShape> any() const { return {block_, layout_}; }
  static constexpr int kNumStates = Shape::kNumStates;
  static constexpr bool kHasHints = Shape::kHasHints;

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
  // Only for shapes that have hints.
  [[nodiscard]] NodeHints hints(int action) const {
    NodeHints hints;
    std::memcpy(&hints.low, hint_place(action), 8);
    std::memcpy(&hints.high, hint_place(action) + NodeHints::kNumBytes - 8, 8);
    return hints;
  }
  void set_hints(int action, const NodeHints& hints) const {
    std::memcpy(hint_place(action), &hints.low, 8);
    std::memcpy(hint_place(action) + NodeHints::kNumBytes - 8, &hints.high, 8);
  }

  [[nodiscard]] bool has_logs() const { return Shape::has_logs(*layout_); }
  // The numbers as stored, for callers that know whether logarithms are kept.
  [[nodiscard]] double* stored_weights() const { return at<double>(known().weights); }
  [[nodiscard]] double* stored_logs() const { return at<double>(known().log_weights); }
  [[nodiscard]] double weight(int action) const {
    const double stored = stored_weights()[action];
    return has_logs() ? stored : std::max(stored, 0.0);
  }
  void copy_weights(std::span<double> to) const {
    for (int a = 0; a < num_states(); ++a) to[static_cast<std::size_t>(a)] = weight(a);
  }
  // Correct even if a weight is too small for a double.
  [[nodiscard]] double log_weight(int action) const {
    if (has_logs()) return stored_logs()[action];
    const double stored = stored_weights()[action];
    return stored > 0.0 ? std::log(stored) : stored;
  }
  void set_weight(int action, double weight, double log) const {
    if (has_logs()) stored_logs()[action] = log;
    stored_weights()[action] = has_logs() || weight >= kLeastWeight ? weight : log;
  }
  [[nodiscard]] bool is_impossible(int action) const {
    return (has_logs() ? stored_logs() : stored_weights())[action] == kNegInf;
  }
  // Q(a) of the paper.
  [[nodiscard]] double q(int action) const { return TreeNumber::log_from_unit(log_weight(action), unit()); }
  [[nodiscard]] bool has_factors() const { return layout_->has_factors; }
  [[nodiscard]] double* factors() const { return at<double>(known().factors); }
  [[nodiscard]] double* q_phi() const { return at<double>(layout_->q_phi); }
  [[nodiscard]] NodeIndex& link(int action) const { return at<NodeIndex>(known().links)[action]; }

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

  // The sum of the weights, always computed from all of them: updating it by differences would lose it to cancellation.
  [[nodiscard]] double sum() const {
    return with_num_states(num_states(), [this](auto known) {
      const int num_states = known > 0 ? static_cast<int>(known) : this->num_states();
      double total = weight(0);
      for (int a = 1; a < num_states; ++a) total += weight(a);
      return total;
    });
  }

  // Makes this block a copy of another one of its level.
  void copy_from(const BasicNode& other) const { std::memcpy(block_, other.block_, layout_->size); }

  static constexpr std::uint8_t kNoSmallChoice = 0xff;
  static constexpr std::uint8_t kWideChoice = 0xfe;  // the choice is in the three bytes after this one
  static constexpr std::uint32_t kExpanded = 1U << 31;
  static constexpr std::uint32_t kComplete = 1U << 30;
  static constexpr std::uint32_t kVisitsMask = kComplete - 1;

 private:
  [[nodiscard]] const BlockLayout& known() const { return Shape::layout(*layout_); }
  template <class T>
  [[nodiscard]] T* at(std::uint32_t offset) const {
    return reinterpret_cast<T*>(block_ + offset);
  }
  [[nodiscard]] std::byte* hint_place(int action) const {
    return block_ + 6 + std::ptrdiff_t{NodeHints::kNumBytes} * action;
  }
  [[nodiscard]] std::uint32_t& edge(int action) const { return at<std::uint32_t>(known().visits)[action]; }

  std::byte* block_ = nullptr;
  const BlockLayout* layout_ = nullptr;
};
using Node = BasicNode<AnyShape>;
// A node whose number of states the compiler knows (with_num_states).
template <int kStates>
using SizedNode = BasicNode<NodeShape<kStates>>;

}  // namespace treesample
