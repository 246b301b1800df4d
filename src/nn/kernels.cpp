#include "nn/kernels.hpp"

// These targets are left out. Tiles are arrays of vectors, which the types of scalable instruction sets do not allow
// (those machines use NEON). SSSE3 without SSE4 is not worth its compile time.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_SSSE3)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "nn/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "nn/kernels-inl.hpp"

#if HWY_ONCE
namespace treesample::nn {

HWY_EXPORT(dense_forward);
HWY_EXPORT(dense_gradient);
HWY_EXPORT(sparse_forward);
HWY_EXPORT(sparse_gradient);
HWY_EXPORT(perceptron_forward);
HWY_EXPORT(perceptron_backward);
HWY_EXPORT(adam_step);
HWY_EXPORT(peak_flops_loop);

void dense_forward(const DenseLayer& layer) { HWY_DYNAMIC_DISPATCH(dense_forward)(layer); }
void dense_gradient(const DenseGradient& gradient) { HWY_DYNAMIC_DISPATCH(dense_gradient)(gradient); }
void sparse_forward(const SparseLayer& layer, const float* weight, const float* bias, float* y) {
  HWY_DYNAMIC_DISPATCH(sparse_forward)(layer, weight, bias, y);
}
void sparse_gradient(const SparseLayer& layer, const float* g, float* weight, float* bias) {
  HWY_DYNAMIC_DISPATCH(sparse_gradient)(layer, g, weight, bias);
}
void perceptron_forward(const PerceptronForward& p) { HWY_DYNAMIC_DISPATCH(perceptron_forward)(p); }
void perceptron_backward(const PerceptronBackward& p) { HWY_DYNAMIC_DISPATCH(perceptron_backward)(p); }
void adam_step(const AdamStep& step) { HWY_DYNAMIC_DISPATCH(adam_step)(step); }
double peak_flops_loop(std::int64_t rounds, float* sink) { return HWY_DYNAMIC_DISPATCH(peak_flops_loop)(rounds, sink); }

void transpose_blocks(const float* weight, int weight_rows, int in_panels, int out_panels, float* transposed) {
  for (int q = 0; q < in_panels; ++q) {
    for (int p = 0; p < out_panels; ++p) {
      const float* from = weight + (static_cast<std::ptrdiff_t>(p) * weight_rows + q * kPanel) * kPanel;
      float* to = transposed + (static_cast<std::ptrdiff_t>(q) * out_panels + p) * kBlock;
      for (int i = 0; i < kPanel; ++i) {
        for (int j = 0; j < kPanel; ++j) to[j * kPanel + i] = from[i * kPanel + j];
      }
    }
  }
}

}  // namespace treesample::nn
#endif  // HWY_ONCE
