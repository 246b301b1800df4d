#include "tree/choices.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "math/dispatched.hpp"
#include "math/ties.hpp"
#include "math/vector_kernels.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// 1 + eta from an edge's word. It is computed through the bits of 2^52, because not every instruction set can convert
// the integer.
inline double visits_and_one(std::uint64_t edge) {
  return std::bit_cast<double>((edge & Node::kVisitsMask) | 0x4330000000000000) - (0x1.0p52 - 1.0);
}

// True if all incomplete edges may have Q = -inf, which happens when Q_phi is -inf.
bool has_minus_infinity(const Node& node) {
  bool is_any = false;
  for (int a = 0; a < node.num_states(); ++a) is_any = is_any || node.is_impossible(a);
  return is_any;
}

// Computes the logarithms of the weights that the path changed, then eq. 7 for the nodes of the blocks, which have at
// most kRows states. The choice is the lowest action whose score ties with the best, or kNoChoice at a complete node.
// Unused columns may hold anything. The scales of action a are in row a & scale_rows.
template <int kRows>
[[gnu::always_inline]] inline void choose_columns(const Choices::Block* blocks, std::size_t num_blocks, int scale_rows,
                                                  std::uint64_t* choices, double* log_weights) {
  for (const Choices::Block* block = blocks; block != blocks + num_blocks; ++block) {
    for (int i = 0; i < Choices::kColumns; ++i) {
      const double changed = log_one(block->changed[i]);
      log_weights[i] = changed;
      double node_visits = 1.0 - kRows;  // the visit that created the node, then one per edge visit
#pragma GCC unroll 8
      for (int a = 0; a < kRows; ++a) node_visits += visits_and_one(block->edges[a][i]);
      const double root = std::sqrt(node_visits);
      double scores[kRows];
#pragma GCC unroll 8
      for (int a = 0; a < kRows; ++a) {
        const std::uint64_t edge = block->edges[a][i];
        const double stored = block->values[a][i];
        // With masks, because the compiler turns conditions that exclude each other into branches.
        const auto mask = static_cast<std::uint64_t>(static_cast<std::int64_t>(edge) >> 63);
        const auto q = std::bit_cast<double>((std::bit_cast<std::uint64_t>(changed) & mask) |
                                             (std::bit_cast<std::uint64_t>(stored) & ~mask));
        const double score = q_uct(q, block->scales[a & scale_rows][i] * root, 1.0 / visits_and_one(edge));
        scores[a] = (edge & Node::kComplete) != 0 ? kNegInf : score;
      }
      double best = kNegInf;
#pragma GCC unroll 8
      for (int a = 0; a < kRows; ++a) best = scores[a] > best ? scores[a] : best;
      const double threshold = best - tie_tolerance(best);
      std::uint64_t choice = 0;
#pragma GCC unroll 8
      for (int a = kRows - 1; a >= 0; --a) choice = scores[a] >= threshold ? static_cast<std::uint64_t>(a) : choice;
      choices[i] = best == kNegInf ? std::uint64_t{kNoChoice} : choice;
    }
    choices += Choices::kColumns;
    log_weights += Choices::kColumns;
  }
}

// The same for binary stores, where the difference of the scores needs only one logarithm.
[[gnu::always_inline]] inline void choose_binary(const Choices::Block* blocks, std::size_t num_blocks, int scale_rows,
                                                 std::uint64_t* choices) {
  for (const Choices::Block* block = blocks; block != blocks + num_blocks; ++block) {
    for (int i = 0; i < Choices::kColumns; ++i) {
      const std::uint64_t edges[] = {block->edges[0][i], block->edges[1][i]};
      const double weights[] = {block->values[0][i], block->values[1][i]};
      // A negative weight is a logarithm. The others are at least kLeastWeight, so their quotient stays in range.
      const double quotient = (weights[0] > 0.0 ? weights[0] : 1.0) / (weights[1] > 0.0 ? weights[1] : 1.0);
      const double q =
          log_one(quotient) + (weights[0] < 0.0 ? weights[0] : 0.0) - (weights[1] < 0.0 ? weights[1] : 0.0);
      const double root = std::sqrt(visits_and_one(edges[0]) + visits_and_one(edges[1]) - 1.0);
      const double score0 = q_uct(q, block->scales[0][i] * root, 1.0 / visits_and_one(edges[0]));
      const double score1 = q_uct(0.0, block->scales[1 & scale_rows][i] * root, 1.0 / visits_and_one(edges[1]));
      const double best = score0 > score1 ? score0 : score1;
      const std::uint64_t by_score = score0 >= best - tie_tolerance(best) ? 0 : 1;
      const std::uint64_t if_open = (edges[1] & Node::kComplete) != 0 ? 0 : by_score;
      const std::uint64_t if_complete = (edges[1] & Node::kComplete) != 0 ? std::uint64_t{kNoChoice} : 1;
      choices[i] = (edges[0] & Node::kComplete) != 0 ? if_complete : if_open;
    }
    choices += Choices::kColumns;
  }
}

