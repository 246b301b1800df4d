#include "belief_search.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"
#include "treesample/space/reward.hpp"
#include "treesample/value/leaf_value.hpp"

namespace treesample::experiments {
namespace {

constexpr int kNone = -1;
constexpr double kGrowth = 1.1;  // beliefs about unseen levels are computed anew when so many more rewards are known
constexpr double kLeastVariance = 1e-9;
constexpr double kUnknownVariance = 1.0;  // added for a level whose rewards were not seen, so that it is looked at

struct Belief {
  double mean = 0.0;
  double variance = 0.0;
};

// The moments of the rewards of one level.
struct LevelRewards {
  double sum = 0.0, squares = 0.0;
  std::int64_t count = 0;

  void add(double reward) {
    sum += reward;
    squares += reward * reward;
    ++count;
  }
  void add(const LevelRewards& other) {
    sum += other.sum;
    squares += other.squares;
    count += other.count;
  }
  [[nodiscard]] double mean() const { return count > 0 ? sum / static_cast<double>(count) : 0.0; }
  [[nodiscard]] double variance() const {
    return count > 1 ? std::max(0.0, squares / static_cast<double>(count) - mean() * mean()) : 0.0;
  }
};

double of_sum(double variance, int k) { return std::log1p(std::expm1(std::min(variance, 500.0)) / k); }

class BeliefSearch {
 public:
  BeliefSearch(const FactorGraph& graph, const SearchSpace& space, Gain gain, std::int64_t budget, std::uint64_t seed)
      : graph_(graph),
        space_(space),
        gain_(gain),
        k_(space.levels[0].num_states),
        num_levels_(space.num_levels()),
        reward_(graph, space),
        budget_(budget, BudgetUnit::kReward),
        random_(seed, "beliefs"),
        x_(static_cast<std::size_t>(num_levels_), 0),
        rewards_(static_cast<std::size_t>(num_levels_)) {
    for (const Level& level : space.levels) {
      check_argument(level.num_states == k_, "belief_search", "the variables have different numbers of states");
    }
  }

  BeliefSearchResult run(double log_z) {
    calibrate();
    add_node(0);
    std::int64_t next = 1;
    while (is_open(0) && traverse()) {
      if (static_cast<std::int64_t>(nodes_.size()) < next) continue;
      next = static_cast<std::int64_t>(kGrowth * static_cast<double>(nodes_.size())) + 1;
      calibrate();
      back_up_all();
    }
    calibrate();
    back_up_all();
    BeliefSearchResult result{.log_z = value_[0].mean + space_.log_constant,
                              .log_z_deviation = std::sqrt(value_[0].variance),
                              .num_evaluations = budget_.spent().reward_evaluations};
    result.kl = divergence(log_z);
    return result;
  }

 private:
  struct Node {
    int level = 0;
    bool is_expanded = false;
  };
  // Entry a of node i of an array with one entry for each edge.
  [[nodiscard]] std::size_t at(int node, int a) const { return static_cast<std::size_t>(node) * k_ + a; }
  [[nodiscard]] bool is_open(int node) const { return best_[node] > kNegInf; }

  int add_node(int level) {
    nodes_.push_back({level, false});
    value_.push_back(prior_[level]);
    best_.push_back(log_gain_[level]);
    child_.resize(nodes_.size() * k_, kNone);
    edge_rewards_.resize(nodes_.size() * k_, 0.0);
    return static_cast<int>(nodes_.size()) - 1;
  }

