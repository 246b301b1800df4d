// The kernels of nn/kernels.hpp. Only kernels.cpp includes this file, once per instruction set.
#if defined(TREESAMPLE_NN_KERNELS_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef TREESAMPLE_NN_KERNELS_INL_
#undef TREESAMPLE_NN_KERNELS_INL_
#else
#define TREESAMPLE_NN_KERNELS_INL_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>

#include "nn/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace treesample::nn {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, kPanel>;
using V = hn::Vec<D>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
constexpr int kVectors = kPanel / kLanes;  // vectors per panel row
// Rows of a tile. With 12 sums in flight the latency of the multiply-add is hidden and registers are left for the
// operands; with 4 vectors per row there is only room for 2 rows.
constexpr int kMaxTileRows = kVectors == 1 ? 12 : kVectors == 2 ? 6 : 2;

template <int kRows>
struct Tile {
  V sum[kRows][kVectors];
};

// tile += x block, for kRows rows of x and one block of 16 x 16.
template <int kRows>
HWY_INLINE void add_product(const float* HWY_RESTRICT x, const float* HWY_RESTRICT block, Tile<kRows>& tile) {
  const D d;
  for (int k = 0; k < kPanel; ++k) {
    V w[kVectors];
    for (int n = 0; n < kVectors; ++n) w[n] = hn::Load(d, block + k * kPanel + n * kLanes);
    for (int m = 0; m < kRows; ++m) {
      const V factor = hn::Set(d, x[m * kPanel + k]);
      for (int n = 0; n < kVectors; ++n) tile.sum[m][n] = hn::MulAdd(factor, w[n], tile.sum[m][n]);
    }
  }
}

// Rows [row, row + kRows) of out panel p.
template <int kRows>
HWY_INLINE void forward_tile(const DenseLayer& layer, int p, int row) {
  const D d;
  const std::ptrdiff_t panel = static_cast<std::ptrdiff_t>(layer.rows) * kPanel;
  Tile<kRows> tile;
  for (int m = 0; m < kRows; ++m) {
    for (int n = 0; n < kVectors; ++n) {
      tile.sum[m][n] = layer.row_bias ? hn::Load(d, layer.row_bias + (row + m) * kPanel + n * kLanes)
                       : layer.bias   ? hn::Load(d, layer.bias + p * kPanel + n * kLanes)
                                      : hn::Zero(d);
    }
  }
  const float* weight = layer.weight + static_cast<std::ptrdiff_t>(p) * layer.weight_rows * kPanel;
  for (int q = 0; q < layer.in_panels; ++q) {
    add_product<kRows>(layer.x + q * panel + row * kPanel, weight + q * kBlock, tile);
  }
  for (int m = 0; m < kRows; ++m) {
    for (int n = 0; n < kVectors; ++n) {
      V y = tile.sum[m][n];
      const std::ptrdiff_t at = p * panel + (row + m) * kPanel + n * kLanes;
      if (layer.relu) y = hn::Max(y, hn::Zero(d));
      if (layer.mask) y = hn::IfThenElseZero(hn::Gt(hn::Load(d, layer.mask + at), hn::Zero(d)), y);
      hn::Store(y, d, layer.y + at);
    }
  }
}

template <int kRows>
HWY_INLINE void forward_rows(const DenseLayer& layer, int p, int row, int rows) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return forward_rows<kRows - 1>(layer, p, row, rows);
  }
  forward_tile<kRows>(layer, p, row);
}

