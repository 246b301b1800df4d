// All sums of a graph network that depend only on the parameters, one state and one class of edges or nodes (classes:
// see gnn_cone.hpp), computed once per version of the parameters.
//
// Write W = (W_edge, W_variable, W_factor, W_state, W_encoding) for the first weight of an edge block and b for its
// bias, and U = (U_sum, U_self, ...) for the node block that the edge points at. For a class with encoding c and a
// variable in state s, or unset (W_state[s] is then 0):
//
//     edge_init    = b + W_state[s] + W_encoding c        start of the first layer's sum in iterations >= 3
//     edge_first   = perceptron(edge_init)                the edge after iteration 1, as all other inputs are 0
//     edge_second  = edge_init + W_edge edge_first        start of that sum in iteration 2
//     edge_sum     = U_sum edge_first                     the edge's contribution to its node in iteration 1
//
// Row (class * 2 + direction) * (K + 1) + s + 1, with s = -1 for unset, holds these for (class, s).
#pragma once

#include <span>
#include <vector>

#include "nn/gnn_cone.hpp"
#include "treesample/nn/gnn.hpp"

namespace treesample::nn {

// The classes of a plan's own have rows after those of the earlier plans in the batch.
struct PlanShift {
  int edge_rows = 0;
  int node_rows = 0;
};

struct GnnTables {
  int states_per_class = 0;  // K + 1
  int shared_edge_rows = 0;  // rows before this one belong to kinds, which all plans share, and are not shifted
  int shared_node_rows = 0;
  std::vector<PlanShift> shifts;                // per plan
  std::vector<const Encoding*> edge_encodings;  // per class; null for a kind
  std::vector<const Encoding*> node_encodings;
  FloatBuffer edge_init;
  FloatBuffer edge_first;
  FloatBuffer edge_second;
  FloatBuffer edge_sum;
  FloatBuffer edge_hidden;    // hidden layers of the perceptron of edge_first, for the backward pass
  FloatBuffer node_init;      // factor nodes: bias + encoding, per class
  FloatBuffer variable_init;  // variable nodes: bias + state, row s + 1

  [[nodiscard]] int edge_row(const TableRef& ref, const int* states, const PlanShift& shift) const {
    return ref.table_row + states[ref.variable] + (ref.table_row >= shared_edge_rows ? shift.edge_rows : 0);
  }
  [[nodiscard]] int node_row(int row, const PlanShift& shift) const {
    return row + (row >= shared_node_rows ? shift.node_rows : 0);
  }
};

// The tables for graphs with these plans; the plans must outlive them.
void build_tables(const Gnn& network, std::span<const PlanData* const> plans, GnnTables& tables);

// Gradients with respect to the tables, by name.
struct TableGradients {
  FloatBuffer edge_init;
  FloatBuffer edge_second;
  FloatBuffer edge_sum;
  FloatBuffer node_init;
  FloatBuffer variable_init;

  void reset(const GnnTables& tables);
};

// Blocks of 16 x 16 transposed, for the backward pass: those of the first weight, then the tail.
struct TransposedBlocks {
  FloatBuffer values;
  int blocks_per_entry = 0;

  void assign(const Gnn& network);
  [[nodiscard]] const float* weight(int block) const;
  [[nodiscard]] const float* tail(const Gnn& network, int block) const;
};

// Passes the gradients of the tables on to the parameters.
void backward_tables(const Gnn& network, const GnnTables& tables, const TransposedBlocks& transposed,
                     const TableGradients& gradients, std::span<float> gradient);

}  // namespace treesample::nn
