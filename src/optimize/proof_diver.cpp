#include "optimize/proof_diver.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "optimize/root_bound.hpp"
#include "treesample/space/order.hpp"

namespace treesample {
namespace {

constexpr std::int64_t kFirstDive = 16, kLongestDive = 16384;  // contradictions of a search from one open node
constexpr double kMostRepeated = 0.1, kFewestRepeated = 0.05;  // share of nodes that are made again: dives adapt
// Of the distance between the bounds at the root: a smaller gain is not worth the work.
constexpr Cost kGrains = Cost{1} << 9;

// The line of the variables: what is eliminated first comes last, so that costs go to what it leaves behind.
std::vector<int> line_of(const CostTables& tables, std::uint64_t seed, const ShouldStop& should_stop) {
  Adjacency adjacency(tables.num_states.size());
  for (const CostTable& table : tables.tables) {
    for (const int v : table.scope) {
      for (const int u : table.scope) {
        if (u != v) adjacency[v].push_back(u);
      }
    }
  }
  for (std::vector<int>& neighbours : adjacency) {
    std::sort(neighbours.begin(), neighbours.end());
    neighbours.erase(std::unique(neighbours.begin(), neighbours.end()), neighbours.end());
  }
  Random ties(seed, "line of costs");
  std::vector<int> line = elimination_order(adjacency, OrderKind::kMinFill, ties, {.should_stop = should_stop});
  std::reverse(line.begin(), line.end());
  return line;
}

}  // namespace

ProofDiver::ProofDiver(ProofBoard& board)
    : board_(board),
      line_(line_of(board.tables(), board.options().seed, board.options().should_stop)),
      network_(board.tables()),
      consistency_(network_, line_),
      weights_(static_cast<std::size_t>(network_.num_functions()), 1.0),
      dive_length_(kFirstDive),
      part_of_(line_.size(), -1) {
  network_.set_top(board.top());
}

ProofDiver::ProofDiver(const ProofDiver& root)
    : board_(root.board_),
      line_(root.line_),
      network_(root.network_),
      consistency_(network_, line_),
      weights_(static_cast<std::size_t>(network_.num_functions()), 1.0),
      dive_length_(kFirstDive),
      part_of_(line_.size(), -1) {
  consistency_.set_grain(root.consistency_.grain());
}

bool ProofDiver::begin(StopCheck& stop) {
  const bool is_possible = raise_bottom(network_, line_, {}, stop);
  consistency_.set_grain(std::max<Cost>(1, (network_.top() - network_.bottom()) / kGrains));
  return is_possible && consistency_.propagate_all(stop);
}

// Back to where an open node was left.
bool ProofDiver::replay(StopCheck& stop) {
  path_.clear();
  bounds_.clear();
  network_.mark();
  for (const BranchDecision& decision : board_.decisions(from_)) {
    ++num_repeated_;
    const bool is_possible = decision.is_equal ? network_.assign(decision.variable, decision.state)
                                               : !network_.has(decision.variable, decision.state) ||
                                                     (network_.remove(decision.variable, decision.state) &&
                                                      network_.lift(decision.variable));
    if (!is_possible) return false;
  }
  return consistency_.propagate(stop);
}

void ProofDiver::dive(const OpenNodes::Node& node, StopCheck& stop) {
  from_ = node;
  hint_ = board_.first();
  network_.set_top(board_.top());
  const std::int64_t first = num_contradictions_;
  std::optional<Cost> end;
  bool is_possible = replay(stop);
  while (true) {
    network_.set_top(board_.top());
    if (is_possible && looks_for_parts()) is_possible = fix_parts(network_.open(), path_, stop);
    bounds_.resize(path_.size(), network_.bottom());
    if (stop.is_asked(1)) {
      if (is_possible) end = network_.bottom();
      break;
    }
    if (is_possible && network_.open().empty()) {
      take_solution();
      is_possible = false;
    } else if (!is_possible) {
      note_contradiction();
    }
    if (!is_possible) {
      if (path_.empty() || (num_contradictions_ - first >= dive_length_ && board_.has_room())) break;
      if (!step_back(path_)) break;
      bounds_.resize(path_.size());
      is_possible = network_.bottom() < network_.top() && decide(path_.back(), stop);
      continue;
    }
    ++num_nodes_;
    const int v = choose_variable(network_.open());
    const BranchDecision decision{v, choose_state(v)};
    path_.push_back(decision);
    bounds_.push_back(network_.bottom());
    last_variable_ = v;
    network_.mark();
    is_possible = decide(decision, stop);
  }
  while (network_.num_marks() > 0) network_.undo();
  board_.give_back(from_, path_, bounds_, end);
  const double repeated = static_cast<double>(num_repeated_) / static_cast<double>(num_nodes_ + 1);
  if (repeated > kMostRepeated) dive_length_ = std::min(2 * dive_length_, kLongestDive);
  if (repeated < kFewestRepeated) dive_length_ = std::max(dive_length_ / 2, kFirstDive);
}

bool ProofDiver::decide(const BranchDecision& decision, StopCheck& stop) {
  const bool is_possible = decision.is_equal
                               ? network_.assign(decision.variable, decision.state)
                               : network_.remove(decision.variable, decision.state) && network_.lift(decision.variable);
  return is_possible && consistency_.propagate(stop);
}

// To the last decision that has another side, which is taken next. False: there is none.
bool ProofDiver::step_back(std::vector<BranchDecision>& path) {
  while (!path.empty() && !path.back().has_other()) path.pop_back();
  if (path.empty()) return false;
  network_.undo();
  path.back().is_equal = false;
  last_variable_ = path.back().variable;
  return true;
}

void ProofDiver::note_contradiction() {
  ++num_contradictions_;
  const int f = consistency_.last_function();
  if (f >= 0) weights_[f] += 1.0;
}

void ProofDiver::take_solution() {
  Assignment x(static_cast<std::size_t>(network_.num_variables()));
  for (int v = 0; v < network_.num_variables(); ++v) x[v] = network_.states(v)[0];
  board_.offer(std::move(x));
  hint_ = board_.first();
  network_.set_top(board_.top());
}

int ProofDiver::choose_variable(std::span<const int> among) const {
  const bool is_last_open = last_variable_ >= 0 && network_.size(last_variable_) > 1;
  if (is_last_open && std::find(among.begin(), among.end(), last_variable_) != among.end()) return last_variable_;
  int chosen = -1;
  double least = HUGE_VAL;
  for (const int v : among) {
    if (network_.size(v) == 1) continue;
    double weight = 1.0;
    for (const CostNetwork::Use& use : network_.uses(v)) weight += weights_[use.function];
    Cost most = 0;
    for (const int s : network_.states(v)) most = std::max(most, network_.unary(v, s));
    const double gap = static_cast<double>(network_.top() - network_.bottom());
    const double score = network_.size(v) / (weight * (1.0 + 8.0 * static_cast<double>(most) / gap));
    if (score >= least) continue;
    least = score;
    chosen = v;
  }
  return chosen;
}

int ProofDiver::choose_state(int v) const {
  int chosen = -1;
  for (const int s : network_.states(v)) {
    if (chosen < 0 || network_.unary(v, s) < network_.unary(v, chosen) ||
        (network_.unary(v, s) == network_.unary(v, chosen) && s == hint_[v]))
      chosen = s;
  }
  return chosen;
}

}  // namespace treesample
