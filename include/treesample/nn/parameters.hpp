// The parameters of a network: named matrices in one aligned array of float32.
//
// Memory layout. Columns (outputs of a layer) are cut into panels of kPanel, padded with zeros, and a
// matrix of R rows is stored panel by panel, each panel row by row:
//
//     entry (r, c)  ->  offset + ((c / kPanel) * R + r) * kPanel + c % kPanel
//
// Activations use the same layout with the samples as rows. Every product is then one of blocks of
// kPanel x kPanel with unit strides, for batches and single states alike, and no packing is needed.
// Gradients and optimiser state are arrays of the same length; padding has gradient 0 and stays 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace treesample {

class Random;

inline constexpr int kPanel = 16;

// Memory aligned to cache lines, so that a vector load of 16 floats never straddles two of them.
template <typename T>
struct CacheLineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kAlignment{64};
  CacheLineAllocator() = default;
  template <typename U>
  explicit CacheLineAllocator(const CacheLineAllocator<U>&) {}
  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kAlignment)); }
  void deallocate(T* memory, std::size_t) { ::operator delete(memory, kAlignment); }
  bool operator==(const CacheLineAllocator&) const = default;
};
using FloatBuffer = std::vector<float, CacheLineAllocator<float>>;

// Both throw kArgument: the first unless the array begins at a cache line, the second unless all states lie in
// -1 .. num_states - 1.
void check_aligned(std::string_view function, std::span<const float> array);
void check_prefix(std::string_view function, std::span<const int> states, int num_states);

// A matrix in the form that files and tests use: row-major, no padding. A bias has one dimension.
struct NamedTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

class Parameters {
 public:
  struct Tensor {
    std::string name;
    int rows = 1;
    int columns = 1;
    bool is_bias = false;
    std::size_t offset = 0;
  };

  // Appends a matrix and returns its offset. Weights are drawn from a normal distribution with
  // variance 1 / num_active, cut off at two standard deviations; num_active is how many of the rows
  // carry an input that is not 0 (one per variable for one-hot encodings).
  std::size_t add_weight(std::string name, int rows, int columns, int num_active, Random& random);
  // Biases are uniform in [-0.1, 0.1], not 0: with no variable assigned all inputs of a graph network
  // are 0, and every ReLU would begin exactly at its kink, where it passes no gradient.
  std::size_t add_bias(std::string name, int columns, Random& random);

  [[nodiscard]] const std::vector<Tensor>& tensors() const { return tensors_; }
  [[nodiscard]] std::span<const float> values() const { return values_; }
  [[nodiscard]] std::span<float> values() { return values_; }
  [[nodiscard]] std::size_t size() const { return values_.size(); }

  // to_tensors makes plain copies of `array` (the values themselves, a gradient, optimiser state), and assign reads
  // them back. Everything that is saved, published or loaded goes through these two, and both refuse numbers that are
  // not finite. `to_tensors` throws kNumeric, naming the tensor. `assign` throws kParse, naming `source` and the
  // tensor, also if a tensor is missing, unknown or of another shape.
  [[nodiscard]] std::vector<NamedTensor> to_tensors(std::span<const float> array) const;
  void assign(std::span<float> array, std::span<const NamedTensor> tensors, const std::string& source) const;

 private:
  Tensor& append(std::string name, int rows, int columns);

  std::vector<Tensor> tensors_;
  FloatBuffer values_;
};

}  // namespace treesample
