// The launch: memory of the GPU, and its threads.
#include <cuda_runtime.h>

#include <string>

#include "nn/device/engine-inl.hpp"
#include "treesample/error.hpp"

namespace treesample::nn {
namespace {

void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    throw Error(ErrorCode::kIo, std::string("CUDA: ") + what + ": " + cudaGetErrorString(status));
  }
}

template <typename Body>
__global__ void run_body(std::size_t count, Body body) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) body(i);
}

struct Cuda {
  template <typename T>
  class Array {
   public:
    Array() = default;
    Array(Array&& other) noexcept
        : values_(std::exchange(other.values_, nullptr)),
          size_(std::exchange(other.size_, 0)),
          capacity_(std::exchange(other.capacity_, 0)) {}
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;
    ~Array() { cudaFree(values_); }

    void resize(std::size_t size) {
      if (size > capacity_) {
        cudaFree(values_);
        values_ = nullptr;
        capacity_ = 0;
        const std::size_t more = size + size / 4;
        check(cudaMalloc(reinterpret_cast<void**>(&values_), more * sizeof(T)), "memory");
        capacity_ = more;
      }
      size_ = size;
    }
    void assign(std::span<const T> values) {
      resize(values.size());
      check(cudaMemcpy(values_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "copy to the GPU");
    }
    // Waits for everything launched before, and reports its failures.
    void read(std::span<T> to) const {
      check(cudaMemcpy(to.data(), values_, to.size() * sizeof(T), cudaMemcpyDeviceToHost), "computation or copy");
    }
    [[nodiscard]] T* data() { return values_; }

   private:
    T* values_ = nullptr;
    std::size_t size_ = 0, capacity_ = 0;
  };

  template <typename Body>
  static void for_each(std::size_t count, const Body& body) {
    constexpr unsigned kThreads = 128;
    if (count == 0) return;
    run_body<<<static_cast<unsigned>((count + kThreads - 1) / kThreads), kThreads>>>(count, body);
    check(cudaGetLastError(), "launch");
  }
};

void require_gpu() {
  int count = 0;
  check(cudaGetDeviceCount(&count), "looking for a GPU");
  if (count == 0) throw Error(ErrorCode::kIo, "CUDA: this machine has no GPU");
}

}  // namespace

std::unique_ptr<MlpEngine> make_cuda_engine(const MlpShape& shape) {
  require_gpu();
  return std::make_unique<device::MlpOn<Cuda>>(shape);
}
std::unique_ptr<GnnEngine> make_cuda_engine(const GnnShape& shape) {
  require_gpu();
  return std::make_unique<device::GnnOn<Cuda>>(shape);
}

}  // namespace treesample::nn
