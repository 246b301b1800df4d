#include "value/mini_bucket_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/value/plan_mini_buckets.hpp"
#include "value/block_fold.hpp"

namespace treesample {
namespace {

using Cluster = MiniBucketPlan::Cluster;
using Levels = std::vector<int>;  // a scope as ascending levels

constexpr const char* kMakePlan = "make_mini_bucket_plan";
constexpr std::size_t kMatchesPerCluster = 8;

// A factor, or the message of a cluster, that waits in a bucket to be put into a cluster.
struct Item {
  Levels scope;
  int factor = -1;
  int cluster = -1;
};

Levels intersection(const Levels& a, const Levels& b) {
  Levels result;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  return result;
}

Levels union_of(const Levels& a, const Levels& b) {
  Levels result;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  return result;
}

class Planner {
 public:
  Planner(const FactorGraph& graph, const SearchSpace& space, int i_bound, const ShouldStop& should_stop)
      : graph_(graph), space_(space), stop_(should_stop), waiting_(space.levels.size()) {
    plan_.i_bound = i_bound;
    plan_.buckets.resize(space.levels.size());
    std::vector<int> level_of(space.levels.size());
    for (int n = 0; n < space.num_levels(); ++n) level_of[space.levels[n].variable] = n;
    for (int n = 0; n < space.num_levels(); ++n) {
      stop_.go_on(kMakePlan, static_cast<std::int64_t>(64 * space.levels[n].factors.size() + 64));
      for (const int m : space.levels[n].factors) {
        Item item{.scope = {}, .factor = m};
        for (const int v : graph.factor(m).scope()) item.scope.push_back(level_of[v]);
        std::sort(item.scope.begin(), item.scope.end());
        waiting_[n].push_back(std::move(item));
      }
    }
  }

  MiniBucketPlan make() {
    for (int n = space_.num_levels() - 1; n >= 0; --n) {
      split_bucket(n);
      find_matches(n);
    }
    count_bytes();
    return std::move(plan_);
  }

 private:
  void split_bucket(int level);
  int cluster_for(const Item& item, int first);
  void find_matches(int level);
  void count_bytes();
  [[nodiscard]] std::vector<int> variables(const Levels& scope) const {
    std::vector<int> result;
    for (const int n : scope) result.push_back(space_.levels[n].variable);
    return result;
  }
  [[nodiscard]] double num_entries(std::span<const int> scope) const {
    double entries = 1.0;
    for (const int v : scope) entries *= graph_.num_states(v);
    return entries;
  }

