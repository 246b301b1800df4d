#include "nn/kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "treesample/math/random.hpp"

namespace treesample::nn {
namespace {

FloatBuffer random_buffer(std::size_t size, Random& random) {
  FloatBuffer buffer(size);
  for (float& value : buffer) value = static_cast<float>(random.normal());
  return buffer;
}

// Entry (row, column) of a matrix in panels.
std::size_t at(int rows, int row, int column) {
  return static_cast<std::size_t>((column / kPanel * rows + row) * kPanel + column % kPanel);
}

// Runs every test once per instruction set that this machine has.
class Kernels : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override { use_kernels(kernel_sets().at(GetParam())); }
  void TearDown() override { use_kernels(kernel_sets().front()); }
  Random random{1, "kernels"};
};
INSTANTIATE_TEST_SUITE_P(Sets, Kernels, testing::Range(std::size_t{0}, kernel_sets().size()));

TEST_P(Kernels, DenseForwardIsTheMatrixProduct) {
  for (const auto& [rows, in_panels, out_panels] :
       {std::tuple(1, 1, 1), {1, 5, 3}, {1, 16, 16}, {2, 2, 1}, {5, 3, 2}, {13, 1, 5}, {31, 4, 4}}) {
    const int inputs = in_panels * kPanel;
    const int outputs = out_panels * kPanel;
    FloatBuffer x = random_buffer(static_cast<std::size_t>(rows * inputs), random);
    for (std::size_t i = 0; i < x.size(); i += 3) x[i] = 0.0F;
    const FloatBuffer weight = random_buffer(static_cast<std::size_t>(inputs * outputs), random);
    const FloatBuffer bias = random_buffer(static_cast<std::size_t>(outputs), random);
    const FloatBuffer mask = random_buffer(static_cast<std::size_t>(rows * outputs), random);
    for (const int variant : {0, 1, 2}) {  // plain, ReLU, mask without bias
      FloatBuffer y(static_cast<std::size_t>(rows * outputs), 99.0F);
      dense_forward({.rows = rows,
                     .in_panels = in_panels,
                     .out_panels = out_panels,
                     .x = x.data(),
                     .weight = weight.data(),
                     .weight_rows = inputs,
                     .bias = variant == 2 ? nullptr : bias.data(),
                     .mask = variant == 2 ? mask.data() : nullptr,
                     .relu = variant == 1,
                     .y = y.data()});
      for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < outputs; ++c) {
          double sum = variant == 2 ? 0.0 : bias[c];
          for (int i = 0; i < inputs; ++i) sum += double{x[at(rows, r, i)]} * weight[at(inputs, i, c)];
          if (variant == 1) sum = std::max(sum, 0.0);
          if (variant == 2 && mask[at(rows, r, c)] <= 0.0F) sum = 0.0;
          ASSERT_NEAR(y[at(rows, r, c)], sum, 1e-4) << rows << " rows, variant " << variant;
        }
      }
    }
  }
}

TEST_P(Kernels, DenseForwardAddsTheBiasOfTheRow) {
  const int rows = 9;
  const FloatBuffer bias = random_buffer(rows * kPanel, random);
  FloatBuffer y(rows * kPanel, 99.0F);
  dense_forward({.rows = rows, .in_panels = 0, .row_bias = bias.data(), .relu = true, .y = y.data()});
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], std::max(bias[i], 0.0F));
}

TEST_P(Kernels, DenseGradientAddsOuterProducts) {
  const int rows = 7;
  const int in_panels = 2;
  const int out_panels = 3;
  const FloatBuffer x = random_buffer(rows * in_panels * kPanel, random);
  const FloatBuffer g = random_buffer(rows * out_panels * kPanel, random);
  const FloatBuffer start = random_buffer(in_panels * out_panels * kBlock, random);
  FloatBuffer weight = start;
  FloatBuffer bias(out_panels * kPanel, 1.0F);
  dense_gradient({.rows = rows,
                  .in_panels = in_panels,
                  .out_panels = out_panels,
                  .x = x.data(),
                  .g = g.data(),
                  .weight = weight.data(),
                  .weight_rows = in_panels * kPanel,
                  .bias = bias.data()});
  for (int c = 0; c < out_panels * kPanel; ++c) {
    double column = 1.0;
    for (int r = 0; r < rows; ++r) column += g[at(rows, r, c)];
    EXPECT_NEAR(bias[c], column, 1e-5);
    for (int i = 0; i < in_panels * kPanel; ++i) {
      double sum = start[at(in_panels * kPanel, i, c)];
      for (int r = 0; r < rows; ++r) sum += double{x[at(rows, r, i)]} * g[at(rows, r, c)];
      EXPECT_NEAR(weight[at(in_panels * kPanel, i, c)], sum, 1e-5);
    }
  }
}

