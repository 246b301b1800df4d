// Mini-buckets for map_search: upper bounds on what remains once some of the last eliminated variables have states.
#pragma once

#include <span>
#include <vector>

#include "treesample/model/factor_graph.hpp"
#include "treesample/stop.hpp"

namespace treesample {

// An order that eliminates the variables of M last: the cheapest of a few greedy orders.
std::vector<int> map_order(const FactorGraph& graph, const std::vector<char>& is_map, std::uint64_t seed,
                           const ShouldStop& should_stop);

class MapBuckets {
 public:
  // A cluster has at most max_entries entries, unless a single factor or message needs more. The graph must outlive the
  // object.
  MapBuckets(const FactorGraph& graph, std::vector<int> order, const std::vector<char>& is_map, double max_entries,
             const ShouldStop& should_stop);
  // Whether all messages for this limit have at most so many bytes, computed from the scopes alone.
  static bool fits(const FactorGraph& graph, const std::vector<int>& order, double max_entries, double bytes,
                   const ShouldStop& should_stop);

  // The variables of M in the order of the search: the last eliminated first.
  [[nodiscard]] int num_levels() const { return static_cast<int>(levels_.size()); }
  [[nodiscard]] int variable(int level) const { return levels_[level]; }
  [[nodiscard]] double root() const { return constant_; }
  // f for each state of the level's variable, given f of the prefix before it, which must not be -inf.
  void children(int level, std::span<const int> x, double parent, std::span<double> values) const;

  [[nodiscard]] bool is_exact() const { return is_exact_; }              // no bucket was split
  [[nodiscard]] bool has_exact_sums() const { return has_exact_sums_; }  // no bucket of a variable outside M was split
  // The error of an f, if the magnitudes of f and of those above it in the search are at most this.
  [[nodiscard]] double error(double magnitude) const { return error_ + 2.0 * magnitude * level_error_; }

 private:
  struct Table {
    std::vector<int> scope;
    std::vector<double> own;  // of a message
    const double* values = nullptr;
  };
  struct Bucket {
    std::vector<int> inputs;   // in tables_
    std::vector<int> outputs;  // the messages that it sends, in tables_
  };

  struct Cluster {
    std::vector<int> scope;    // sorted
    std::vector<int> members;  // places in the list of scopes
  };

  static std::vector<Cluster> clusters_of(const FactorGraph& graph, const std::vector<std::vector<int>>& sorted_scopes,
                                          double max_entries, StopCheck& stop);
  void eliminate(int v, bool is_max, double max_entries, const ShouldStop& should_stop);
  std::vector<double> message(const std::vector<int>& scope, const std::vector<int>& members,
                              const std::vector<double>& shift, double weight, const ShouldStop& should_stop) const;
  std::vector<double> largest_by_state(const std::vector<int>& scope, const std::vector<int>& members,
                                       const ShouldStop& should_stop) const;
  void send(std::vector<int> scope, std::vector<double> values, Bucket& from);
  [[nodiscard]] double value(const Table& table, std::span<const int> x) const;

  const FactorGraph& graph_;
  std::vector<int> time_;  // of elimination, by variable
  std::vector<Table> tables_;
  std::vector<Bucket> buckets_;  // by variable
  std::vector<int> levels_;
  double constant_ = 0.0, error_ = 0.0;
  double level_error_ = 0.0;  // of the additions along a path, relative to the terms
  bool is_exact_ = true, has_exact_sums_ = true;
};

}  // namespace treesample
