#include "count/decomposition.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "exact/contraction_tree.hpp"
#include "treesample/math/random.hpp"

namespace treesample {

struct StartedAnnealing {
  StartedAnnealing(const std::vector<std::vector<int>>& scopes, const std::vector<double>& log2_num_states,
                   const std::vector<int>& order, std::uint64_t seed)
      : sets(scopes, log2_num_states), random(seed, "annealed count order") {
    if (sets.num_tables() >= 2) tree.emplace(sets, order);
  }
  const TableSets sets;
  std::optional<ContractionTree> tree;  // none for fewer than two tables
  Random random;
  std::int64_t done = 0;
};

namespace {

using Separators = std::vector<std::vector<int>>;

// The logarithm of the number of entries that elimination would take if all variables had two states.
double log2_entries(const Separators& separators) {
  double log_sum = 0.0;
  for (const std::vector<int>& separator : separators) {
    const auto size = static_cast<double>(separator.size());
    log_sum = std::max(log_sum, size) + std::log2(1.0 + std::exp2(-std::abs(log_sum - size)));
  }
  return log_sum;
}

// An estimate of the work for a component: the number of its bags times the joint states of the decided variables that
// it depends on, as if all variables had two states.
double work_of(int num_bags, std::size_t num_decided) { return num_bags * std::exp2(static_cast<double>(num_decided)); }

// Depths of variables in the trees of bags. Each tree is given by its variables in the order of elimination.
class Depths {
 public:
  explicit Depths(const Separators& separators)
      : separators_(separators),
        tree_(separators.size()),
        bags_(separators.size()),
        is_done_(separators.size(), 0),
        depth_(separators.size(), -1) {
    for (std::size_t v = 0; v < separators.size(); ++v) {
      if (separators[v].empty()) continue;
      tree_[v].push_back(separators[v].front());
      tree_[separators[v].front()].push_back(static_cast<int>(v));
    }
  }

  // Depths grow from the middle of the tree outward.
  void set_outward(const std::vector<int>& order) {
    for (const int v : order) bags_[v].parent = separators_[v].empty() ? -1 : separators_[v].front();
    const int root = middle(order);
    const std::vector<int> bags = bags_from(root);
    for (const int bag : bags) {
      decide(bag, bags_[bag].depth);
      bags_[bag].below = 1;
    }
    for (auto bag = bags.rbegin(); bag != bags.rend(); ++bag) {
      const int above = bags_[*bag].parent;
      if (above >= 0) bags_[above].below += bags_[*bag].below;
      const bool is_above_later = above >= 0 && !separators_[*bag].empty() && separators_[*bag].front() == above;
      const std::size_t num_decided = above < 0 ? 0 : separators_[is_above_later ? *bag : above].size();
      work_ += work_of(bags_[*bag].below, num_decided);
    }
  }

  // The middle of the tree comes first, then the middle of each part, and so on.
  void set_halved(const std::vector<int>& order) {
    std::vector<std::pair<int, int>> open{{order.back(), 0}};
    while (!open.empty()) {
      const auto [start, depth] = open.back();
      open.pop_back();
      std::vector<int> part = bags_from(start);
      work_ += work_of(static_cast<int>(part.size()), num_decided(part));
      std::reverse(part.begin(), part.end());
      const int root = middle(part);
      decide(root, depth);
      is_done_[root] = 1;
      for (const int next : tree_[root]) {
        if (is_done_[next] == 0) open.emplace_back(next, depth + 1);
      }
    }
  }

  [[nodiscard]] double work() const { return work_; }
  [[nodiscard]] const std::vector<int>& of() const { return depth_; }

 private:
  struct Bag {
    int parent = -1, depth = 0;
    int below = 1;  // number of bags, including itself
    int largest_part = 0;
  };

  // The bags that are connected with this one through bags that are not done. Sets their parents and depths.
  std::vector<int> bags_from(int start) {
    std::vector<int> found{start};
    bags_[start].parent = -1;
    bags_[start].depth = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      for (const int next : tree_[found[i]]) {
        if (next == bags_[found[i]].parent || is_done_[next] != 0) continue;
        bags_[next].parent = found[i];
        bags_[next].depth = bags_[found[i]].depth + 1;
        found.push_back(next);
      }
    }
    return found;
  }

  // The bag whose removal makes the largest remaining part as small as possible. In `order`, parents come last.
  int middle(const std::vector<int>& order) {
    for (const int v : order) {
      bags_[v].below = 1;
      bags_[v].largest_part = 0;
    }
    for (const int v : order) {
      if (bags_[v].parent < 0) continue;
      Bag& above = bags_[bags_[v].parent];
      above.below += bags_[v].below;
      above.largest_part = std::max(above.largest_part, bags_[v].below);
    }
    int best = order.front();
    for (const int v : order) {
      bags_[v].largest_part = std::max(bags_[v].largest_part, bags_[order.back()].below - bags_[v].below);
      if (bags_[v].largest_part < bags_[best].largest_part) best = v;
    }
    return best;
  }

  void decide(int bag, int depth) {
    if (depth_[bag] < 0) depth_[bag] = depth;
    for (const int v : separators_[bag]) {
      if (depth_[v] < 0) depth_[v] = depth;
    }
  }

