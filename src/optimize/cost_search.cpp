#include "optimize/cost_search.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "optimize/cost_network.hpp"
#include "optimize/cost_reduction.hpp"
#include "optimize/open_nodes.hpp"
#include "optimize/root_bound.hpp"
#include "optimize/soft_consistency.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/space/order.hpp"

namespace treesample {
namespace {

constexpr std::int64_t kFirstDive = 16, kLongestDive = 16384;  // contradictions of a search from one open node
constexpr double kMostRepeated = 0.1, kFewestRepeated = 0.05;  // share of nodes that are made again: dives adapt

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

// Of the distance between the bounds at the root: a smaller gain is not worth the work.
constexpr Cost kGrains = Cost{1} << 9;

}  // namespace

struct CostSearch::State {
  State(const FactorGraph& model, const Configuration& known, const Options& chosen)
      : graph(model),
        options(chosen),
        tables(cost_tables(model, known)),
        reduction(tables),
        line(line_of(tables, chosen.seed, chosen.should_stop)),
        network(tables),
        consistency(network, line),
        weights(static_cast<std::size_t>(network.num_functions()), 1.0),
        open(chosen.bytes) {
    // Where costs come in steps, all that is less than a step better is nothing better.
    const double better = tables.step > 0.0 ? 0.9 * (tables.step - 2.0 * tables.step_error - tables.rounding) : 0.0;
    slack = units(std::max(options.tolerance, better));
    open_gap = tables.step > 0.0 ? std::min(slack, units(2.0 * tables.step_error)) : slack;
    offer(known.x);
  }

  void offer(Assignment x);
  [[nodiscard]] Cost units(double nats) const {
    return std::max<Cost>(1, static_cast<Cost>(std::min(nats * tables.scale, static_cast<double>(kLargestCost))));
  }
  void set_top(Cost cost) {
    if (cost >= known_cost) return;
    known_cost = cost;
    network.set_top(std::max<Cost>(0, cost - slack));
  }
  void begin(StopCheck& stop);
  void dive(StopCheck& stop);
  bool replay(const OpenNodes::Node& node, StopCheck& stop);
  int choose_variable() const;
  int choose_state(int v) const;
  void take_solution();
  void note_contradiction();
  bool go_back(StopCheck& stop);
  bool decide(const BranchDecision& decision, StopCheck& stop);

