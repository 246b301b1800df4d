#include "optimize/walker.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr int kLeastLog2 = 7, kFirstMostLog2 = 11, kMostLog2 = 18;  // of the entries of a bucket
constexpr int kPatience = 5;                                        // steps in vain before parts grow
constexpr int kKicksPerSize = 4;                                    // in vain before descents go further
constexpr int kMostKicks = 40;                                      // in vain before it begins elsewhere
constexpr double kLeastNoise = 0.02, kMostNoise = 1.0;              // of a kick, in units of the scale
constexpr double kOrderNoise = 0.3;                                 // in the scores of greedy orders

// The median of the differences between the largest and the smallest finite entry of the tables.
double scale_of(const FactorGraph& graph) {
  std::vector<double> ranges;
  for (const Factor& factor : graph.factors()) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (const double value : factor.log_values()) {
      if (value == kNegInf) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
    if (high > low) ranges.push_back(high - low);
  }
  if (ranges.empty()) return 1.0;
  std::nth_element(ranges.begin(), ranges.begin() + std::ssize(ranges) / 2, ranges.end());
  return ranges[ranges.size() / 2];
}

}  // namespace

OrderPool::OrderPool(const FactorGraph& graph, std::uint64_t seed, ShouldStop should_stop)
    : seed_(seed), should_stop_(std::move(should_stop)), adjacency_(adjacency_of(graph)), orders_(kMostOrders) {}

const std::vector<int>& OrderPool::order(std::size_t index) {
  const std::scoped_lock lock(mutex_);
  std::vector<int>& order = orders_[index % kMostOrders];
  if (order.empty()) {
    Random ties(seed_ + index % kMostOrders, "order of a local search");
    const OrderVariation variation{.noise = index % kMostOrders == 0 ? 0.0 : kOrderNoise};
    order = elimination_order(adjacency_, OrderKind::kMinFill, ties, {.should_stop = should_stop_}, variation);
  }
  return order;
}

Walker::Walker(const FactorGraph& graph, OrderPool& orders, Random random, double most_entries)
    : graph_(graph),
      orders_(orders),
      elimination_(graph),
      random_(std::move(random)),
      most_entries_(most_entries),
      priority_(static_cast<std::size_t>(graph.num_variables())),
      scale_(scale_of(graph)),
      log2_entries_(kLeastLog2),
      most_log2_entries_(kFirstMostLog2) {}

void Walker::begin(const Configuration& first) {
  x_ = base_ = first;
  keep(first);
  log2_entries_ = kLeastLog2;
  most_log2_entries_ = kFirstMostLog2;
  num_failures_ = num_kicks_ = 0;
  needs_kick_ = false;
}

void Walker::keep(const Configuration& found) {
  if (best_.x.empty() || found.log_density > best_.log_density) best_ = found;
}

Configuration Walker::take_best() { return std::exchange(best_, {}); }
double Walker::take_entries() { return std::exchange(num_entries_, 0.0); }

void Walker::walk(double num_entries, const std::vector<Configuration>& elites, const ShouldStop& should_stop) {
  StopCheck stop(should_stop);
  const double end = num_entries_ + num_entries;
  while (num_entries_ < end && !is_whole_) {
    double noise = 0.0;
    if (needs_kick_) {
      noise = scale_ * kLeastNoise * std::pow(kMostNoise / kLeastNoise, random_.uniform());
      needs_kick_ = false;
      num_failures_ = 0;
      log2_entries_ = kLeastLog2;
    }
    const double before = x_.log_density;
    if (!step(noise, elites, stop)) return;
    if (noise > 0.0) continue;
    if (x_.log_density > before) {
      num_failures_ = 0;
      continue;
    }
    if (++num_failures_ < kPatience) continue;
    num_failures_ = 0;
    if (++log2_entries_ > most_log2_entries_) end_descent(elites);
  }
}

// Nothing improves any more.
void Walker::end_descent(const std::vector<Configuration>& elites) {
  const bool is_better = x_.log_density > base_.log_density;
  if (x_.log_density >= base_.log_density) base_ = x_;
  x_ = base_;
  needs_kick_ = true;
  num_kicks_ = is_better ? 0 : num_kicks_ + 1;
  if (num_kicks_ % kKicksPerSize == kKicksPerSize - 1) most_log2_entries_ = std::min(kMostLog2, most_log2_entries_ + 1);
  if (num_kicks_ < kMostKicks || elites.empty()) return;
  begin(elites[random_.below(elites.size())]);
  needs_kick_ = true;
}

bool Walker::step(double noise, const std::vector<Configuration>& elites, StopCheck& stop) {
  const std::vector<int>& order = orders_.order(random_.below(OrderPool::kMostOrders));
  set_priorities(elites, order);
  Assignment y = x_.x;
  const Part part{order, priority_, std::ldexp(1.0, log2_entries_), most_entries_, noise};
  if (!elimination_.improve(y, part, random_, stop)) return false;
  num_entries_ += elimination_.num_entries() + static_cast<double>(1 + graph_.num_variables() + graph_.num_factors());
  const double log_density = graph_.log_density(y);
  if (elimination_.is_whole() && noise == 0.0) is_whole_ = true;
  // Rounding may make it worse.
  if (noise == 0.0 && log_density < x_.log_density) return true;
  x_ = {std::move(y), log_density};
  keep(x_);
  return true;
}

void Walker::set_priorities(const std::vector<Configuration>& elites, const std::vector<int>& order) {
  for (double& priority : priority_) priority = random_.uniform();
  const std::uint64_t way = random_.below(elites.size() > 1 ? 4 : 3);
  if (way == 1) {  // what is removed last is in the largest buckets
    for (std::size_t i = 0; i < order.size(); ++i)
      priority_[order[i]] *= 1.0 - static_cast<double>(i) / static_cast<double>(order.size());
  } else if (way == 2) {
    prefer_near();
  } else if (way == 3) {
    const Configuration& other = elites[random_.below(elites.size())];
    prefer_difference(x_.x, other.x);
  }
}

// By the distance from a random variable, in steps from a variable to its neighbours.
void Walker::prefer_near() {
  const Adjacency& adjacency = orders_.adjacency();
  distance_.assign(adjacency.size(), -1);
  std::vector<int> queue{static_cast<int>(random_.below(adjacency.size()))};
  distance_[queue.front()] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const int u : adjacency[queue[i]]) {
      if (distance_[u] >= 0) continue;
      distance_[u] = distance_[queue[i]] + 1;
      queue.push_back(u);
    }
  }
  const double furthest = distance_[queue.back()] + 1.0;
  for (std::size_t v = 0; v < adjacency.size(); ++v)
    priority_[v] -= distance_[v] < 0 ? furthest : static_cast<double>(distance_[v]);
}

void Walker::prefer_difference(const Assignment& a, const Assignment& b) {
  for (std::size_t v = 0; v < a.size(); ++v) priority_[v] += a[v] != b[v] ? 1.0 : 0.0;
}

}  // namespace treesample
