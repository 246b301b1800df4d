#include "nn/gnn_pass.hpp"

#include <algorithm>
#include <array>

#include "nn/kernels.hpp"
#include "nn/panel_row.hpp"
#include "nn/squared_error.hpp"

namespace treesample::nn {
namespace {

constexpr int kMostPanels = 3;

// A step of the current pass.
struct Step {
  int index = 0;
  int iteration = 1;
  int block = 0;
  bool is_node = false;
  bool is_variable = false;
  int rows = 0;
  int in_panels = 0;  // smaller in iterations 1 and 2, whose inputs that are 0 or come from tables are left out
  float* x = nullptr;
  float* hidden = nullptr;
};

Step describe_step(const Gnn& network, int index, GnnMemory& memory) {
  const GnnOptions& options = network.options();
  Step step = {.index = index,
               .iteration = index / num_blocks(options) + 1,
               .block = index % num_blocks(options),
               .rows = memory.step_rows[index]};
  step.is_node = is_node_block(options, step.block);
  step.is_variable = step.block == variable_block(options);
  step.in_panels = step.is_node ? (step.iteration == 1 ? 0 : 2) : (step.iteration == 2 ? 2 : 3);
  step.x = memory.work.data() + memory.step_work[index];
  step.hidden = step.x + static_cast<std::ptrdiff_t>(step.in_panels) * step.rows * kPanel;
  return step;
}

// The number of panels of the first weight that are skipped: iteration 2 leaves out the panel of the edge itself.
int skipped_panels(const Step& step) { return !step.is_node && step.iteration == 2 ? 1 : 0; }

// Assigns positions to all rows and memory to all steps.
void lay_out(const Gnn& network, bool keep, GnnMemory& memory) {
  const int steps = num_steps(network.options());
  const int samples = static_cast<int>(memory.samples.size());
  memory.start.resize(static_cast<std::size_t>(steps * samples));
  memory.step_rows.resize(steps);
  memory.step_work.resize(steps);
  int position = 0;
  std::size_t work = 0;
  std::size_t most_work = 0;
  int most_rows = 0;
  for (int s = 0; s < steps; ++s) {
    const int begin = position;
    for (int k = 0; k < samples; ++k) {
      memory.start[k * steps + s] = position;
      position += memory.samples[k].cone->step_size[s];
    }
    const int rows = position - begin;
    memory.step_rows[s] = rows;
    memory.step_work[s] = keep ? work : 0;
    const std::size_t size = static_cast<std::size_t>(rows) * (kMostPanels + kTailLayers) * kPanel;
    work += size;
    most_work = std::max(most_work, size);
    most_rows = std::max(most_rows, rows);
  }
  const auto grow = [](FloatBuffer& buffer, std::size_t size) {
    if (buffer.size() < size) buffer.resize(size);
  };
  grow(memory.work, keep ? work : most_work);
  grow(memory.row_bias, static_cast<std::size_t>(most_rows) * kPanel);
  grow(memory.out, static_cast<std::size_t>(position) * kPanel);
  if (keep) {
    memory.g_out.assign(static_cast<std::size_t>(position) * kPanel, 0.0F);
    grow(memory.g_work, static_cast<std::size_t>(most_rows) * (kMostPanels + kTailLayers) * kPanel);
  }
}

void gather_edges(const Step& step, const GnnTables& tables, GnnMemory& memory) {
  const std::ptrdiff_t panel = static_cast<std::ptrdiff_t>(step.rows) * kPanel;
  const bool is_second = step.iteration == 2;
  const float* init = is_second ? tables.edge_second.data() : tables.edge_init.data();
  const float* out = memory.out.data();
  float* bias = memory.row_bias.data();
  float* x = step.x;
  const int* start = memory.start.data();
  for (const PassSample& sample : memory.samples) {
    const EdgeRow* row = sample.cone->edge_rows.data() + sample.cone->step_begin[step.index];
    const EdgeRow* end = row + sample.cone->step_size[step.index];
    for (; row != end; ++row, x += kPanel, bias += kPanel) {
      copy_row(init + tables.edge_row(row->table, sample.states, sample.shift) * kPanel, bias);
      float* next = x;
      if (!is_second) {
        copy_row(out + (start[row->edge.step] + row->edge.index) * kPanel, next);
        next += panel;
      }
      copy_row(out + (start[row->variable.step] + row->variable.index) * kPanel, next);
      copy_row(out + (start[row->factor.step] + row->factor.index) * kPanel, next + panel);
    }
    start += memory.step_rows.size();
  }
}

void gather_nodes(const Step& step, const GnnTables& tables, GnnMemory& memory) {
  const std::ptrdiff_t panel = static_cast<std::ptrdiff_t>(step.rows) * kPanel;
  const float* out = memory.out.data();
  float* bias = memory.row_bias.data();
  float* x = step.x;
  const int* start = memory.start.data();
  for (const PassSample& sample : memory.samples) {
    const Cone& cone = *sample.cone;
    const NodeRow* row = cone.node_rows.data() + cone.step_begin[step.index];
    const NodeRow* end = row + cone.step_size[step.index];
    for (; row != end; ++row, x += kPanel, bias += kPanel) {
      copy_row(step.is_variable ? tables.variable_init.data() + (sample.states[row->variable] + 1) * kPanel
                                : tables.node_init.data() + tables.node_row(row->node_row, sample.shift) * kPanel,
               bias);
      if (step.iteration == 1) {
        for (int i = row->in_begin; i < row->in_end; ++i) {
          const int table_row = tables.edge_row(cone.first_edges[i], sample.states, sample.shift);
          add_row(tables.edge_sum.data() + table_row * kPanel, bias);
        }
        continue;
      }
      std::fill(x, x + kPanel, 0.0F);
      for (int i = row->in_begin; i < row->in_end; ++i) {
        const RowRef& edge = cone.in_edges[i];
        add_row(out + (start[edge.step] + edge.index) * kPanel, x);
      }
      copy_row(out + (start[row->self.step] + row->self.index) * kPanel, x + panel);
    }
    start += memory.step_rows.size();
  }
}

// The gradients of gather_edges and gather_nodes: `g_first` is that of the start of the sums, `g_x` that of the inputs.
void scatter_edges(const Step& step, const float* g_first, const float* g_x, const GnnTables& tables,
                   GnnMemory& memory) {
  const std::ptrdiff_t panel = static_cast<std::ptrdiff_t>(step.rows) * kPanel;
  const bool is_second = step.iteration == 2;
  float* g_init = (is_second ? memory.table_gradients.edge_second : memory.table_gradients.edge_init).data();
  float* g_out = memory.g_out.data();
  const int* start = memory.start.data();
  for (const PassSample& sample : memory.samples) {
    const EdgeRow* row = sample.cone->edge_rows.data() + sample.cone->step_begin[step.index];
    const EdgeRow* end = row + sample.cone->step_size[step.index];
    for (; row != end; ++row, g_x += kPanel, g_first += kPanel) {
      add_row(g_first, g_init + tables.edge_row(row->table, sample.states, sample.shift) * kPanel);
      const float* next = g_x;
      if (!is_second) {
        add_row(next, g_out + (start[row->edge.step] + row->edge.index) * kPanel);
        next += panel;
      }
      add_row(next, g_out + (start[row->variable.step] + row->variable.index) * kPanel);
      add_row(next + panel, g_out + (start[row->factor.step] + row->factor.index) * kPanel);
    }
    start += memory.step_rows.size();
  }
}

void scatter_nodes(const Step& step, const float* g_first, const float* g_x, const GnnTables& tables,
                   GnnMemory& memory) {
  const std::ptrdiff_t panel = static_cast<std::ptrdiff_t>(step.rows) * kPanel;
  TableGradients& g_tables = memory.table_gradients;
  float* g_out = memory.g_out.data();
  const int* start = memory.start.data();
  for (const PassSample& sample : memory.samples) {
    const Cone& cone = *sample.cone;
    const NodeRow* row = cone.node_rows.data() + cone.step_begin[step.index];
    const NodeRow* end = row + cone.step_size[step.index];
    for (; row != end; ++row, g_x += kPanel, g_first += kPanel) {
      add_row(g_first, step.is_variable
                           ? g_tables.variable_init.data() + (sample.states[row->variable] + 1) * kPanel
                           : g_tables.node_init.data() + tables.node_row(row->node_row, sample.shift) * kPanel);
      if (step.iteration == 1) {
        for (int i = row->in_begin; i < row->in_end; ++i) {
          const int table_row = tables.edge_row(cone.first_edges[i], sample.states, sample.shift);
          add_row(g_first, g_tables.edge_sum.data() + table_row * kPanel);
        }
        continue;
      }
      for (int i = row->in_begin; i < row->in_end; ++i) {
        const RowRef& edge = cone.in_edges[i];
        add_row(g_x, g_out + (start[edge.step] + edge.index) * kPanel);
      }
      add_row(g_x + panel, g_out + (start[row->self.step] + row->self.index) * kPanel);
    }
    start += memory.step_rows.size();
  }
}

// The rows of a sample whose sum gives the global value: all variables after iteration global_after.
struct GlobalRows {
  std::ptrdiff_t begin = 0;  // in `out` and `g_out`
  int count = 0;
};

GlobalRows global_rows(const Gnn& network, int sample, const GnnMemory& memory) {
  const GnnOptions& options = network.options();
  const int step = step_of(options, options.global_after, variable_block(options));
  return {.begin = static_cast<std::ptrdiff_t>(memory.start[sample * num_steps(options) + step]) * kPanel,
          .count = memory.samples[sample].cone->step_size[step]};
}

std::array<float, kPanel> sum_rows(const GlobalRows& rows, const float* out) {
  std::array<float, kPanel> sum = {};
  for (int i = 0; i < rows.count; ++i) add_row(out + rows.begin + i * kPanel, sum.data());
  return sum;
}

void add_global_values(const Gnn& network, GnnMemory& memory) {
  const float* weight = network.parameters().values().data() + network.global_weight();
  const int samples = static_cast<int>(memory.samples.size());
  for (int k = 0; k < samples; ++k) {
    const std::array<float, kPanel> sum = sum_rows(global_rows(network, k, memory), memory.out.data());
    float value = 0.0F;
    for (int i = 0; i < kPanel; ++i) value += sum[i] * weight[i * kPanel];
    for (int a = 0; a < network.options().num_states; ++a) memory.q[panel_index(samples, k, a)] += value;
  }
}

void backward_global_values(const Gnn& network, GnnMemory& memory, std::span<float> gradient) {
  const float* weight = network.parameters().values().data() + network.global_weight();
  float* g_weight = gradient.data() + network.global_weight();
  const int samples = static_cast<int>(memory.samples.size());
  for (int k = 0; k < samples; ++k) {
    const GlobalRows rows = global_rows(network, k, memory);
    const std::array<float, kPanel> sum = sum_rows(rows, memory.out.data());
    float g = 0.0F;
    for (int a = 0; a < network.options().num_states; ++a) g += memory.g_q[panel_index(samples, k, a)];
    std::array<float, kPanel> g_row = {};
    for (int i = 0; i < kPanel; ++i) {
      g_weight[i * kPanel] += g * sum[i];
      g_row[i] = g * weight[i * kPanel];
    }
    for (int i = 0; i < rows.count; ++i) add_row(g_row.data(), memory.g_out.data() + rows.begin + i * kPanel);
  }
}

}  // namespace

void forward_pass(const Gnn& network, const GnnTables& tables, bool keep, GnnMemory& memory) {
  const GnnOptions& options = network.options();
  const float* parameters = network.parameters().values().data();
  lay_out(network, keep, memory);
  float* out = memory.out.data();
  for (int s = 0; s < num_steps(options); ++s) {
    if (memory.step_rows[s] == 0) continue;
    const Step step = describe_step(network, s, memory);
    if (step.is_node) {
      gather_nodes(step, tables, memory);
    } else {
      gather_edges(step, tables, memory);
    }
    const Gnn::Block& block = network.block(step.block);
    perceptron_forward({.rows = step.rows,
                        .in_panels = step.in_panels,
                        .x = step.x,
                        .row_bias = memory.row_bias.data(),
                        .weight = parameters + block.weight + skipped_panels(step) * kBlock,
                        .tail = parameters + block.tail,
                        .hidden = step.hidden,
                        .out = out + static_cast<std::ptrdiff_t>(memory.start[s]) * kPanel});
  }
  // In the last iteration, the variables' step has one row per sample: the read-out nodes, in order.
  const int last = step_of(options, options.iterations, variable_block(options));
  const int out_panels = (options.num_states + kPanel - 1) / kPanel;
  memory.q.resize(memory.samples.size() * static_cast<std::size_t>(out_panels) * kPanel);
  dense_forward({.rows = static_cast<int>(memory.samples.size()),
                 .in_panels = 1,
                 .out_panels = out_panels,
                 .x = out + static_cast<std::ptrdiff_t>(memory.start[last]) * kPanel,
                 .weight = parameters + network.readout_weight(),
                 .weight_rows = kPanel,
                 .bias = parameters + network.readout_bias(),
                 .y = memory.q.data()});
  if (options.global_after > 0) add_global_values(network, memory);
}

void backward_pass(const Gnn& network, const GnnTables& tables, GnnMemory& memory, std::span<float> gradient) {
  const GnnOptions& options = network.options();
  const int last = step_of(options, options.iterations, variable_block(options));
  const int out_panels = (options.num_states + kPanel - 1) / kPanel;
  const int samples = static_cast<int>(memory.samples.size());
  const std::ptrdiff_t readout = static_cast<std::ptrdiff_t>(memory.start[last]) * kPanel;
  dense_gradient({.rows = samples,
                  .in_panels = 1,
                  .out_panels = out_panels,
                  .x = memory.out.data() + readout,
                  .g = memory.g_q.data(),
                  .weight = gradient.data() + network.readout_weight(),
                  .weight_rows = kPanel,
                  .bias = gradient.data() + network.readout_bias()});
  dense_forward({.rows = samples,
                 .in_panels = out_panels,
                 .x = memory.g_q.data(),
                 .weight = memory.readout_transposed.data(),
                 .y = memory.g_out.data() + readout});
  if (options.global_after > 0) backward_global_values(network, memory, gradient);
  for (int s = num_steps(options) - 1; s >= 0; --s) {
    if (memory.step_rows[s] == 0) continue;
    const Step step = describe_step(network, s, memory);
    const Gnn::Block& block = network.block(step.block);
    const std::ptrdiff_t panel = static_cast<std::ptrdiff_t>(step.rows) * kPanel;
    float* g_first = memory.g_work.data() + 2 * panel;
    float* g_x = g_first + panel;
    perceptron_backward({.rows = step.rows,
                         .in_panels = step.in_panels,
                         .x = step.x,
                         .hidden = step.hidden,
                         .weight_transposed = memory.transposed.weight(step.block) + skipped_panels(step) * kBlock,
                         .tail_transposed = memory.transposed.tail(network, step.block),
                         .g_out = memory.g_out.data() + static_cast<std::ptrdiff_t>(memory.start[s]) * kPanel,
                         .work = memory.g_work.data(),
                         .g_first = g_first,
                         .g_x = step.in_panels > 0 ? g_x : nullptr,
                         .g_weight = gradient.data() + block.weight + skipped_panels(step) * kBlock,
                         .g_tail = gradient.data() + block.tail});
    if (step.is_node) {
      scatter_nodes(step, g_first, g_x, tables, memory);
    } else {
      scatter_edges(step, g_first, g_x, tables, memory);
    }
  }
}

}  // namespace treesample::nn
