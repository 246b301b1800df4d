// The nodes of the search with the values that one of its samplers attains.
#pragma once

#include <memory>
#include <vector>

#include "search/bound_store.hpp"
#include "treesample/search/search_approximation.hpp"

namespace treesample {

class SamplerView final : public StoreView {
 public:
  // Without a sampler: only children and rewards can be read.
  explicit SamplerView(const SearchResult& result) : store_(result.store) {}
  // Passes once over all nodes; `should_stop` ends it with Error (kInterrupted).
  SamplerView(const SearchResult& result, SamplerKind kind, const ShouldStop& should_stop);

  // X(root) including its rounding: P_L attains at least this; the weights of P_U are at most this.
  [[nodiscard]] double log_value() const { return log_value_; }
  // The search is solved, and samples leave the store only where leaf values are exact: they follow the target.
  [[nodiscard]] bool is_target() const { return has_only_exact_leaves_; }

  [[nodiscard]] const SearchSpace& space() const override { return store_->space(); }
  [[nodiscard]] NodeIndex root(std::size_t r) const override {
    return if_expanded(space().roots[r], store_->root_links()[r]);
  }
  [[nodiscard]] NodeIndex end_index(int level) const override { return store_->end_index(level); }
  [[nodiscard]] bool is_tree() const override { return false; }
  [[nodiscard]] bool has_values() const override { return true; }
  [[nodiscard]] bool is_whole() const override { return is_whole_; }
  bool read(int level, NodeIndex index, Read what, NodeEdges& edges) const override;
  void read_facts(int level, NodeIndex index, std::vector<EdgeFacts>& facts) const override;
  [[nodiscard]] std::uint64_t num_nodes() const override { return store_->num_expansions(); }
  [[nodiscard]] const LeafValue* below(int level) const override;

 private:
  class Builder;
  void look_for_leaves();
  [[nodiscard]] NodeIndex if_expanded(int level, NodeIndex index) const {
    return index != kNoNode && store_->node(level, index).is_expanded() ? index : kNoNode;
  }
  // X of an edge.
  [[nodiscard]] double edge_value(int level, const Expansion& expansion, int action) const;

  std::shared_ptr<const BoundStore> store_;
  LeafValues leaves_ = {};
  SamplerKind kind_ = SamplerKind::kEstimate;
  std::vector<std::vector<double>> values_;  // X by level and node; empty without a sampler
  double log_value_ = 0.0;
  bool is_whole_ = false, has_only_exact_leaves_ = false;
};

}  // namespace treesample
