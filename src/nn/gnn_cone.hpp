// The contents of a GnnPlan: the rows that one evaluation of a graph network computes.
//
// The network has a node per variable and per factor, and two directed edges per (factor, variable of its scope). It is
// read out at one variable node, so only the backward cone of that node is needed (with a global value after iteration
// t, also all variable nodes from iteration t down). With T iterations:
//
//     T        the read-out node, and the edges into it
//     T - 1    the nodes and edges that those read: now also their factors' nodes, and the edges into these
//     ...
//     1        the largest set of nodes; edges come from tables (see gnn_tables.hpp)
//
// The sets grow from T down to 1. A cone lists them as rows ordered by step = (iteration, block). The rows of one step
// go through one perceptron together and read only rows of earlier steps.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "treesample/nn/gnn_plan.hpp"

namespace treesample::nn {

inline constexpr int kEncoding = 16;
using Encoding = std::array<float, kEncoding>;

// Blocks in the order in which an iteration runs them: all edges, then all nodes.
enum class Direction { kToFactor = 0, kToVariable = 1 };
inline int edge_block(int kind, Direction direction) { return 2 * kind + static_cast<int>(direction); }
inline int variable_block(const GnnOptions& options) { return 2 * options.num_kinds(); }
inline int factor_block(const GnnOptions& options, int kind) { return 2 * options.num_kinds() + 1 + kind; }
inline int num_blocks(const GnnOptions& options) { return 3 * options.num_kinds() + 1; }
inline bool is_node_block(const GnnOptions& options, int block) { return block >= variable_block(options); }
// Iterations count from 1, as in the paper. Step 0 is block 0 of iteration 1.
inline int step_of(const GnnOptions& options, int iteration, int block) {
  return (iteration - 1) * num_blocks(options) + block;
}
inline int num_steps(const GnnOptions& options) { return options.iterations * num_blocks(options); }

// An output computed earlier: row `index` of a step.
struct RowRef {
  int step = -1;
  int index = 0;
};

// The place of the constant part of an edge's inputs: row table_row + (state of the variable) of the edge tables. The
// state is -1 if the variable is not assigned.
struct TableRef {
  int table_row = 0;
  int variable = 0;
};

struct EdgeRow {
  RowRef edge;  // the edge itself and its two ends, in the iteration before
  RowRef variable;
  RowRef factor;
  TableRef table;
};

struct NodeRow {
  RowRef self;       // the node in the iteration before (unused in iteration 1)
  int variable = 0;  // of a variable's node: the variable
  int node_row = 0;  // of a factor's node: its row of the node table
  int in_begin = 0;  // range of incoming edges, in first_edges (iteration 1) or in_edges (later)
  int in_end = 0;
};

struct Cone {
  std::vector<int> step_begin;  // per step: where its rows begin in edge_rows or node_rows
  std::vector<int> step_size;
  std::vector<EdgeRow> edge_rows;
  std::vector<NodeRow> node_rows;
  std::vector<RowRef> in_edges;
  std::vector<TableRef> first_edges;
};

// Classes. Edges of one kind and direction share their constant inputs, so each kind is a class: class c = kind c.
// Every edge of a "table" factor has an encoding of its own, so these have classes of their own: num_kinds, num_kinds +
// 1, ... of this plan. The same holds for factor nodes.
struct PlanData {
  GnnOptions options;
  int num_variables = 0;
  std::uint64_t graph_shape = 0;
  std::vector<Encoding> factor_encodings;
  std::vector<Encoding> edge_encodings;
  std::vector<Cone> cones;  // per read-out variable
};

}  // namespace treesample::nn