  const FactorGraph& graph;
  Options options;
  CostTables tables;
  CostReduction reduction;
  std::vector<int> line;
  CostNetwork network;
  SoftConsistency consistency;
  Configuration best;
  std::vector<double> weights;  // by function
  OpenNodes open;
  Cost slack = 1;     // nothing is looked for that is better than the best one by less
  Cost open_gap = 1;  // nothing of that is better by more than this
  Cost known_cost = kTopLine;
  bool has_begun = false, is_done = false;
  int last_variable = -1;
  std::int64_t num_contradictions = 0, num_nodes = 0, num_repeated = 0, dive_length = kFirstDive;
  // The present dive: what was decided below the open node, and the bound before each decision.
  std::vector<BranchDecision> path;
  std::vector<Cost> bounds;
  std::int64_t from = OpenNodes::kRoot;
};

CostSearch::CostSearch(const FactorGraph& graph, const Configuration& known, const Options& options)
    : state_(std::make_unique<State>(graph, known, options)) {}
CostSearch::~CostSearch() = default;

// The root: sweeps first, then consistency.
void CostSearch::State::begin(StopCheck& stop) {
  has_begun = true;
  const bool is_possible = raise_bottom(network, line, {}, stop);
  consistency.set_grain(std::max<Cost>(1, (network.top() - network.bottom()) / kGrains));
  if (!is_possible || !consistency.propagate_all(stop)) {
    is_done = true;
    return;
  }
  open.push({network.bottom(), OpenNodes::kRoot, 0});
}

void CostSearch::offer(const Configuration& better) {
  State& s = *state_;
  if (!better.x.empty() && better.log_density > s.best.log_density) s.offer(better.x);
}

void CostSearch::run(std::int64_t num_steps, const ShouldStop& should_stop) {
  State& s = *state_;
  StopCheck stop(should_stop);
  const std::int64_t end = s.network.num_steps() + num_steps;
  if (!s.has_begun) s.begin(stop);
  while (!s.is_done && s.network.num_steps() < end && !stop.is_asked(0)) {
    if (s.open.empty() || s.open.least().bound >= s.network.top()) {
      s.is_done = true;
      return;
    }
    s.dive(stop);
  }
}

// Back to where an open node was left.
bool CostSearch::State::replay(const OpenNodes::Node& node, StopCheck& stop) {
  from = node.decision;
  path.clear();
  bounds.clear();
  network.mark();
  for (const BranchDecision& decision : open.decisions(node.decision)) {
    ++num_repeated;
    const bool is_possible =
        decision.is_equal ? network.assign(decision.variable, decision.state)
                          : !network.has(decision.variable, decision.state) ||
                                (network.remove(decision.variable, decision.state) && network.lift(decision.variable));
    if (!is_possible) return false;
  }
  return consistency.propagate(stop);
}

void CostSearch::State::dive(StopCheck& stop) {
  const OpenNodes::Node node = open.pop();
  const std::int64_t first = num_contradictions;
  bool is_possible = replay(node, stop);
  while (true) {
    if (stop.is_asked(1)) {
      if (is_possible) open.push_path(from, path, bounds, network.bottom());
      if (!is_possible) open.push_path(from, path, bounds, {});
      break;
    }
    if (is_possible && network.open().empty()) {
      take_solution();
      is_possible = false;
    } else if (!is_possible) {
      note_contradiction();
    }
    if (!is_possible) {
      if (path.empty()) break;
      if (num_contradictions - first >= dive_length && open.has_room()) {
        open.push_path(from, path, bounds, {});
        break;
      }
      is_possible = go_back(stop);
      continue;
    }
    ++num_nodes;
    const int v = choose_variable();
    const BranchDecision decision{v, choose_state(v), true};
    path.push_back(decision);
    bounds.push_back(network.bottom());
    last_variable = v;
    network.mark();
    is_possible = decide(decision, stop);
  }
  while (network.num_marks() > 0) network.undo();
  const double repeated = static_cast<double>(num_repeated) / static_cast<double>(num_nodes + 1);
  if (repeated > kMostRepeated) dive_length = std::min(2 * dive_length, kLongestDive);
  if (repeated < kFewestRepeated) dive_length = std::max(dive_length / 2, kFirstDive);
}

bool CostSearch::State::decide(const BranchDecision& decision, StopCheck& stop) {
  const bool is_possible = decision.is_equal
                               ? network.assign(decision.variable, decision.state)
                               : network.remove(decision.variable, decision.state) && network.lift(decision.variable);
  return is_possible && consistency.propagate(stop);
}

// The last decision that was x_v = s becomes x_v != s.
bool CostSearch::State::go_back(StopCheck& stop) {
  while (!path.empty() && !path.back().is_equal) {
    path.pop_back();
    bounds.pop_back();
  }
  if (path.empty()) return false;
  network.undo();
  path.back().is_equal = false;
  last_variable = path.back().variable;
  if (network.bottom() >= network.top()) return false;
  return decide(path.back(), stop);
}

void CostSearch::State::note_contradiction() {
  ++num_contradictions;
  const int f = consistency.last_function();
  if (f >= 0) weights[f] += 1.0;
}

void CostSearch::State::take_solution() {
  Assignment x(static_cast<std::size_t>(network.num_variables()));
  for (int v = 0; v < network.num_variables(); ++v) x[v] = network.states(v)[0];
  offer(std::move(x));
}

// What was eliminated is put into its best states.
void CostSearch::State::offer(Assignment x) {
  set_top(tables.cost(x));
  reduction.complete(x);
  const double log_density = graph.log_density(x);
  if (best.x.empty() || log_density > best.log_density) best = {std::move(x), log_density};
}

int CostSearch::State::choose_variable() const {
  if (last_variable >= 0 && network.size(last_variable) > 1) return last_variable;
  int chosen = -1;
  double least = HUGE_VAL;
  for (const int v : network.open()) {
    double weight = 1.0;
    for (const CostNetwork::Use& use : network.uses(v)) weight += weights[use.function];
    Cost most = 0;
    for (const int s : network.states(v)) most = std::max(most, network.unary(v, s));
    const double gap = static_cast<double>(network.top() - network.bottom());
    const double score = network.size(v) / (weight * (1.0 + 8.0 * static_cast<double>(most) / gap));
    if (score >= least) continue;
    least = score;
    chosen = v;
  }
  return chosen;
}

int CostSearch::State::choose_state(int v) const {
  int chosen = -1;
  for (const int s : network.states(v)) {
    if (chosen < 0 || network.unary(v, s) < network.unary(v, chosen) ||
        (network.unary(v, s) == network.unary(v, chosen) && s == best.x[v]))
      chosen = s;
  }
  return chosen;
}

const Configuration& CostSearch::best() const { return state_->best; }
bool CostSearch::is_done() const { return state_->is_done; }
std::int64_t CostSearch::num_contradictions() const { return state_->num_contradictions; }
std::int64_t CostSearch::num_nodes() const { return state_->num_nodes; }

double CostSearch::log_upper() const {
  const State& s = *state_;
  Cost bound = std::max<Cost>(0, s.known_cost - s.open_gap);
  if (!s.is_done && s.open.empty()) bound = s.network.bottom();
  if (!s.open.empty()) bound = std::min(bound, s.open.least().bound);
  return s.tables.log_max - static_cast<double>(bound) / s.tables.scale;
}

}  // namespace treesample
