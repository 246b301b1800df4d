// Chooses the order for mini-buckets: many are planned, a few tried.
#include <algorithm>
#include <climits>
#include <cmath>
#include <utility>

#include "infer/methods.hpp"
#include "infer/policy.hpp"
#include "space/num_threads.hpp"
#include "treesample/math/random.hpp"
#include "treesample/space/varied_order.hpp"
#include "treesample/value/plan_mini_buckets.hpp"

namespace treesample {
namespace {

// An order of the levels, and the number of clusters of its mini-buckets with the memory that they will have.
struct Candidate {
  std::vector<int> order;  // empty: the first order
  int num_clusters = 0;
};

class OrderTrials {
 public:
  OrderTrials(const Task& task, const FactorGraph& graph, SpaceKind kind)
      : task_(task),
        graph_(graph),
        kind_(kind),
        is_late_(task.run.time_box(policy::kTrialShare, policy::kOrderSeconds)),
        is_planned_(task.run.time_box(policy::kPlanShare, 0.5 * policy::kOrderSeconds)) {
    trial_.should_stop = [this, is_over = task.run.set_up_end()] { return is_late_() || is_over(); };
    trial_.bytes = task.limits().bytes / policy::kBucketMemoryDivisor;
    trial_.wanted_bytes = wanted_bucket_bytes(task, graph);
    trial_.passes = 1;
    trial_.lower_bound = false;
    trial_.threads = num_threads(task.limits());
  }

  SearchSpace choose();

 private:
  [[nodiscard]] double reach() const;
  [[nodiscard]] bool is_near(double cost) const { return cost < reach(); }
  SearchSpace first_order() const;
  std::optional<Candidate> candidate(int number, double most_cost) const;
  std::vector<Candidate> plan(const SearchSpace& first);
  [[nodiscard]] std::optional<int> num_clusters(const SearchSpace& space) const;

  const Task& task_;
  const FactorGraph& graph_;
  const SpaceKind kind_;
  const ShouldStop is_late_, is_planned_;
  MiniBucketOptions trial_;
  Adjacency adjacency_;  // set when it is needed
};

// The logarithm of the largest cost of an exact search that can come near its end. Such a search needs the cheapest
// order.
double OrderTrials::reach() const {
  const double seconds = task_.run.has_time_limit() ? task_.run.time_limit() : policy::kReachSeconds;
  return std::log(policy::kEvaluationsPerSecond * policy::kClosedByBuckets * seconds);
}

// The cheapest of many orders, unless a few show that the search would be far from its end with any order.
SearchSpace OrderTrials::first_order() const {
  if (*task_.options().restarts == 0) {
    SearchSpace few = space_by_order(task_, graph_, kind_, policy::kTrialRestarts);
    if (!is_near(few.log_exact_cost() - policy::kRestartsGain)) return few;
  }
  return space_for(task_, graph_, kind_);
}

std::optional<int> OrderTrials::num_clusters(const SearchSpace& space) const {
  const auto planned = unless_given_up([&] { return plan_mini_buckets(graph_, space, trial_); });
  if (!planned) return {};
  return planned->num_clusters;
}

std::optional<Candidate> OrderTrials::candidate(int number, double most_cost) const {
  return unless_given_up([&]() -> std::optional<Candidate> {
           Random ties(task_.seed() + static_cast<std::uint64_t>(number), "varied order");
           // Orders in which edges between variables with many states count more, with two amounts of noise.
           constexpr int kWeighted[] = {3, 4};
           std::vector<int> order =
               elimination_order(adjacency_, *task_.options().order, ties, {.should_stop = trial_.should_stop},
                                 varied_order(kWeighted[number % 2], graph_));
           std::reverse(order.begin(), order.end());
           const SearchSpace space = make_search_space(graph_, order, kind_, trial_.should_stop);
           if (space.log_exact_cost() > most_cost) return {};
           const std::optional<int> count = num_clusters(space);
           if (!count) return {};
           return Candidate{std::move(order), *count};
         })
      .value_or(std::nullopt);
}

// The orders that are worth a pass: the fewer clusters, the less is lost by splitting.
std::vector<Candidate> OrderTrials::plan(const SearchSpace& first) {
  adjacency_ = adjacency_of(graph_);
  // The farther from its end the search will be, the less the cost of the order matters.
  const double cost = first.log_exact_cost();
  const double most_cost = cost + std::min(policy::kTrialCostMargin, std::max(0.0, cost - reach()));
  std::vector<Candidate> kept = {{{}, num_clusters(first).value_or(INT_MAX)}};
  const OrderKind order = *task_.options().order;
  const bool can_vary = order == OrderKind::kMinFill || order == OrderKind::kMinWidth;
  for (int i = 1; can_vary && i <= policy::kPlannedOrders && !is_planned_() && !is_late_(); ++i) {
    std::optional<Candidate> found = candidate(i, most_cost);
    if (!found) continue;
    const auto place = std::upper_bound(kept.begin(), kept.end(), *found, [](const Candidate& a, const Candidate& b) {
      return a.num_clusters < b.num_clusters;
    });
    kept.insert(place, *std::move(found));
    if (kept.size() > policy::kTrialOrders) kept.pop_back();
  }
  return kept;
}

SearchSpace OrderTrials::choose() {
  SearchSpace first = first_order();
  if (is_near(first.log_exact_cost()) || is_late_()) return first;
  const std::vector<Candidate> kept = plan(first);
  const TellShare tell = task_.run.phase("orders in trial", policy::kTrialShare, policy::kOrderSeconds);
  std::size_t num_tried = 0;
  if (tell) {
    trial_.progress = [&](double share) {
      tell((static_cast<double>(num_tried) + share) / static_cast<double>(kept.size()));
    };
  }
  const auto space_of = [&](const Candidate& candidate, const ShouldStop& should_stop) {
    return candidate.order.empty() ? first : make_search_space(graph_, candidate.order, kind_, should_stop);
  };
  std::optional<SearchSpace> best;
  double lowest = HUGE_VAL;
  for (; num_tried < kept.size() && !is_late_(); ++num_tried) {
    const bool goes_on = unless_given_up([&] {
                           SearchSpace space = space_of(kept[num_tried], trial_.should_stop);
                           const MiniBucketReport report = WeightedMiniBucket(graph_, space, trial_).report();
                           if (report.log_upper < lowest) best = std::move(space);
                           lowest = std::min(lowest, report.log_upper);
                           return !report.is_exact;
                         }).value_or(false);
    if (!goes_on) break;
  }
  // Without time for a single pass, the number of clusters decides.
  return best ? *std::move(best) : space_of(kept.front(), task_.run.set_up_end());
}

}  // namespace

SearchSpace space_for_mini_buckets(const Task& task, const FactorGraph& graph, SpaceKind kind) {
  return OrderTrials(task, graph, kind).choose();
}

}  // namespace treesample