  [[nodiscard]] std::size_t num_decided(const std::vector<int>& part) const {
    std::vector<int> decided;
    for (const int bag : part) {
      if (depth_[bag] >= 0) decided.push_back(bag);
      std::copy_if(separators_[bag].begin(), separators_[bag].end(), std::back_inserter(decided),
                   [&](int v) { return depth_[v] >= 0; });
    }
    std::sort(decided.begin(), decided.end());
    return static_cast<std::size_t>(std::unique(decided.begin(), decided.end()) - decided.begin());
  }

  const Separators& separators_;
  Adjacency tree_;
  std::vector<Bag> bags_;
  std::vector<char> is_done_;
  std::vector<int> depth_;
  double work_ = 0.0;
};

// Halving puts components between bags on several sides, and they depend on all of these bags. It pays for long models
// of small width, where going outward takes a time that is quadratic in their length.
std::vector<int> best_depths(const Separators& separators, const std::vector<std::vector<int>>& trees) {
  constexpr double kWorth = 16.0;  // halving must save at least this factor, because more contexts make larger circuits
  Depths outward(separators), halved(separators);
  for (const std::vector<int>& order : trees) {
    outward.set_outward(order);
    halved.set_halved(order);
  }
  return outward.work() > kWorth * halved.work() ? halved.of() : outward.of();
}

// Annealing may take as long as a search would take if it visited each entry of elimination. None if it is not worth
// it.
std::vector<int> annealed_order(const std::vector<std::vector<int>>& scopes, const std::vector<int>& order,
                                double log2_entries, std::uint64_t seed, const ShouldStop& should_stop,
                                std::shared_ptr<StartedAnnealing>* started) {
  constexpr double kLeastLog2 = 14.0, kMostProposals = 8e6, kProposalsPerWord = 4.0;
  constexpr std::size_t kMostScopes = 20'000;
  if (log2_entries < kLeastLog2 || scopes.size() > kMostScopes || scopes.size() < 2) return {};
  const std::vector<double> log2_num_states(order.size(), 1.0);
  std::shared_ptr<StartedAnnealing> run = started ? std::exchange(*started, nullptr) : nullptr;
  if (!run) run = std::make_shared<StartedAnnealing>(scopes, log2_num_states, order, seed);
  if (!run->tree) return {};
  if (started) *started = run;
  StopCheck stop(should_stop);
  const double words = 1.0 + static_cast<double>(run->sets.num_words()) / kProposalsPerWord;
  const double proposals = std::min(kMostProposals, std::exp2(std::min(log2_entries, 30.0))) / words;
  run->tree->anneal({static_cast<std::int64_t>(proposals)}, run->random, stop, &run->done);
  if (started) started->reset();
  return run->tree->order();
}

}  // namespace

DecompositionGuide make_guide(const Adjacency& adjacency, const std::vector<std::vector<int>>& scopes, int restarts,
                              std::uint64_t seed, const ShouldStop& should_stop,
                              std::shared_ptr<StartedAnnealing>* started) {
  DecompositionGuide guide;
  if (adjacency.empty()) return guide;
  std::vector<int> best_order;
  Separators best;
  for (int restart = 0; restart < std::max(restarts, 1); ++restart) {
    if (restart > 0 && should_stop && should_stop()) break;
    Random ties(seed + static_cast<std::uint64_t>(restart), "count order");
    std::vector<int> order =
        elimination_order(adjacency, OrderKind::kMinFill, ties, {.goes_on = {}, .should_stop = should_stop});
    Separators found = separators(adjacency, order, should_stop);
    if (restart > 0 && log2_entries(found) >= log2_entries(best)) continue;
    best_order = std::move(order);
    best = std::move(found);
  }
  std::vector<int> annealed = annealed_order(scopes, best_order, log2_entries(best), seed, should_stop, started);
  if (!annealed.empty()) {
    Separators found = separators(adjacency, annealed, should_stop);
    constexpr double kWorth = 1.5;  // bits: smaller gains are noise to a search that sees zeros, too
    if (log2_entries(found) < log2_entries(best) - kWorth) {
      best_order = std::move(annealed);
      best = std::move(found);
    }
  }
  for (const auto& separator : best) guide.width = std::max(guide.width, static_cast<int>(separator.size()));

  // Takes the trees one by one: a variable belongs to the tree of the first variable of its separator.
  std::vector<int> tree(best.size(), -1);
  std::vector<std::vector<int>> members;
  for (auto v = best_order.rbegin(); v != best_order.rend(); ++v) {
    if (best[*v].empty()) {
      tree[*v] = static_cast<int>(members.size());
      members.emplace_back();
    } else {
      tree[*v] = tree[best[*v].front()];
    }
  }
  for (const int v : best_order) members[tree[v]].push_back(v);
  const std::vector<int> depth = best_depths(best, members);
  const int deepest = std::max(1, *std::max_element(depth.begin(), depth.end()));
  for (const int d : depth) guide.depths.push_back(static_cast<double>(d) / deepest);
  guide.order = std::move(best_order);
  return guide;
}

}  // namespace treesample