TS_DISPATCHED void choose_each(const Choices::Block* __restrict blocks, std::size_t num_blocks, int num_rows,
                               int scale_rows, std::uint64_t* __restrict choices, double* __restrict log_weights) {
  switch (num_rows) {
    case 2:
      return choose_binary(blocks, num_blocks, scale_rows, choices);
    case 3:
      return choose_columns<3>(blocks, num_blocks, scale_rows, choices, log_weights);
    case 4:
      return choose_columns<4>(blocks, num_blocks, scale_rows, choices, log_weights);
    case 5:
      return choose_columns<5>(blocks, num_blocks, scale_rows, choices, log_weights);
    default:
      return choose_columns<Choices::kMostRows>(blocks, num_blocks, scale_rows, choices, log_weights);
  }
}

}  // namespace

Choices::Choices(const TreeStore& store, const TreeSearchOptions& options)
    : store_(store), c_(options.c), epsilon_(options.epsilon), tie_rule_(options.ties), ties_(options.seed, "ties") {
  int most_states = 0;
  for (const Level& level : store.space().levels) {
    level_scales_.push_back(c_ * std::max(level.log_states_below, epsilon_));
    most_states = std::max(most_states, level.num_states);
  }
  q_.resize(most_states);
  is_always_unusual_ = most_states > kMostRows || tie_rule_ == TieRule::kRandom;
  has_unusual_ = is_always_unusual_;
  has_q_phi_ = store.has_q_phi();
  is_scaled_by_q_phi_ = has_q_phi_ && options.bonus == BonusScale::kQPhi;
  num_rows_ = most_states <= 5 ? std::max(most_states, 2) : kMostRows;  // the cases of choose_each
  blocks_.resize(level_scales_.size() / kColumns + 1);
  choices_.resize(blocks_.size() * kColumns);
  log_weights_.resize(choices_.size());
}

void Choices::choose(int level, const Node& node) {
  const int num_states = node.num_states();
  std::int64_t node_visits = 1;
  for (int a = 0; a < num_states; ++a) node_visits += node.visits(a);
  const double root = std::sqrt(static_cast<double>(node_visits));
  double best = kNegInf;
  for (int a = 0; a < num_states; ++a) {
    if (node.is_complete(a)) {
      q_[a] = kNegInf;
      continue;
    }
    const double scale = is_scaled_by_q_phi_ ? c_ * std::max(node.q_phi()[a], epsilon_) : level_scales_[level];
    q_[a] = q_uct(node.log_weight(a), scale * root, 1.0 / (1.0 + node.visits(a)));
    best = std::max(best, q_[a]);
  }
  const double threshold = best - tie_tolerance(best);
  int num_ties = 0;
  std::uint32_t choice = kNoChoice;
  for (int a = 0; a < num_states; ++a) {
    if (node.is_complete(a) || q_[a] < threshold) continue;
    if (num_ties++ == 0 || (tie_rule_ == TieRule::kRandom && ties_.below(num_ties) == 0)) {
      choice = static_cast<std::uint32_t>(a);
    }
  }
  node.set_choice(choice);
}

void Choices::score(std::size_t length) {
  choose_each(blocks_.data(), (length + kColumns - 1) / kColumns, num_rows_, has_q_phi_ ? kMostRows - 1 : 0,
              choices_.data(), log_weights_.data());
}

void Choices::set_repaired_edge(std::size_t position, const Step<Node>& step) {
  set_node(position, step);
  if (!step.node.has_logs()) return;  // nothing else is needed
  const double weight = step.node.stored_weights()[step.action];
  if (weight >= kLeastWeight) {
    set_edge(position, step, weight);
  } else {
    has_unusual_ = true;
  }
}

void Choices::set_q_phi_scales(Block& block, std::size_t column, const Node& node) {
  const double level_scale = block.scales[0][column];
  for (int a = 0; a < node.num_states(); ++a) {
    block.scales[a][column] = is_scaled_by_q_phi_ ? c_ * std::max(node.q_phi()[a], epsilon_) : level_scale;
  }
  has_unusual_ = has_unusual_ || has_minus_infinity(node);
}

// For a path with a node that does not fit into a column.
void Choices::choose_slowly(std::size_t position, int level, const Node& node, int action) {
  const bool has_logs = node.has_logs();
  const double weight = node.stored_weights()[action];
  if (tie_rule_ == TieRule::kRandom || node.num_states() > num_rows_ || (has_logs && weight < kLeastWeight) ||
      (has_q_phi_ && has_minus_infinity(node))) {
    if (has_logs && weight >= kLeastWeight) node.stored_logs()[action] = std::log(weight);
    choose(level, node);
  } else {
    if (has_logs) node.stored_logs()[action] = log_weights_[position];
    node.set_choice(static_cast<std::uint32_t>(choices_[position]));
  }
}

}  // namespace treesample
