// One walker of a local search: which part of the model it solves next, when it is kicked, and where it begins again.
#pragma once

#include <mutex>
#include <span>
#include <vector>

#include "optimize/conditioned_elimination.hpp"
#include "treesample/model/approximation.hpp"
#include "treesample/space/order.hpp"

namespace treesample {

// Varied greedy orders of elimination, which all walkers use. Each is made when it is asked for first.
class OrderPool {
 public:
  static constexpr std::size_t kMostOrders = 8;

  // `should_stop` ends order() with Error (kInterrupted).
  OrderPool(const FactorGraph& graph, std::uint64_t seed, ShouldStop should_stop);
  // Of any index. By any thread.
  [[nodiscard]] const std::vector<int>& order(std::size_t index);
  [[nodiscard]] const Adjacency& adjacency() const { return adjacency_; }

 private:
  std::uint64_t seed_;
  ShouldStop should_stop_;
  Adjacency adjacency_;
  std::mutex mutex_;
  std::vector<std::vector<int>> orders_;
};

class Walker {
 public:
  Walker(const FactorGraph& graph, OrderPool& orders, Random random, double most_entries);

  [[nodiscard]] bool has_begun() const { return !x_.x.empty(); }
  // From here. The density must be positive.
  void begin(const Configuration& first);
  // For so many bucket entries; `elites` are good configurations, the best first.
  void walk(double num_entries, const std::vector<Configuration>& elites, const ShouldStop& should_stop);

  // Since the last call.
  Configuration take_best();
  double take_entries();
  [[nodiscard]] bool is_whole() const { return is_whole_; }

 private:
  bool step(double noise, const std::vector<Configuration>& elites, StopCheck& stop);
  void set_priorities(const std::vector<Configuration>& elites, const std::vector<int>& order);
  void prefer_near();
  void prefer_difference(const Assignment& a, const Assignment& b);
  void end_descent(const std::vector<Configuration>& elites);
  void keep(const Configuration& found);

  const FactorGraph& graph_;
  OrderPool& orders_;
  ConditionedElimination elimination_;
  Random random_;
  double most_entries_;  // of all messages of a step
  Configuration x_;      // where it is
  Configuration base_;   // where it was before the last kick
  Configuration best_;   // since take_best()
  std::vector<double> priority_;
  std::vector<int> distance_;
  double scale_ = 1.0;  // how far log-values are apart
  double num_entries_ = 0.0;
  int log2_entries_, most_log2_entries_;  // of buckets now; where a descent ends
  int num_failures_ = 0, num_kicks_ = 0;  // in a row
  bool needs_kick_ = false, is_whole_ = false;
};

}  // namespace treesample
