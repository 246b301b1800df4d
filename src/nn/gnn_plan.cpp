#include "treesample/nn/gnn_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "nn/gnn_cone.hpp"
#include "nn/table_encoding.hpp"
#include "treesample/error.hpp"

namespace treesample {
namespace {

using nn::Direction;

// One (factor, variable of its scope). Its directed edges have the numbers 2 i + Direction, where i is the link's
// number.
struct Link {
  int factor = 0;
  int variable = 0;
  int edge_class = 0;
};

struct Topology {
  GnnOptions options;
  int num_variables = 0;
  std::vector<int> factor_kind;
  std::vector<int> factor_class;
  std::vector<Link> links;
  std::vector<std::vector<int>> links_of_node;  // variables first, then factors

  [[nodiscard]] int factor_node(int factor) const { return num_variables + factor; }
  [[nodiscard]] int edge_block_of(int edge) const {
    return nn::edge_block(factor_kind[links[edge / 2].factor], static_cast<Direction>(edge % 2));
  }
  [[nodiscard]] int node_block_of(int node) const {
    return node < num_variables ? nn::variable_block(options)
                                : nn::factor_block(options, factor_kind[node - num_variables]);
  }
  [[nodiscard]] nn::TableRef table_of(int edge) const {
    const Link& link = links[edge / 2];
    return {.table_row = (link.edge_class * 2 + edge % 2) * (options.num_states + 1) + 1, .variable = link.variable};
  }
  // The edge of a link that points at this node.
  [[nodiscard]] int edge_into(int node, int link) const {
    return 2 * link + static_cast<int>(node < num_variables ? Direction::kToVariable : Direction::kToFactor);
  }
};

// Finds the cones of the read-out variables one by one; the marks are reused.
class ConeBuilder {
 public:
  explicit ConeBuilder(const Topology& topology)
      : topology_(topology), node_rank_(topology.links_of_node.size(), -1), edge_rank_(2 * topology.links.size(), -1) {}

  nn::Cone build(int readout) {
    collect(readout);
    nn::Cone cone;
    for (int t = 1; t <= topology_.options.iterations; ++t) {
      for (int block = 0; block < nn::num_blocks(topology_.options); ++block) {
        const bool is_node = nn::is_node_block(topology_.options, block);
        cone.step_begin.push_back(static_cast<int>(is_node ? cone.node_rows.size() : cone.edge_rows.size()));
        const std::vector<int>& members = members_[block];
        const int count = count_[nn::step_of(topology_.options, t, block)];
        cone.step_size.push_back(count);
        for (int i = 0; i < count; ++i) is_node ? add_node(members[i], t, cone) : add_edge(members[i], t, cone);
      }
    }
    for (const int node : nodes_) node_rank_[node] = -1;
    for (const int edge : edges_) edge_rank_[edge] = -1;
    return cone;
  }

 private:
  // Finds the nodes and edges of the cone, from iteration T down to 1. The sets are nested, so those of iteration t are
  // a prefix of this list, overall and within each block, and a row has the same index in the steps of all iterations.
  void collect(int readout) {
    const GnnOptions& options = topology_.options;
    members_.assign(nn::num_blocks(options), {});
    count_.assign(nn::num_steps(options), 0);
    nodes_.clear();
    edges_.clear();
    find_node(readout);
    std::size_t next_node = 0;
    std::size_t next_edge = 0;
    for (int t = options.iterations; t >= 1; --t) {
      if (t == options.global_after) {
        for (int v = 0; v < topology_.num_variables; ++v) find_node(v);
      }
      if (t > 1) {
        for (; next_node < nodes_.size(); ++next_node) {
          const int node = nodes_[next_node];
          for (const int link : topology_.links_of_node[node]) find_edge(topology_.edge_into(node, link));
        }
      }
      for (int block = 0; block < nn::num_blocks(options); ++block) {
        const bool counts = t > 1 || nn::is_node_block(options, block);
        count_[nn::step_of(options, t, block)] = counts ? static_cast<int>(members_[block].size()) : 0;
      }
      for (; next_edge < edges_.size(); ++next_edge) {
        const Link& link = topology_.links[edges_[next_edge] / 2];
        find_node(link.variable);
        find_node(topology_.factor_node(link.factor));
      }
    }
  }

  void find_node(int node) {
    if (node_rank_[node] >= 0) return;
    std::vector<int>& members = members_[topology_.node_block_of(node)];
    node_rank_[node] = static_cast<int>(members.size());
    members.push_back(node);
    nodes_.push_back(node);
  }

  void find_edge(int edge) {
    if (edge_rank_[edge] >= 0) return;
    std::vector<int>& members = members_[topology_.edge_block_of(edge)];
    edge_rank_[edge] = static_cast<int>(members.size());
    members.push_back(edge);
    edges_.push_back(edge);
  }

  [[nodiscard]] nn::RowRef node_ref(int node, int iteration) const {
    if (iteration < 1) return {};
    return {.step = nn::step_of(topology_.options, iteration, topology_.node_block_of(node)),
            .index = node_rank_[node]};
  }

  [[nodiscard]] nn::RowRef edge_ref(int edge, int iteration) const {
    if (iteration < 2) return {};
    return {.step = nn::step_of(topology_.options, iteration, topology_.edge_block_of(edge)),
            .index = edge_rank_[edge]};
  }

