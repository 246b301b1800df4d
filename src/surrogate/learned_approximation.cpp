#include "treesample/surrogate/learned_approximation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "space/asked_sum.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {

// A node is a prefix of evaluated configurations, at depth t of the reversed order of elimination. Each branch has two
// masses, that of the evaluated configurations below it and that of all others. They are in a unit of their own size:
// sums of large numbers would be rounded at that size, and probabilities would not add up to 1.
struct LearnedApproximation::State {
  struct Branch {
    int child = -1;  // node; -1 at the last variable, and if nothing below was evaluated
    double log_asked = kNegInf;
    double log_elsewhere = kNegInf;
  };
  struct Node {
    std::size_t first_branch = 0;
    double log_asked = kNegInf, log_elsewhere = kNegInf;
  };

  State(Elimination model, const FactorGraph& target) : learned(std::move(model)), num_states(target.num_variables()) {
    for (int v = 0; v < target.num_variables(); ++v) num_states[v] = target.num_states(v);
    order.assign(learned.plan().order.rbegin(), learned.plan().order.rend());
  }

  int build(std::span<const Configuration> below, std::size_t depth, double log_mass, Assignment& x, StopCheck& stop);
  // Draws the branch of each node by its mass, and the rest from the learned model.
  Assignment draw(Random& random, bool is_elsewhere) const;

  Elimination learned;
  std::vector<int> num_states, order;
  std::vector<Configuration> asked;  // sorted by their states along `order`; densities in the unit
  std::vector<Node> nodes;           // the root first; empty if nothing was evaluated or there are no variables
  std::vector<Branch> branches;
  double log_asked = kNegInf, log_elsewhere = kNegInf;
  double log_unit = 0.0;

  [[nodiscard]] double log_sum() const { return log_add_exp(log_asked, log_elsewhere); }
  [[nodiscard]] double learned_log_z() const { return learned.log_z() - log_unit; }
  [[nodiscard]] bool is_before(std::span<const int> a, std::span<const int> b) const {
    for (const int v : order) {
      if (a[v] != b[v]) return a[v] < b[v];
    }
    return false;
  }
  [[nodiscard]] const Configuration* find(std::span<const int> x) const {
    const auto found = std::lower_bound(
        asked.begin(), asked.end(), x,
        [this](const Configuration& known, std::span<const int> wanted) { return is_before(known.x, wanted); });
    return found != asked.end() && std::ranges::equal(found->x, x) ? &*found : nullptr;
  }
};

int LearnedApproximation::State::build(std::span<const Configuration> below, std::size_t depth, double log_mass,
                                       Assignment& x, StopCheck& stop) {
  constexpr std::int64_t kStepsOfNode = 64;
  stop.go_on("LearnedApproximation", kStepsOfNode);
  const int v = order[depth];
  const auto node = static_cast<int>(nodes.size());
  const std::size_t first = branches.size();
  const auto width = static_cast<std::size_t>(num_states[v]);
  nodes.push_back({.first_branch = first});
  branches.resize(first + width);
  std::vector<double> probabilities(width);
  learned.conditional(v, x, probabilities);
  std::vector<double> masses;
  for (std::size_t a = 0; a < width; ++a) {
    const auto end = std::find_if(below.begin(), below.end(),
                                  [&](const Configuration& known) { return known.x[v] != static_cast<int>(a); });
    const std::span<const Configuration> here(below.begin(), end);
    below = below.subspan(here.size());
    const double log_here =
        log_mass == kNegInf || probabilities[a] == 0.0 ? kNegInf : log_mass + std::log(probabilities[a]);
    Branch branch;
    if (here.empty()) {
      branch.log_elsewhere = log_here;
    } else if (depth + 1 == order.size()) {
      branch.log_asked = here.front().log_density;
    } else {
      x[v] = static_cast<int>(a);
      branch.child = build(here, depth + 1, log_here, x, stop);
      branch.log_asked = nodes[branch.child].log_asked;
      branch.log_elsewhere = nodes[branch.child].log_elsewhere;
    }
    branches[first + a] = branch;
  }
  const auto sum = [&](double Branch::*part) {
    masses.clear();
    for (std::size_t a = 0; a < width; ++a) masses.push_back(branches[first + a].*part);
    return log_sum_exp(masses);
  };
  nodes[node].log_asked = sum(&Branch::log_asked);
  nodes[node].log_elsewhere = sum(&Branch::log_elsewhere);
  return node;
}