// With one row and a large matrix, most of the time is spent on reading the matrix. So rows of W that meet a 0 (about
// half of them after a ReLU) are skipped, and several panels are processed side by side to hide the latency.
HWY_NOINLINE void forward_single(const DenseLayer& layer) {
  const D d;
  constexpr int kMaxPanels = 4;
  constexpr int kChunk = 1024;  // inputs whose list of non-zeros is kept at a time
  int active[kChunk];
  const int inputs = layer.in_panels * kPanel;
  const std::ptrdiff_t stride = static_cast<std::ptrdiff_t>(layer.weight_rows) * kPanel;
  for (int first = 0; first == 0 || first < inputs; first += kChunk) {
    int num_active = 0;
    for (int i = first; i < std::min(inputs, first + kChunk); ++i) {
      active[num_active] = i;
      num_active += layer.x[i] != 0.0F ? 1 : 0;
    }
    const float* start = first == 0 ? layer.bias : layer.y;
    const bool last = first + kChunk >= inputs;
    for (int p = 0; p < layer.out_panels; p += kMaxPanels) {
      const int panels = std::min(kMaxPanels, layer.out_panels - p);
      V sum[kMaxPanels][kVectors];
      for (int j = 0; j < kMaxPanels; ++j) {
        const int from = (p + std::min(j, panels - 1)) * kPanel;
        for (int n = 0; n < kVectors; ++n) sum[j][n] = start ? hn::Load(d, start + from + n * kLanes) : hn::Zero(d);
      }
      // If there are fewer panels, the last one is repeated; the sums of the repetitions are not stored.
      const float* weight[kMaxPanels];
      for (int j = 0; j < kMaxPanels; ++j) weight[j] = layer.weight + (p + std::min(j, panels - 1)) * stride;
      for (int a = 0; a < num_active; ++a) {
        const V x = hn::Set(d, layer.x[active[a]]);
        for (int j = 0; j < kMaxPanels; ++j) {
          for (int n = 0; n < kVectors; ++n) {
            sum[j][n] = hn::MulAdd(x, hn::Load(d, weight[j] + active[a] * kPanel + n * kLanes), sum[j][n]);
          }
        }
      }
      for (int j = 0; j < kMaxPanels; ++j) {
        if (j >= panels) break;
        for (int n = 0; n < kVectors; ++n) {
          const V y = layer.relu && last ? hn::Max(sum[j][n], hn::Zero(d)) : sum[j][n];
          hn::Store(y, d, layer.y + (p + j) * kPanel + n * kLanes);
        }
      }
    }
  }
}

HWY_INLINE void forward_tiles(const DenseLayer& layer) {
  // Tiles have equal heights: 13 rows are 7 + 6, not 12 + 1, because a tile of one row would wait for its own sum.
  const int tiles = (layer.rows + kMaxTileRows - 1) / kMaxTileRows;
  for (int p = 0; p < layer.out_panels; ++p) {
    int row = 0;
    for (int t = tiles; t > 0; --t) {
      const int rows = (layer.rows - row + t - 1) / t;
      forward_rows<kMaxTileRows>(layer, p, row, rows);
      row += rows;
    }
  }
}

void dense_forward(const DenseLayer& layer) {
  const bool single = layer.rows == 1 && layer.in_panels > 1 && !layer.row_bias && !layer.mask;
  single ? forward_single(layer) : forward_tiles(layer);
}

// block (16 x 16) += x^T g over `rows` rows, in slices of kSlice rows of the block.
HWY_INLINE void add_outer_products(int rows, const float* HWY_RESTRICT x, const float* HWY_RESTRICT g,
                                   float* HWY_RESTRICT block) {
  const D d;
  constexpr int kSlice = kVectors == 1 ? 16 : kVectors == 2 ? 4 : 2;
  for (int i = 0; i < kPanel; i += kSlice) {
    Tile<kSlice> tile;
    for (int m = 0; m < kSlice; ++m) {
      for (int n = 0; n < kVectors; ++n) tile.sum[m][n] = hn::Load(d, block + (i + m) * kPanel + n * kLanes);
    }
    for (int r = 0; r < rows; ++r) {
      V row[kVectors];
      for (int n = 0; n < kVectors; ++n) row[n] = hn::Load(d, g + r * kPanel + n * kLanes);
      for (int m = 0; m < kSlice; ++m) {
        const V factor = hn::Set(d, x[r * kPanel + i + m]);
        for (int n = 0; n < kVectors; ++n) tile.sum[m][n] = hn::MulAdd(factor, row[n], tile.sum[m][n]);
      }
    }
    for (int m = 0; m < kSlice; ++m) {
      for (int n = 0; n < kVectors; ++n) hn::Store(tile.sum[m][n], d, block + (i + m) * kPanel + n * kLanes);
    }
  }
}

