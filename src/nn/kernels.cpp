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
#if HWY_ARCH_X86
#include <cpuid.h>
#endif

namespace treesample::nn {

namespace {

// Highway can choose by itself. But its library, which that needs, measures the resolution of the clock for 2.5 ms when
// a program starts, a third of the whole start of `treesample --version`.
#if HWY_ARCH_X86
bool has_sse4() {
  return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul");
}
bool has_avx2() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool has_f16c = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
  return has_sse4() && has_f16c && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
}
bool has_avx3() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd");
}
#endif

KernelSet& chosen() {
  static KernelSet set = kernel_sets().front();
  return set;
}

}  // namespace

std::vector<KernelSet> kernel_sets() {
  std::vector<KernelSet> sets;
#if (HWY_TARGETS & HWY_AVX3) && HWY_STATIC_TARGET != HWY_AVX3
  if (has_avx3()) sets.push_back(N_AVX3::kernel_set());
#endif
#if (HWY_TARGETS & HWY_AVX2) && HWY_STATIC_TARGET != HWY_AVX2
  if (has_avx2()) sets.push_back(N_AVX2::kernel_set());
#endif
#if (HWY_TARGETS & HWY_SSE4) && HWY_STATIC_TARGET != HWY_SSE4
  if (has_sse4()) sets.push_back(N_SSE4::kernel_set());
#endif
  sets.push_back(HWY_STATIC_DISPATCH(kernel_set)());
  return sets;
}

void use_kernels(const KernelSet& set) { chosen() = set; }

void dense_forward(const DenseLayer& layer) { chosen().dense_forward(layer); }
void dense_gradient(const DenseGradient& gradient) { chosen().dense_gradient(gradient); }
void sparse_forward(const SparseLayer& layer, const float* weight, const float* bias, float* y) {
  chosen().sparse_forward(layer, weight, bias, y);
}
void sparse_gradient(const SparseLayer& layer, const float* g, float* weight, float* bias) {
  chosen().sparse_gradient(layer, g, weight, bias);
}
void perceptron_forward(const PerceptronForward& p) { chosen().perceptron_forward(p); }
void perceptron_backward(const PerceptronBackward& p) { chosen().perceptron_backward(p); }
void adam_step(const AdamStep& step) { chosen().adam_step(step); }
double peak_flops_loop(std::int64_t rounds, float* sink) { return chosen().peak_flops_loop(rounds, sink); }

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
