#include "nn/gnn_tables.hpp"

#include <algorithm>

#include "nn/kernels.hpp"
#include "nn/panel_row.hpp"

namespace treesample::nn {
namespace {

// The kind of a class; all classes beyond the kinds belong to "table" factors.
int kind_of_class(const GnnOptions& options, int index) {
  if (index < options.num_kinds()) return index;
  return static_cast<int>(std::find(options.kinds.begin(), options.kinds.end(), kTableKind) - options.kinds.begin());
}

int target_block(const GnnOptions& options, int kind, int direction) {
  return static_cast<Direction>(direction) == Direction::kToVariable ? variable_block(options)
                                                                     : factor_block(options, kind);
}

// row = bias + W_encoding c.
void start_row(const Gnn& network, const Gnn::Block& block, const Encoding* encoding, float* row) {
  const float* parameters = network.parameters().values().data();
  copy_row(parameters + block.bias, row);
  if (!encoding) return;
  for (int i = 0; i < kEncoding; ++i) add_scaled_row((*encoding)[i], parameters + block.encoding + i * kPanel, row);
}

// The gradient of start_row.
void backward_start_row(const Gnn::Block& block, const Encoding* encoding, const float* g, float* gradient) {
  add_row(g, gradient + block.bias);
  if (!encoding) return;
  for (int i = 0; i < kEncoding; ++i) add_scaled_row((*encoding)[i], g, gradient + block.encoding + i * kPanel);
}

void build_edge_class(const Gnn& network, int index, int direction, GnnTables& tables) {
  const GnnOptions& options = network.options();
  const float* parameters = network.parameters().values().data();
  const int kind = kind_of_class(options, index);
  const Gnn::Block& block = network.block(edge_block(kind, static_cast<Direction>(direction)));
  const int rows = tables.states_per_class;
  const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(index * 2 + direction) * rows * kPanel;
  float* init = tables.edge_init.data() + at;
  float* first = tables.edge_first.data() + at;
  for (int s = 0; s < rows; ++s) {
    start_row(network, block, tables.edge_encodings[index], init + s * kPanel);
    if (s > 0) add_row(parameters + block.one_hot + (s - 1) * kPanel, init + s * kPanel);
  }
  perceptron_forward({.rows = rows,
                      .row_bias = init,
                      .tail = parameters + block.tail,
                      .hidden = tables.edge_hidden.data() + kTailLayers * at,
                      .out = first});
  dense_forward({.rows = rows,
                 .in_panels = 1,
                 .x = first,
                 .weight = parameters + block.weight,
                 .row_bias = init,
                 .y = tables.edge_second.data() + at});
  dense_forward({.rows = rows,
                 .in_panels = 1,
                 .x = first,
                 .weight = parameters + network.block(target_block(options, kind, direction)).weight,
                 .y = tables.edge_sum.data() + at});
}

struct TableBackward {
  const Gnn& network;
  const GnnTables& tables;
  const TransposedBlocks& transposed;
  const TableGradients& gradients;
  float* gradient;
};

void backward_edge_class(const TableBackward& pass, int index, int direction) {
  const auto& [network, tables, transposed, gradients, gradient] = pass;
  const GnnOptions& options = network.options();
  const int kind = kind_of_class(options, index);
  const int block_index = edge_block(kind, static_cast<Direction>(direction));
  const int target = target_block(options, kind, direction);
  const Gnn::Block& block = network.block(block_index);
  const int rows = tables.states_per_class;
  const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(index * 2 + direction) * rows * kPanel;
  const float* first = tables.edge_first.data() + at;
  const float* g_second = gradients.edge_second.data() + at;
  const float* g_sum = gradients.edge_sum.data() + at;
  dense_gradient({.rows = rows, .in_panels = 1, .x = first, .g = g_second, .weight = gradient + block.weight});
  dense_gradient(
      {.rows = rows, .in_panels = 1, .x = first, .g = g_sum, .weight = gradient + network.block(target).weight});
  FloatBuffer g_first(static_cast<std::size_t>(rows) * kPanel);
  dense_forward({.rows = rows, .in_panels = 1, .x = g_sum, .weight = transposed.weight(target), .y = g_first.data()});
  dense_forward({.rows = rows,
                 .in_panels = 1,
                 .x = g_second,
                 .weight = transposed.weight(block_index),
                 .row_bias = g_first.data(),
                 .y = g_first.data()});
  FloatBuffer work(2 * g_first.size());
  FloatBuffer g_init(g_first.size());
  perceptron_backward({.rows = rows,
                       .hidden = tables.edge_hidden.data() + kTailLayers * at,
                       .tail_transposed = transposed.tail(network, block_index),
                       .g_out = g_first.data(),
                       .work = work.data(),
                       .g_first = g_init.data(),
                       .g_tail = gradient + block.tail});
  for (int s = 0; s < rows; ++s) {
    float* g = g_init.data() + s * kPanel;
    add_row(gradients.edge_init.data() + at + s * kPanel, g);
    add_row(g_second + s * kPanel, g);
    backward_start_row(block, tables.edge_encodings[index], g, gradient);
    if (s > 0) add_row(g, gradient + block.one_hot + (s - 1) * kPanel);
  }
}

}  // namespace

void build_tables(const Gnn& network, std::span<const PlanData* const> plans, GnnTables& tables) {
  const GnnOptions& options = network.options();
  const float* parameters = network.parameters().values().data();
  const int num_kinds = options.num_kinds();
  tables.states_per_class = options.num_states + 1;
  tables.shared_edge_rows = num_kinds * 2 * tables.states_per_class;
  tables.shared_node_rows = num_kinds;
  tables.edge_encodings.assign(num_kinds, nullptr);
  tables.node_encodings.assign(num_kinds, nullptr);
  tables.shifts.clear();
  for (const PlanData* plan : plans) {
    const int edge_classes = static_cast<int>(tables.edge_encodings.size()) - num_kinds;
    tables.shifts.push_back({.edge_rows = edge_classes * 2 * tables.states_per_class,
                             .node_rows = static_cast<int>(tables.node_encodings.size()) - num_kinds});
    for (const Encoding& encoding : plan->edge_encodings) tables.edge_encodings.push_back(&encoding);
    for (const Encoding& encoding : plan->factor_encodings) tables.node_encodings.push_back(&encoding);
  }
  const std::size_t edge_size =
      tables.edge_encodings.size() * 2 * static_cast<std::size_t>(tables.states_per_class) * kPanel;
  for (FloatBuffer* table : {&tables.edge_init, &tables.edge_first, &tables.edge_second, &tables.edge_sum}) {
    table->resize(edge_size);
  }
  tables.edge_hidden.resize(kTailLayers * edge_size);
  for (int index = 0; index < static_cast<int>(tables.edge_encodings.size()); ++index) {
    for (int direction = 0; direction < 2; ++direction) build_edge_class(network, index, direction, tables);
  }
  tables.node_init.resize(tables.node_encodings.size() * kPanel);
  for (int index = 0; index < static_cast<int>(tables.node_encodings.size()); ++index) {
    const Gnn::Block& block = network.block(factor_block(options, kind_of_class(options, index)));
    start_row(network, block, tables.node_encodings[index], tables.node_init.data() + index * kPanel);
  }
  const Gnn::Block& block = network.block(variable_block(options));
  tables.variable_init.resize(static_cast<std::size_t>(tables.states_per_class) * kPanel);
  for (int s = 0; s < tables.states_per_class; ++s) {
    float* row = tables.variable_init.data() + s * kPanel;
    start_row(network, block, nullptr, row);
    if (s > 0) add_row(parameters + block.one_hot + (s - 1) * kPanel, row);
  }
}

void TableGradients::reset(const GnnTables& tables) {
  for (FloatBuffer* table : {&edge_init, &edge_second, &edge_sum}) table->assign(tables.edge_init.size(), 0.0F);
  node_init.assign(tables.node_init.size(), 0.0F);
  variable_init.assign(tables.variable_init.size(), 0.0F);
}

void TransposedBlocks::assign(const Gnn& network) {
  const float* parameters = network.parameters().values().data();
  const int count = num_blocks(network.options());
  constexpr int kMostPanels = 3;
  blocks_per_entry = kMostPanels + kTailLayers;
  values.resize(static_cast<std::size_t>(count) * static_cast<std::size_t>(blocks_per_entry) * kBlock);
  for (int index = 0; index < count; ++index) {
    const Gnn::Block& block = network.block(index);
    float* entry = values.data() + index * blocks_per_entry * kBlock;
    transpose_blocks(parameters + block.weight, 0, block.in_panels, 1, entry);
    entry += block.in_panels * kBlock;
    for (int l = 0; l < kTailLayers; ++l) {
      transpose_blocks(parameters + block.tail + l * kTailLayer, 0, 1, 1, entry + l * kBlock);
    }
  }
}

const float* TransposedBlocks::weight(int block) const { return values.data() + block * blocks_per_entry * kBlock; }

const float* TransposedBlocks::tail(const Gnn& network, int block) const {
  return weight(block) + network.block(block).in_panels * kBlock;
}

void backward_tables(const Gnn& network, const GnnTables& tables, const TransposedBlocks& transposed,
                     const TableGradients& gradients, std::span<float> gradient) {
  const GnnOptions& options = network.options();
  for (int index = 0; index < static_cast<int>(tables.edge_encodings.size()); ++index) {
    for (int direction = 0; direction < 2; ++direction) {
      backward_edge_class({network, tables, transposed, gradients, gradient.data()}, index, direction);
    }
  }
  for (int index = 0; index < static_cast<int>(tables.node_encodings.size()); ++index) {
    const Gnn::Block& block = network.block(factor_block(options, kind_of_class(options, index)));
    backward_start_row(block, tables.node_encodings[index], gradients.node_init.data() + index * kPanel,
                       gradient.data());
  }
  const Gnn::Block& block = network.block(variable_block(options));
  for (int s = 0; s < tables.states_per_class; ++s) {
    const float* g = gradients.variable_init.data() + s * kPanel;
    backward_start_row(block, nullptr, g, gradient.data());
    if (s > 0) add_row(g, gradient.data() + block.one_hot + (s - 1) * kPanel);
  }
}

}  // namespace treesample::nn