HWY_INLINE void add_rows(int rows, const float* HWY_RESTRICT g, float* HWY_RESTRICT sum) {
  const D d;
  for (int n = 0; n < kVectors; ++n) {
    V total = hn::Load(d, sum + n * kLanes);
    for (int r = 0; r < rows; ++r) total = hn::Add(total, hn::Load(d, g + r * kPanel + n * kLanes));
    hn::Store(total, d, sum + n * kLanes);
  }
}

void dense_gradient(const DenseGradient& gradient) {
  const std::ptrdiff_t panel = static_cast<std::ptrdiff_t>(gradient.rows) * kPanel;
  for (int p = 0; p < gradient.out_panels; ++p) {
    float* weight = gradient.weight + static_cast<std::ptrdiff_t>(p) * gradient.weight_rows * kPanel;
    for (int q = 0; q < gradient.in_panels; ++q) {
      add_outer_products(gradient.rows, gradient.x + q * panel, gradient.g + p * panel, weight + q * kBlock);
    }
    if (gradient.bias) add_rows(gradient.rows, gradient.g + p * panel, gradient.bias + p * kPanel);
  }
}

void sparse_forward(const SparseLayer& layer, const float* weight, const float* bias, float* y) {
  const D d;
  const std::ptrdiff_t stride = static_cast<std::ptrdiff_t>(layer.weight_rows) * kPanel;
  for (int p = 0; p < layer.out_panels; ++p, weight += stride, bias += kPanel) {
    for (int r = 0; r < layer.rows; ++r, y += kPanel) {
      for (int n = 0; n < kPanel; n += kLanes) {
        V sum = hn::Load(d, bias + n);
        for (int i = layer.begin[r]; i < layer.begin[r + 1]; ++i) {
          sum = hn::Add(sum, hn::Load(d, weight + layer.indices[i] * kPanel + n));
        }
        hn::Store(hn::Max(sum, hn::Zero(d)), d, y + n);
      }
    }
  }
}

void sparse_gradient(const SparseLayer& layer, const float* g, float* weight, float* bias) {
  const D d;
  const std::ptrdiff_t stride = static_cast<std::ptrdiff_t>(layer.weight_rows) * kPanel;
  for (int p = 0; p < layer.out_panels; ++p, weight += stride, bias += kPanel) {
    add_rows(layer.rows, g, bias);
    for (int r = 0; r < layer.rows; ++r, g += kPanel) {
      for (int i = layer.begin[r]; i < layer.begin[r + 1]; ++i) {
        float* row = weight + layer.indices[i] * kPanel;
        for (int n = 0; n < kPanel; n += kLanes) {
          hn::Store(hn::Add(hn::Load(d, row + n), hn::Load(d, g + n)), d, row + n);
        }
      }
    }
  }
}

void perceptron_forward(const PerceptronForward& p) {
  const std::ptrdiff_t panel = static_cast<std::ptrdiff_t>(p.rows) * kPanel;
  DenseLayer layer = {.rows = p.rows, .in_panels = p.in_panels, .x = p.x, .weight = p.weight};
  layer.row_bias = p.row_bias;
  layer.relu = true;
  layer.y = p.hidden;
  forward_tiles(layer);
  layer.row_bias = nullptr;
  layer.in_panels = 1;
  for (int l = 0; l < kTailLayers; ++l) {
    layer.x = p.hidden + l * panel;
    layer.weight = p.tail + l * kTailLayer;
    layer.bias = layer.weight + kBlock;
    layer.relu = l + 1 < kTailLayers;
    layer.y = layer.relu ? p.hidden + (l + 1) * panel : p.out;
    forward_tiles(layer);
  }
}