  void add_edge(int edge, int iteration, nn::Cone& cone) const {
    const Link& link = topology_.links[edge / 2];
    cone.edge_rows.push_back({.edge = edge_ref(edge, iteration - 1),
                              .variable = node_ref(link.variable, iteration - 1),
                              .factor = node_ref(topology_.factor_node(link.factor), iteration - 1),
                              .table = topology_.table_of(edge)});
  }

  void add_node(int node, int iteration, nn::Cone& cone) const {
    nn::NodeRow row = {.self = node_ref(node, iteration - 1)};
    if (node < topology_.num_variables) {
      row.variable = node;
    } else {
      row.node_row = topology_.factor_class[node - topology_.num_variables];
    }
    const auto end = [&] { return static_cast<int>(iteration == 1 ? cone.first_edges.size() : cone.in_edges.size()); };
    row.in_begin = end();
    for (const int link : topology_.links_of_node[node]) {
      const int edge = topology_.edge_into(node, link);
      if (iteration == 1) {
        cone.first_edges.push_back(topology_.table_of(edge));
      } else {
        cone.in_edges.push_back(edge_ref(edge, iteration));
      }
    }
    row.in_end = end();
    cone.node_rows.push_back(row);
  }

  const Topology& topology_;
  std::vector<int> node_rank_;  // position within its block; -1 if it is not in the cone
  std::vector<int> edge_rank_;
  std::vector<int> nodes_;  // in the order in which they were found
  std::vector<int> edges_;
  std::vector<std::vector<int>> members_;  // per block
  std::vector<int> count_;                 // per step
};

// The index that the network gives to a factor's kind.
int kind_index(const GnnOptions& options, const std::string& kind, int factor) {
  const auto find = [&](const std::string& name) {
    return static_cast<int>(std::find(options.kinds.begin(), options.kinds.end(), name) - options.kinds.begin());
  };
  int index = find(kind);
  if (index == options.num_kinds()) index = find(kTableKind);
  check_argument(index < options.num_kinds(), "GnnPlan",
                 fmt::format("factor {} is of kind '{}', the network knows {}", factor, kind, options.kinds));
  return index;
}

void add_factor(const FactorGraph& graph, int index, int kind, Topology& topology, nn::PlanData& plan) {
  const Factor& factor = graph.factor(index);
  const int num_kinds = plan.options.num_kinds();
  const bool is_encoded = plan.options.kinds[kind] == kTableKind;
  check_argument(!is_encoded || factor.is_table(), "GnnPlan",
                 fmt::format("factor {} is of kind '{}' but is code, not a table", index, kTableKind));
  topology.factor_kind.push_back(kind);
  topology.factor_class.push_back(is_encoded ? num_kinds + static_cast<int>(plan.factor_encodings.size()) : kind);
  if (is_encoded) plan.factor_encodings.push_back(nn::encode_table(graph, factor));
  for (int i = 0; i < static_cast<int>(factor.scope().size()); ++i) {
    const int variable = factor.scope()[i];
    const int edge_class = is_encoded ? num_kinds + static_cast<int>(plan.edge_encodings.size()) : kind;
    if (is_encoded) plan.edge_encodings.push_back(nn::encode_edge(graph, factor, i));
    const int link = static_cast<int>(topology.links.size());
    topology.links.push_back({.factor = index, .variable = variable, .edge_class = edge_class});
    topology.links_of_node[variable].push_back(link);
    topology.links_of_node[topology.factor_node(index)].push_back(link);
  }
}

}  // namespace

void GnnOptions::validate() const {
  check_range("GnnOptions", "number of kinds", num_kinds(), 1, 1 << 10);
  check_range("GnnOptions", "num_states", num_states, 1, 1 << 14);
  check_range("GnnOptions", "iterations", iterations, 1, 64);
  check_range("GnnOptions", "global_after", global_after, 0, iterations - 1);
  for (const std::string& kind : kinds) {
    check_argument(!kind.empty(), "GnnOptions", "a kind has an empty name");
    check_argument(std::count(kinds.begin(), kinds.end(), kind) == 1, "GnnOptions",
                   fmt::format("the kind '{}' is given twice", kind));
  }
}

GnnPlan::GnnPlan(const FactorGraph& graph, std::span<const std::string> factor_kinds, const GnnOptions& options) {
  options.validate();
  check_argument(static_cast<int>(factor_kinds.size()) == graph.num_factors(), "GnnPlan",
                 fmt::format("{} kinds for {} factors", factor_kinds.size(), graph.num_factors()));
  for (int v = 0; v < graph.num_variables(); ++v) {
    check_argument(
        graph.num_states(v) <= options.num_states, "GnnPlan",
        fmt::format("variable {} has {} states, the network allows {}", v, graph.num_states(v), options.num_states));
  }
  auto plan = std::make_shared<nn::PlanData>();
  plan->options = options;
  plan->num_variables = graph.num_variables();
  plan->graph_shape = graph.shape();
  Topology topology;
  topology.options = options;
  topology.num_variables = graph.num_variables();
  topology.links_of_node.resize(static_cast<std::size_t>(graph.num_variables() + graph.num_factors()));
  for (int m = 0; m < graph.num_factors(); ++m) {
    add_factor(graph, m, kind_index(options, factor_kinds[m], m), topology, *plan);
  }
  ConeBuilder builder(topology);
  for (int v = 0; v < graph.num_variables(); ++v) plan->cones.push_back(builder.build(v));
  data_ = std::move(plan);
}

const GnnOptions& GnnPlan::options() const { return data_->options; }
int GnnPlan::num_variables() const { return data_->num_variables; }
std::uint64_t GnnPlan::graph_shape() const { return data_->graph_shape; }

}  // namespace treesample