  // mu_n, s2_n and g_n of every level, from the rewards seen so far.
  void calibrate() {
    prior_.assign(static_cast<std::size_t>(num_levels_) + 1, {});
    log_gain_.assign(static_cast<std::size_t>(num_levels_) + 1, kNegInf);
    // A level of which nothing is known gets the moments of the rewards at all others: with no spread at all it would
    // teach nothing, and the search would never go down to it.
    LevelRewards all;
    for (int n = 0; n < num_levels_; ++n) {
      if (!space_.levels[n].factors.empty()) all.add(rewards_[n]);
    }
    for (int n = num_levels_ - 1; n >= 0; --n) {
      const Belief& below = prior_[n + 1];
      const bool is_unknown = rewards_[n].count < 2 && !space_.levels[n].factors.empty();
      const LevelRewards& seen = is_unknown ? all : rewards_[n];
      const double variance = seen.variance() + (is_unknown ? kUnknownVariance : 0.0) + below.variance;
      const double s2 = of_sum(variance, k_);
      prior_[n] = {std::log(k_) + seen.mean() + below.mean + 0.5 * (variance - s2), s2};
      const double learned = std::max(s2 - of_sum(below.variance, k_), kLeastVariance);
      // A level without factors costs nothing, and what it opens is worth what the next level teaches.
      log_gain_[n] = space_.levels[n].factors.empty() && n + 1 < num_levels_ ? log_gain_[n + 1] : std::log(learned);
    }
  }

  // Down to the edge with the largest gain, whose node is expanded; then back up. False if the budget ends.
  bool traverse() {
    path_.clear();
    int node = 0;
    while (nodes_[node].is_expanded) {
      const int a = choose(node);
      path_.push_back({node, a});
      x_[space_.levels[nodes_[node].level].variable] = a;
      node = child_[at(node, a)];
    }
    const int level = nodes_[node].level;
    Spending price = reward_.price(level);
    price.reward_evaluations = space_.levels[level].factors.empty() ? 0 : k_;
    if (budget_.spent().reward_evaluations + price.reward_evaluations > budget_.limit()) return false;
    expand(node);
    back_up(node);
    for (std::size_t i = path_.size(); i-- > 0;) back_up(path_[i].first);
    return true;
  }

  void expand(int node) {
    const int level = nodes_[node].level;
    const bool is_free = space_.levels[level].factors.empty();
    nodes_[node].is_expanded = true;
    for (int a = 0; a < k_; ++a) {
      x_[space_.levels[level].variable] = a;
      Budget unlimited(INT64_MAX, BudgetUnit::kReward);
      const double reward = reward_.evaluate(level, x_, is_free ? unlimited : budget_);
      edge_rewards_[at(node, a)] = reward;
      rewards_[level].add(reward);
      if (level + 1 < num_levels_) {
        const int made = add_node(level + 1);
        child_[at(node, a)] = made;
      }
    }
  }

  [[nodiscard]] Belief edge(int node, int a) const {
    const int below = child_[at(node, a)];
    const double reward = edge_rewards_[at(node, a)];
    return below == kNone ? Belief{reward, 0.0} : Belief{reward + value_[below].mean, value_[below].variance};
  }

  // V of an expanded node, and the largest gain below it, with shares of Z relative to the node.
  void back_up(int node) {
    double most = kNegInf;
    for (int a = 0; a < k_; ++a) most = std::max(most, edge(node, a).mean + 0.5 * edge(node, a).variance);
    double mass = 0.0, spread = 0.0;
    for (int a = 0; a < k_; ++a) {
      const Belief q = edge(node, a);
      const double expected = std::exp(q.mean + 0.5 * q.variance - most);
      mass += expected;
      spread += expected * expected * std::expm1(std::min(q.variance, 500.0));
    }
    const double variance = std::log1p(spread / (mass * mass));
    value_[node] = {most + std::log(mass) - 0.5 * variance, variance};
    best_[node] = kNegInf;
    for (int a = 0; a < k_; ++a) best_[node] = std::max(best_[node], score(node, a, most + std::log(mass)));
  }

  // The log of the gain of the best leaf below an edge, relative to the node with log E[exp V] = log_mass.
  [[nodiscard]] double score(int node, int a, double log_mass) const {
    const int below = child_[at(node, a)];
    if (below == kNone || best_[below] == kNegInf) return kNegInf;
    const Belief q = edge(node, a);
    const double log_share = q.mean + 0.5 * q.variance - log_mass;
    return (gain_ == Gain::kLogZ ? 2.0 : 1.0) * log_share + best_[below];
  }