void perceptron_backward(const PerceptronBackward& p) {
  const std::ptrdiff_t panel = static_cast<std::ptrdiff_t>(p.rows) * kPanel;
  const float* g = p.g_out;
  DenseLayer layer = {.rows = p.rows, .in_panels = 1};
  for (int l = kTailLayers - 1; l >= 0; --l) {
    float* g_tail = p.g_tail + l * kTailLayer;
    add_outer_products(p.rows, p.hidden + l * panel, g, g_tail);
    add_rows(p.rows, g, g_tail + kBlock);
    layer.x = g;
    layer.weight = p.tail_transposed + l * kBlock;
    layer.mask = p.hidden + l * panel;
    layer.y = l == 0 ? p.g_first : p.work + (l - 1) * panel;
    forward_tiles(layer);
    g = layer.y;
  }
  for (int q = 0; q < p.in_panels; ++q) add_outer_products(p.rows, p.x + q * panel, g, p.g_weight + q * kBlock);
  if (!p.g_x) return;
  layer.x = g;
  layer.weight = p.weight_transposed;
  layer.weight_rows = kPanel;
  layer.out_panels = p.in_panels;
  layer.mask = nullptr;
  layer.y = p.g_x;
  forward_tiles(layer);
}

void adam_step(const AdamStep& step) {
  const D d;
  const V beta1 = hn::Set(d, step.beta1);
  const V beta2 = hn::Set(d, step.beta2);
  const V rest1 = hn::Set(d, 1.0F - step.beta1);
  const V rest2 = hn::Set(d, 1.0F - step.beta2);
  for (std::size_t i = 0; i < step.count; i += kLanes) {
    const V g = hn::Load(d, step.gradient + i);
    const V first = hn::MulAdd(beta1, hn::Load(d, step.first + i), hn::Mul(rest1, g));
    const V second = hn::MulAdd(beta2, hn::Load(d, step.second + i), hn::Mul(rest2, hn::Mul(g, g)));
    hn::Store(first, d, step.first + i);
    hn::Store(second, d, step.second + i);
    const V scale = hn::Add(hn::Sqrt(hn::Mul(second, hn::Set(d, step.second_scale))), hn::Set(d, step.epsilon));
    const V move = hn::Div(hn::Mul(hn::Set(d, step.step_size), first), scale);
    hn::Store(hn::Sub(hn::Load(d, step.values + i), move), d, step.values + i);
  }
}

double peak_flops_loop(std::int64_t rounds, float* sink) {
  const hn::ScalableTag<float> d;
  constexpr int kChains = 12;
  hn::Vec<decltype(d)> sum[kChains];
  for (int c = 0; c < kChains; ++c) sum[c] = hn::Set(d, static_cast<float>(c));
  const auto x = hn::Set(d, *sink);
  const auto y = hn::Set(d, *sink + 0.5F);
  for (std::int64_t r = 0; r < rounds; ++r) {
    for (int c = 0; c < kChains; ++c) sum[c] = hn::MulAdd(sum[c], x, y);
  }
  auto total = hn::Zero(d);
  for (int c = 0; c < kChains; ++c) total = hn::Add(total, sum[c]);
  *sink = hn::GetLane(total);
  return 2.0 * kChains * static_cast<double>(hn::Lanes(d)) * static_cast<double>(rounds);
}

KernelSet kernel_set() {
  return {dense_forward,      dense_gradient,      sparse_forward, sparse_gradient,
          perceptron_forward, perceptron_backward, adam_step,      peak_flops_loop};
}

}  // namespace HWY_NAMESPACE
}  // namespace treesample::nn
HWY_AFTER_NAMESPACE();

#endif  // TREESAMPLE_NN_KERNELS_INL_