  const FactorGraph& graph_;
  const SearchSpace& space_;
  StopCheck stop_;
  std::vector<std::vector<Item>> waiting_;  // by level
  std::vector<Levels> scopes_;              // by cluster
  MiniBucketPlan plan_;
};

// The first cluster of this bucket that has room for the item, or -1. (The cluster that shares the most variables with
// the item gave looser bounds on 12 of 15 models and a tighter one on 1.)
int Planner::cluster_for(const Item& item, int first) {
  for (int c = first; c < static_cast<int>(scopes_.size()); ++c) {
    stop_.go_on(kMakePlan, static_cast<std::int64_t>(16 * item.scope.size()));
    const std::size_t room = std::max(scopes_[c].size(), static_cast<std::size_t>(plan_.i_bound) + 1);
    if (union_of(scopes_[c], item.scope).size() <= room) return c;
  }
  return -1;
}

void Planner::split_bucket(int level) {
  std::vector<Item>& items = waiting_[level];
  if (items.empty()) items.push_back(Item{.scope = {level}});  // no factors: the cluster counts the states
  // Large scopes first: an item that fits into an existing scope then costs nothing.
  std::stable_sort(items.begin(), items.end(),
                   [](const Item& a, const Item& b) { return a.scope.size() > b.scope.size(); });
  const int first = static_cast<int>(plan_.clusters.size());
  for (const Item& item : items) {
    int c = cluster_for(item, first);
    if (c < 0) {
      c = static_cast<int>(plan_.clusters.size());
      plan_.clusters.emplace_back().level = level;
      scopes_.emplace_back();
    }
    scopes_[c] = union_of(scopes_[c], item.scope);
    if (item.factor >= 0) plan_.clusters[c].factors.push_back(item.factor);
    if (item.cluster < 0) continue;
    plan_.clusters[c].children.push_back(item.cluster);
    plan_.clusters[item.cluster].parent = c;
  }
  items.clear();
  plan_.buckets[level].first = first;
  plan_.buckets[level].count = static_cast<int>(plan_.clusters.size()) - first;
  for (int c = first; c < static_cast<int>(plan_.clusters.size()); ++c) {
    plan_.clusters[c].scope = variables(scopes_[c]);
    Levels rest(scopes_[c].begin(), scopes_[c].end() - 1);
    if (rest.empty()) continue;
    const int target = rest.back();
    waiting_[target].push_back(Item{.scope = std::move(rest), .factor = -1, .cluster = c});
  }
}

// Every distinct intersection of two scopes is matched in all clusters that contain it, small ones first. (Matching
// only the pairs of a spanning tree is looser, by 2.5 on a grid with log Z = 3021.)
void Planner::find_matches(int level) {
  MiniBucketPlan::Bucket& bucket = plan_.buckets[level];
  const int end = bucket.first + bucket.count;
  std::vector<Levels> scopes;
  for (int a = bucket.first; a < end; ++a) {
    stop_.go_on(kMakePlan, std::int64_t{64} * (end - a));
    for (int b = a + 1; b < end; ++b) scopes.push_back(intersection(scopes_[a], scopes_[b]));
  }
  std::sort(scopes.begin(), scopes.end(),
            [](const Levels& a, const Levels& b) { return a.size() != b.size() ? a.size() < b.size() : a < b; });
  scopes.erase(std::unique(scopes.begin(), scopes.end()), scopes.end());
  // Some buckets have a hundred clusters: matching all of their thousands of pairs costs more than it gains.
  const std::size_t num_kept = std::min(scopes.size(), kMatchesPerCluster * static_cast<std::size_t>(bucket.count));
  scopes.erase(scopes.begin(), scopes.end() - static_cast<std::ptrdiff_t>(num_kept));

  std::vector<Levels> shift(static_cast<std::size_t>(bucket.count));
  for (const Levels& scope : scopes) {
    stop_.go_on(kMakePlan, std::int64_t{16} * bucket.count);
    MiniBucketPlan::Match& match = bucket.matches.emplace_back();
    match.scope = variables(scope);
    for (int c = bucket.first; c < end; ++c) {
      if (!std::includes(scopes_[c].begin(), scopes_[c].end(), scope.begin(), scope.end())) continue;
      match.clusters.push_back(c);
      shift[c - bucket.first] = union_of(shift[c - bucket.first], scope);
    }
  }
  for (int c = bucket.first; c < end; ++c) plan_.clusters[c].shift_scope = variables(shift[c - bucket.first]);
}

// The messages are kept. While the passes run, there are also the shifts of the current and of the best pass, the
// moments from above, and the larger of two things: the moments sent down with the copies in which they are summed
// (value/block_fold.hpp), or the moments of one bucket, counted as if they had as many entries as its clusters.
void Planner::count_bytes() {
  double messages = 0.0;
  double shifts = 0.0;
  double from_above = 0.0;
  double largest_bucket = 0.0;
  double copies = 0.0;
  for (const MiniBucketPlan::Bucket& bucket : plan_.buckets) {
    double bucket_entries = 0.0;
    for (int c = bucket.first; c < bucket.first + bucket.count; ++c) {
      const Cluster& cluster = plan_.clusters[c];
      messages += num_entries(cluster.separator());
      copies = std::max(copies, num_entries(cluster.scope) / BlockFold::kCopyShare);
      if (bucket.count == 1) continue;
      shifts += num_entries(cluster.shift_scope);
      from_above += num_entries(cluster.separator());
      bucket_entries += num_entries(cluster.scope);
    }
    double match_entries = 0.0;
    for (const MiniBucketPlan::Match& match : bucket.matches) {
      match_entries =
          std::max(match_entries, 3.0 * num_entries(match.scope) * static_cast<double>(match.clusters.size()));
    }
    largest_bucket = std::max(largest_bucket, bucket_entries + match_entries);
  }
  plan_.kept_bytes = sizeof(double) * messages;
  const double passes = 2.0 * shifts + from_above + std::max(messages + copies, largest_bucket);
  plan_.peak_bytes = plan_.kept_bytes + (plan_.is_exact() ? 0.0 : sizeof(double) * passes);
}

}  // namespace

MiniBucketPlan make_mini_bucket_plan(const FactorGraph& graph, const SearchSpace& space, int i_bound,
                                     const ShouldStop& should_stop) {
  return Planner(graph, space, i_bound, should_stop).make();
}

bool has_lower_plan(const FactorGraph& graph, const MiniBucketOptions& options) {
  const auto has_zeros = [](const Factor& factor) {
    const std::span<const double> values = factor.log_values();
    return !factor.scope().empty() && std::find(values.begin(), values.end(), kNegInf) != values.end();
  };
  return options.lower_bound && std::none_of(graph.factors().begin(), graph.factors().end(), has_zeros);
}

MiniBucketPlan choose_mini_bucket_plan(const FactorGraph& graph, const SearchSpace& space,
                                       const MiniBucketOptions& options) {
  const bool with_lower = has_lower_plan(graph, options);
  const auto most = static_cast<double>(options.bytes);
  const double limit = options.i_bound ? most : std::min(most, static_cast<double>(options.wanted_bytes));
  // A cluster of i + 1 variables has at least 2^(i + 1) entries. Larger i are not planned, because plans of wide models
  // take long.
  const int largest_i = static_cast<int>(std::log2(std::max(limit / sizeof(double), 2.0)));
  int i_bound = options.i_bound.value_or(std::min(space.width(), largest_i));
  int most_states = 2;
  for (const Level& level : space.levels) most_states = std::max(most_states, level.num_states);
  while (true) {
    MiniBucketPlan plan = make_mini_bucket_plan(graph, space, i_bound, options.should_stop);
    const double bytes = plan.needed_bytes(with_lower);
    if (bytes <= limit || (i_bound == 0 && bytes <= most)) return plan;
    if (options.i_bound || i_bound == 0) {
      throw Error(ErrorCode::kResource,
                  fmt::format("WeightedMiniBucket: mini-buckets with i-bound {} need {:.0f} bytes, allowed are {}",
                              i_bound, bytes, options.bytes));
    }
    // Every i-bound that admits the largest cluster gives this same plan. Lowering it by one divides the tables by at
    // most most_states, so several i-bounds that cannot fit are skipped at once.
    std::size_t largest = 0;
    for (const MiniBucketPlan::Cluster& cluster : plan.clusters) largest = std::max(largest, cluster.scope.size());
    const double step = std::floor(std::log(bytes / std::max(limit, 1.0)) / std::log(most_states));
    i_bound = std::max(0, std::min(i_bound, static_cast<int>(largest) - 1) - std::max(1, static_cast<int>(step)));
  }
}

MiniBucketReport plan_mini_buckets(const FactorGraph& graph, const SearchSpace& space,
                                   const MiniBucketOptions& options) {
  check_space("plan_mini_buckets", graph, space);
  check_argument(graph.has_only_tables(), "plan_mini_buckets", "needs a model in which every factor is a table");
  const MiniBucketPlan plan = choose_mini_bucket_plan(graph, space, options);
  MiniBucketReport report;
  report.i_bound = plan.i_bound;
  report.num_clusters = static_cast<int>(plan.clusters.size());
  report.is_exact = plan.is_exact();
  report.bytes = static_cast<std::uint64_t>(plan.needed_bytes(has_lower_plan(graph, options)));
  return report;
}

}  // namespace treesample
