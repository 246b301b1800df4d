// Networks and minibatches as plain arrays, and what a device does with them: all that the CUDA compiler sees.
//
// The array of parameters is that of nn/parameters.hpp, so that nothing has to be rearranged.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace treesample::nn {

// A matrix of inputs x outputs and its bias, by their offsets in the parameters.
struct DenseShape {
  std::size_t weight = 0;
  std::size_t bias = 0;
  int inputs = 0;
  int outputs = 0;
};

// The inputs of the first layer are 0 or 1; all layers but the last end in a ReLU.
struct MlpShape {
  std::size_t num_parameters = 0;
  std::vector<DenseShape> layers;
};

// The ones of row r are indices[begin[r]] .. indices[begin[r + 1] - 1]; input i is 1 in the rows
// readers[reader_begin[i]] .. readers[reader_begin[i + 1] - 1].
struct MlpRows {
  std::vector<int> begin, indices;
  std::vector<int> reader_begin, readers;
  [[nodiscard]] int num_samples() const { return static_cast<int>(begin.size()) - 1; }
};

// The parameters of a block of a graph network are consecutive from `weight` on, in rows of 16: inputs in panels of 16,
// one-hot state, encoding, bias, three further layers of 16 x 16 with their biases.
struct BlockShape {
  std::size_t weight = 0;
  int panels = 0;
  int num_one_hot = 0;
  int num_encoding = 0;
};

struct GnnShape {
  std::size_t num_parameters = 0;
  std::vector<BlockShape> blocks;
  DenseShape readout;
};

inline constexpr int kMostPanels = 3;

// A row is one application of a block. Its inputs are sums of outputs of rows of earlier groups.
struct GnnRows {
  std::vector<int> block, state, encoding;   // per row; -1: no state, no encoding
  std::vector<float> encodings;              // in rows of 16
  std::vector<int> input_begin, inputs;      // kMostPanels entries of input_begin per row, then the end
  std::vector<int> reader_begin, readers;    // per row: its readers, as kMostPanels * row + panel
  std::vector<int> group_begin;              // first rows of the groups, then the end
  std::vector<int> block_begin, block_rows;  // per block: its rows
  std::vector<int> readout;                  // per sample: the row of its read-out
  [[nodiscard]] int num_rows() const { return static_cast<int>(block.size()); }
  [[nodiscard]] int num_samples() const { return static_cast<int>(readout.size()); }
};

// Per sample and state, the interval of its target; both ends are -inf where nothing is known.
struct Targets {
  std::vector<float> low, high;
};

struct AdamCoefficients {
  float beta1 = 0.0F;
  float beta2 = 0.0F;
  float step_size = 0.0F;     // learning rate / (1 - beta1^t)
  float second_scale = 0.0F;  // 1 / (1 - beta2^t)
  float epsilon = 0.0F;
};

// The parameters, their gradient and Adam's moments on a device. Throws Error (kIo) where the device fails.
template <typename Rows>
class Engine {
 public:
  Engine() = default;
  virtual ~Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  virtual void write(std::span<const float> values, std::span<const float> first, std::span<const float> second) = 0;
  virtual void read(std::span<float> values, std::span<float> first, std::span<float> second) const = 0;
  virtual void read_gradient(std::span<float> gradient) const = 0;
  virtual float largest_gradient() = 0;
  virtual void adam_step(const AdamCoefficients& coefficients) = 0;
  virtual double set_gradient(const Rows& rows, const Targets& targets) = 0;
  virtual void q_values(const Rows& rows, std::span<float> q) = 0;
};
using MlpEngine = Engine<MlpRows>;
using GnnEngine = Engine<GnnRows>;

std::unique_ptr<MlpEngine> make_host_engine(const MlpShape& shape);
std::unique_ptr<GnnEngine> make_host_engine(const GnnShape& shape);
std::unique_ptr<MlpEngine> make_cuda_engine(const MlpShape& shape);
std::unique_ptr<GnnEngine> make_cuda_engine(const GnnShape& shape);

}  // namespace treesample::nn