  int choose(int node) {
    const double log_mass = value_[node].mean + 0.5 * value_[node].variance;
    double most = kNegInf;
    int chosen = kNone;
    std::uint64_t num_ties = 0;
    for (int a = 0; a < k_; ++a) {
      const double here = score(node, a, log_mass);
      if (here == kNegInf) continue;
      if (chosen == kNone || here > most + 1e-10) {
        most = here;
        chosen = a;
        num_ties = 1;
      } else if (here > most - 1e-10 && random_.below(++num_ties) == 0) {
        chosen = a;
      }
    }
    return chosen;
  }

  void back_up_all() {
    for (int node = static_cast<int>(nodes_.size()); node-- > 0;) {
      if (nodes_[node].is_expanded) {
        back_up(node);
      } else {
        value_[node] = prior_[nodes_[node].level];
        best_[node] = log_gain_[nodes_[node].level];
      }
    }
  }

  // KL(P_X || P*) = log Z + the sum over what the tree leaves open, or has reached, of
  // r (log r - rewards on the way - ELBO of the uniform distribution below), with r its probability under P_X: the
  // softmax of Q, where a sub-problem that was not searched has log K + the mean reward for each of its levels.
  double divergence(double log_z) {
    std::vector<double> below(static_cast<std::size_t>(num_levels_) + 1, 0.0);
    for (int n = num_levels_ - 1; n >= 0; --n) below[n] = below[n + 1] + std::log(k_) + rewards_[n].mean();
    std::vector<double> values(nodes_.size());
    std::vector<double> q(static_cast<std::size_t>(k_));
    const auto set_q = [&](int node) {
      for (int a = 0; a < k_; ++a) {
        const int next = child_[at(node, a)];
        q[a] = edge_rewards_[at(node, a)] + (next == kNone ? 0.0 : values[next]);
      }
    };
    for (int node = static_cast<int>(nodes_.size()); node-- > 0;) {
      if (nodes_[node].is_expanded) set_q(node);
      values[node] = nodes_[node].is_expanded ? log_sum_exp(q) : below[nodes_[node].level];
    }
    const auto elbo = product_value(graph_, space_, uniform_distributions(graph_));
    double sum = 0.0;
    struct Frame {
      int node, action;
      double log_r, rewards;
    };
    std::vector<Frame> stack = {{0, 0, 0.0, 0.0}};
    while (!stack.empty()) {
      Frame& top = stack.back();
      const Node& node = nodes_[top.node];
      if (!node.is_expanded) {
        sum += std::exp(top.log_r) * (top.log_r - top.rewards - elbo->log_value(node.level, x_));
        stack.pop_back();
        continue;
      }
      if (top.action == k_) {
        stack.pop_back();
        continue;
      }
      const int a = top.action++;
      x_[space_.levels[node.level].variable] = a;
      const int next = child_[at(top.node, a)];
      const double reward = edge_rewards_[at(top.node, a)];
      const double log_r = top.log_r + reward + (next == kNone ? 0.0 : values[next]) - values[top.node];
      if (next == kNone) {
        sum += std::exp(log_r) * (log_r - top.rewards - reward);
      } else {
        stack.push_back({next, 0, log_r, top.rewards + reward});
      }
    }
    return log_z - space_.log_constant + sum;
  }

  const FactorGraph& graph_;
  const SearchSpace& space_;
  Gain gain_;
  int k_, num_levels_;
  Reward reward_;
  Budget budget_;
  Random random_;
  Assignment x_;
  std::vector<LevelRewards> rewards_;
  std::vector<Belief> prior_;     // by level; the last one is 0, below the last level
  std::vector<double> log_gain_;  // by level
  std::vector<Node> nodes_;       // parents before children
  std::vector<Belief> value_;     // by node: V
  std::vector<double> best_;      // by node: the largest log gain below it
  std::vector<int> child_;        // by edge
  std::vector<double> edge_rewards_;
  std::vector<std::pair<int, int>> path_;
};

}  // namespace

BeliefSearchResult belief_search(const FactorGraph& graph, const SearchSpace& space, Gain gain, std::int64_t budget,
                                 double log_z, std::uint64_t seed) {
  check_space("belief_search", graph, space);
  check_argument(space.kind == SpaceKind::kTree && space.num_levels() > 0, "belief_search", "the space is not `tree`");
  return BeliefSearch(graph, space, gain, budget, seed).run(log_z);
}

}  // namespace treesample::experiments