TEST_P(Kernels, TransposedBlocksMultiplyByTheTranspose) {
  const int in_panels = 2;
  const int out_panels = 3;
  const int inputs = in_panels * kPanel;
  const int outputs = out_panels * kPanel;
  const FloatBuffer weight = random_buffer(static_cast<std::size_t>(inputs * outputs), random);
  const FloatBuffer g = random_buffer(static_cast<std::size_t>(outputs), random);
  FloatBuffer transposed(weight.size());
  transpose_blocks(weight.data(), inputs, in_panels, out_panels, transposed.data());
  FloatBuffer y(static_cast<std::size_t>(inputs));
  dense_forward({.rows = 1,
                 .in_panels = out_panels,
                 .out_panels = in_panels,
                 .x = g.data(),
                 .weight = transposed.data(),
                 .weight_rows = outputs,
                 .y = y.data()});
  for (int i = 0; i < inputs; ++i) {
    double sum = 0.0;
    for (int c = 0; c < outputs; ++c) sum += double{g[c]} * weight[at(inputs, i, c)];
    EXPECT_NEAR(y[i], sum, 1e-4);
  }
}

TEST_P(Kernels, SparseLayerIsADenseLayerOfOnes) {
  const int weight_rows = 21;
  const std::vector<int> begin = {0, 2, 2, 5};
  const std::vector<int> indices = {3, 20, 0, 3, 7};
  const SparseLayer layer = {
      .rows = 3, .out_panels = 2, .begin = begin.data(), .indices = indices.data(), .weight_rows = weight_rows};
  const FloatBuffer weight = random_buffer(2 * weight_rows * kPanel, random);
  const FloatBuffer bias = random_buffer(2 * kPanel, random);
  const FloatBuffer g = random_buffer(3 * 2 * kPanel, random);
  FloatBuffer y(g.size());
  sparse_forward(layer, weight.data(), bias.data(), y.data());
  FloatBuffer g_weight(weight.size(), 1.0F);
  FloatBuffer g_bias(bias.size(), 1.0F);
  sparse_gradient(layer, g.data(), g_weight.data(), g_bias.data());
  for (int c = 0; c < 2 * kPanel; ++c) {
    std::vector<double> expected(weight_rows, 1.0);
    double expected_bias = 1.0;
    for (int r = 0; r < 3; ++r) {
      double sum = bias[c];
      for (int i = begin[r]; i < begin[r + 1]; ++i) {
        sum += weight[at(weight_rows, indices[i], c)];
        expected[indices[i]] += g[at(3, r, c)];
      }
      expected_bias += g[at(3, r, c)];
      EXPECT_NEAR(y[at(3, r, c)], std::max(sum, 0.0), 1e-5);
    }
    EXPECT_NEAR(g_bias[c], expected_bias, 1e-5);
    for (int i = 0; i < weight_rows; ++i) EXPECT_NEAR(g_weight[at(weight_rows, i, c)], expected[i], 1e-5);
  }
}

// A perceptron of the graph network with its error sum(out * slope), for finite differences.
struct SmallPerceptron {
  int rows = 3;
  int in_panels = 2;
  FloatBuffer x, row_bias, weight, tail, slope;

  explicit SmallPerceptron(Random& random)
      : x(random_buffer(static_cast<std::size_t>(rows * in_panels * kPanel), random)),
        row_bias(random_buffer(static_cast<std::size_t>(rows * kPanel), random)),
        weight(random_buffer(static_cast<std::size_t>(in_panels * kBlock), random)),
        tail(random_buffer(kTailLayers * kTailLayer, random)),
        slope(random_buffer(static_cast<std::size_t>(rows * kPanel), random)) {}

