// Sums the distribution p over a bucket onto the separators of its children.
//
// Children with small separators share a pass over p, through a table over the union of their scopes: for a clique of
// 20 variables with 20 children, p is traversed twice and not 20 times.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "exact/linear_table.hpp"
#include "model/dense_table.hpp"

namespace treesample {

class SeparatorSums {
 public:
  // Separators are in the order of the bucket's scope and must outlive the object. The sums of the groups are
  // uninitialised: the caller sets them to 0.
  SeparatorSums(const FactorGraph& graph, std::span<const int> bucket_scope,
                std::vector<std::span<const int>> separators, const std::shared_ptr<TablePool>& pool)
      : graph_(graph),
        separators_(std::move(separators)),
        groups_(group_scopes(graph, bucket_scope, separators_)),
        pool_(pool) {
    sums_.reserve(groups_.size());
    for (const ScopeGroup& group : groups_) sums_.emplace_back(num_table_entries(graph, group.scope), pool);
  }

  // The caller adds p into the table of each group.
  [[nodiscard]] const std::vector<ScopeGroup>& groups() const { return groups_; }
  [[nodiscard]] std::span<double> of_group(std::size_t group) { return sums_[group].span(); }

  // Calls take(separator index, its distribution) for each separator.
  template <typename Take>
  void hand_out(Take take) {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (groups_[g].members.size() == 1) {
        take(groups_[g].members.front(), std::move(sums_[g]));
        continue;
      }
      for (const int member : groups_[g].members) {
        TableMemory sum(num_table_entries(graph_, separators_[member]), pool_);
        std::fill_n(sum.data(), sum.size(), 0.0);
        add_sums(graph_, groups_[g].scope, sums_[g].data(), separators_[member], sum.data());
        take(member, std::move(sum));
      }
    }
  }

 private:
  const FactorGraph& graph_;
  std::vector<std::span<const int>> separators_;
  std::vector<ScopeGroup> groups_;
  std::shared_ptr<TablePool> pool_;
  std::vector<TableMemory> sums_;  // by group
};

}  // namespace treesample
