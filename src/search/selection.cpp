#include "search/selection.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "math/dispatched.hpp"
#include "math/vector_kernels.hpp"
#include "search/q_uct.hpp"
#include "search/soft_bellman.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// Below this a weight has lost bits; its logarithm is then taken from the edge itself.
constexpr double kLeastWeight = 1e-300;

// 1 + eta from an edge's word. Through the bits of 2^52, because not every instruction set converts.
inline double visits_and_one(std::uint64_t edge) {
  return std::bit_cast<double>((edge & Node::kVisitsMask) | 0x4330000000000000) - (0x1.0p52 - 1.0);
}

// Eq. 8 for the nodes of the blocks, of at most kRows states: the lowest action whose score ties with
// the best, -1 at complete nodes. True when some weight is tiny. What unused columns hold does not matter.
template <int kRows>
[[gnu::always_inline]] inline bool choose_columns(const Selection::Block* blocks, std::size_t num_blocks,
                                                  double* choices) {
  constexpr auto kLeastBits = std::bit_cast<std::uint64_t>(kLeastWeight);
  std::uint64_t differences = 0;  // the highest bit is set by any negative one
  for (const Selection::Block* block = blocks; block != blocks + num_blocks; ++block) {
    for (int i = 0; i < Selection::kColumns; ++i) {
      double node_visits = 1.0 - kRows;  // the visit that created the node, then one per edge visit
#pragma GCC unroll 8
      for (int a = 0; a < kRows; ++a) node_visits += visits_and_one(block->edges[a][i]);
      const double root = std::sqrt(node_visits);
      double scores[kRows];
#pragma GCC unroll 8
      for (int a = 0; a < kRows; ++a) {
        const std::uint64_t edge = block->edges[a][i];
        const double stored = block->weights[a][i];
        const double bonus = block->scales[a][i] * root;
        const bool is_complete = (edge & Node::kComplete) != 0;
        const double weight = is_complete ? 1.0 : stored;
        differences |= std::bit_cast<std::uint64_t>(weight) - kLeastBits;
        const auto [q, share] = log_and_inverse(weight, visits_and_one(edge));
        const double score = q_uct(q, bonus, share);
        scores[a] = is_complete ? kNegInf : score;
      }
      double best = kNegInf;
#pragma GCC unroll 8
      for (int a = 0; a < kRows; ++a) best = scores[a] > best ? scores[a] : best;
      const double threshold = best - tie_tolerance(best);
      double choice = 0.0;
#pragma GCC unroll 8
      for (int a = kRows - 1; a >= 0; --a) choice = scores[a] >= threshold ? a : choice;
      choices[i] = best == kNegInf ? -1.0 : choice;
    }
    choices += Selection::kColumns;
  }
  return (differences >> 63) != 0;
}

TS_DISPATCHED bool choose_each(const Selection::Block* __restrict blocks, std::size_t num_blocks, int num_rows,
                               double* __restrict choices) {
  switch (num_rows) {
    case 2:
      return choose_columns<2>(blocks, num_blocks, choices);
    case 3:
      return choose_columns<3>(blocks, num_blocks, choices);
    case 4:
      return choose_columns<4>(blocks, num_blocks, choices);
    case 5:
      return choose_columns<5>(blocks, num_blocks, choices);
    default:
      return choose_columns<Selection::kMostRows>(blocks, num_blocks, choices);
  }
}

}  // namespace

Selection::Selection(const NodeStore& store, const SearchOptions& options)
    : store_(store), c_(options.c), epsilon_(options.epsilon), tie_rule_(options.ties), ties_(options.seed, "ties") {
  int most_states = 0;
  for (const Level& level : store.space().levels) {
    level_scales_.push_back(c_ * std::max(level.log_states_below, epsilon_));
    most_states = std::max(most_states, level.num_states);
  }
  q_.resize(most_states);
  has_wide_nodes_ = most_states > kMostRows;
  num_rows_ = most_states <= 5 ? std::max(most_states, 2) : kMostRows;  // the cases of choose_each
  blocks_.resize(level_scales_.size() / kColumns + 1);
  choices_.resize(blocks_.size() * kColumns);
  for (Block& block : blocks_) std::fill_n(block.weights[0], kMostRows * kColumns, 1.0);
}

int Selection::choose_component(std::span<const int> levels, const NodeIndex* links) const {
  if (is_complete(store_, levels, links)) return -1;
  int chosen = -1;
  std::uint64_t fewest = UINT64_MAX;
  for (std::size_t j = 0; j < levels.size(); ++j) {
    std::uint64_t visits = 0;
    if (links[j] != kNoNode) {
      const Node child = store_.node(levels[j], links[j]);
      if (child.is_complete()) continue;
      for (int a = 0; a < child.num_states(); ++a) visits += child.visits(a);
    }
    if (visits < fewest) {
      fewest = visits;
      chosen = static_cast<int>(j);
    }
  }
  return chosen;
}

void Selection::choose(int level, const Node& node) {
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
    const double weight = node.weights()[a];
    const double q = weight < kLeastWeight
                         ? ScaledValue::unscaled_log(edge_log_value(store_, level, node, a), node.exponent())
                         : std::log(weight);
    const double scale = store_.has_prior() ? c_ * std::max(node.priors()[a], epsilon_) : level_scales_[level];
    q_[a] = q_uct(q, scale * root, 1.0 / (1.0 + node.visits(a)));
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

void Selection::choose_all(std::span<const Step> path) {
  const bool one_by_one = tie_rule_ == TieRule::kRandom;
  bool has_unusual = one_by_one || has_wide_nodes_;
  if (!one_by_one) {
    const double* const choices = choices_.data();
    has_unusual |= choose_each(blocks_.data(), (path.size() + kColumns - 1) / kColumns, num_rows_, choices_.data());
    for (std::size_t i = 0; i < path.size(); ++i) {
      path[i].node.set_choice(static_cast<std::uint32_t>(static_cast<std::int32_t>(choices[i])));
    }
  }
  if (!has_unusual) return;
  for (const auto& [node, level, action] : path) {
    if (one_by_one || !is_usual(node)) choose(level, node);
  }
}

// Could the node be scored as a column?
bool Selection::is_usual(const Node& node) const {
  bool is_usual = node.num_states() <= num_rows_;
  for (int a = 0; a < node.num_states(); ++a) {
    is_usual = is_usual && (node.is_complete(a) || node.weights()[a] >= kLeastWeight);
  }
  return is_usual;
}

}  // namespace treesample