  // In double precision and by the definition.
  [[nodiscard]] double error() const {
    double sum = 0.0;
    for (int r = 0; r < rows; ++r) {
      std::vector<double> h(kPanel);
      for (int c = 0; c < kPanel; ++c) {
        h[c] = row_bias[r * kPanel + c];
        for (int i = 0; i < in_panels * kPanel; ++i) h[c] += double{x[at(rows, r, i)]} * weight[i * kPanel + c];
        h[c] = std::max(h[c], 0.0);
      }
      for (int l = 0; l < kTailLayers; ++l) {
        const float* layer = tail.data() + l * kTailLayer;
        std::vector<double> next(layer + kBlock, layer + kBlock + kPanel);
        for (int i = 0; i < kPanel; ++i) {
          for (int c = 0; c < kPanel; ++c) next[c] += h[i] * layer[i * kPanel + c];
        }
        for (double& value : next) value = l + 1 < kTailLayers ? std::max(value, 0.0) : value;
        h = next;
      }
      for (int c = 0; c < kPanel; ++c) sum += h[c] * slope[r * kPanel + c];
    }
    return sum;
  }

  void expect_gradient(FloatBuffer& values, const FloatBuffer& gradient, const char* what) {
    for (std::size_t i = 0; i < values.size(); i += 5) {
      const float saved = values[i];
      const float step = 1e-3F;
      values[i] = saved + step;
      const double above = error();
      const double up = values[i];
      values[i] = saved - step;
      const double expected = (above - error()) / (up - values[i]);
      values[i] = saved;
      EXPECT_NEAR(gradient[i], expected, 2e-3 * (1.0 + std::abs(expected))) << what << " entry " << i;
    }
  }
};

TEST_P(Kernels, PerceptronGradientsEqualFiniteDifferences) {
  SmallPerceptron p(random);
  const std::size_t panel = static_cast<std::size_t>(p.rows * kPanel);
  FloatBuffer hidden(3 * panel);
  FloatBuffer out(panel);
  perceptron_forward({.rows = p.rows,
                      .in_panels = p.in_panels,
                      .x = p.x.data(),
                      .row_bias = p.row_bias.data(),
                      .weight = p.weight.data(),
                      .tail = p.tail.data(),
                      .hidden = hidden.data(),
                      .out = out.data()});
  double error = 0.0;
  for (std::size_t i = 0; i < panel; ++i) error += double{out[i]} * p.slope[i];
  EXPECT_NEAR(error, p.error(), 1e-4 * std::abs(error));
  FloatBuffer weight_transposed(p.weight.size());
  transpose_blocks(p.weight.data(), 0, p.in_panels, 1, weight_transposed.data());
  FloatBuffer tail_transposed(kTailLayers * kBlock);
  for (int l = 0; l < kTailLayers; ++l) {
    transpose_blocks(p.tail.data() + l * kTailLayer, 0, 1, 1, tail_transposed.data() + l * kBlock);
  }
  FloatBuffer work(2 * panel), g_first(panel), g_x(p.x.size()), g_weight(p.weight.size()), g_tail(p.tail.size());
  perceptron_backward({.rows = p.rows,
                       .in_panels = p.in_panels,
                       .x = p.x.data(),
                       .hidden = hidden.data(),
                       .weight_transposed = weight_transposed.data(),
                       .tail_transposed = tail_transposed.data(),
                       .g_out = p.slope.data(),
                       .work = work.data(),
                       .g_first = g_first.data(),
                       .g_x = g_x.data(),
                       .g_weight = g_weight.data(),
                       .g_tail = g_tail.data()});
  p.expect_gradient(p.x, g_x, "x");
  p.expect_gradient(p.row_bias, g_first, "row_bias");
  p.expect_gradient(p.weight, g_weight, "weight");
  p.expect_gradient(p.tail, g_tail, "tail");
}

}  // namespace
}  // namespace treesample::nn