Assignment LearnedApproximation::State::draw(Random& random, bool is_elsewhere) const {
  Assignment x(num_states.size(), 0);
  std::vector<double> weights;
  int node = nodes.empty() ? -1 : 0;
  for (const int v : order) {
    weights.assign(static_cast<std::size_t>(num_states[v]), 0.0);
    if (node < 0) {
      learned.conditional(v, x, weights);
      x[v] = random.categorical(weights);
      continue;
    }
    const Branch* const branch = &branches[nodes[node].first_branch];
    for (std::size_t a = 0; a < weights.size(); ++a) {
      weights[a] = is_elsewhere ? branch[a].log_elsewhere : log_add_exp(branch[a].log_asked, branch[a].log_elsewhere);
    }
    softmax(weights, weights);
    x[v] = random.categorical(weights);
    node = branch[x[v]].child;
  }
  return x;
}

LearnedApproximation::LearnedApproximation(Elimination learned, const FactorGraph& graph,
                                           std::vector<Configuration> asked, const ShouldStop& should_stop) {
  auto state = std::make_shared<State>(std::move(learned), graph);
  std::sort(asked.begin(), asked.end(),
            [&](const Configuration& a, const Configuration& b) { return state->is_before(a.x, b.x); });
  state->asked = std::move(asked);
  double largest = state->learned.log_z();
  for (const Configuration& known : state->asked) largest = std::max(largest, known.log_density);
  if (largest != kNegInf) state->log_unit = largest;
  for (Configuration& known : state->asked) known.log_density -= state->log_unit;
  const double log_z = state->learned_log_z();
  if (state->asked.empty()) {
    state->log_elsewhere = log_z;
  } else if (state->order.empty()) {
    state->log_asked = state->asked.front().log_density;
  } else {
    Assignment x(state->num_states.size(), 0);
    StopCheck stop(should_stop);
    state->build(state->asked, 0, log_z, x, stop);
    state->log_asked = state->nodes.front().log_asked;
    state->log_elsewhere = state->nodes.front().log_elsewhere;
  }
  state_ = std::move(state);
}

double LearnedApproximation::log_value() const { return state_->log_unit + state_->log_sum(); }
double LearnedApproximation::log_asked() const { return state_->log_unit + state_->log_asked; }
double LearnedApproximation::log_elsewhere() const { return state_->log_unit + state_->log_elsewhere; }
const Elimination& LearnedApproximation::learned() const { return state_->learned; }
bool LearnedApproximation::is_asked(std::span<const int> x) const { return state_->find(x) != nullptr; }

Marginals LearnedApproximation::marginals() const {
  constexpr double kMostShare = 1e6;
  const State& state = *state_;
  const double log_sum = state.log_sum(), share = std::exp(state.learned_log_z() - log_sum);
  const bool is_lost = !(share <= kMostShare) || state.log_elsewhere == kNegInf;
  Marginals result;
  if (is_lost) {
    for (const int k : state.num_states) result.emplace_back(static_cast<std::size_t>(k), 0.0);
  } else {
    result = state.learned.marginals();
    for (std::vector<double>& probabilities : result) {
      for (double& p : probabilities) p *= share;
    }
  }
  for (const Configuration& known : state.asked) {
    if (log_sum == kNegInf) break;
    const double learned = is_lost ? kNegInf : state.learned.log_prob(known.x) + state.learned_log_z();
    const double more = std::exp(known.log_density - log_sum) - std::exp(learned - log_sum);
    for (std::size_t v = 0; v < result.size(); ++v) result[v][static_cast<std::size_t>(known.x[v])] += more;
  }
  for (std::vector<double>& probabilities : result) normalise(probabilities);
  return result;
}

Assignment LearnedApproximation::sample(Random& random) const {
  check_argument(log_value() != kNegInf, "LearnedApproximation::sample",
                 "the distribution has no configuration with positive probability");
  return state_->draw(random, false);
}

Assignment LearnedApproximation::sample_elsewhere(Random& random) const {
  check_argument(log_elsewhere() != kNegInf, "LearnedApproximation::sample_elsewhere", "everything has been asked");
  return state_->draw(random, true);
}

double LearnedApproximation::log_prob(std::span<const int> x) const {
  check_states("LearnedApproximation::log_prob", state_->num_states, x);
  const double log_sum = state_->log_sum();
  if (log_sum == kNegInf) return kNegInf;
  if (const Configuration* const known = state_->find(x)) return known->log_density - log_sum;
  return state_->learned.log_prob(x) + state_->learned_log_z() - log_sum;
}

}  // namespace treesample
