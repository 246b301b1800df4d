// Training and evaluation of a network on a GPU, where the library was built with a CUDA compiler (TREESAMPLE_CUDA).
//
// Parameters, gradient and the state of Adam live on the device; for a step only the minibatch is sent there. Sums are
// those of Mlp and Gnn in another order: results agree to about 1e-5, and have the same bits whenever they are computed
// on the same device. docs/methods/networks.md says where this pays and where it does not.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "treesample/nn/adam.hpp"
#include "treesample/nn/gnn.hpp"
#include "treesample/nn/mlp.hpp"

namespace treesample {

enum class Device {
  kCpu,      // Mlp and Gnn themselves
  kCuda,     // the first GPU
  kKernels,  // the code for the GPU, run thread by thread on this processor: slow, for tests
};
// "cpu", "cuda" or "kernels"; throws kArgument.
Device parse_device(std::string_view word);

class DeviceNetwork {
 public:
  DeviceNetwork() = default;
  virtual ~DeviceNetwork() = default;
  DeviceNetwork(const DeviceNetwork&) = delete;
  DeviceNetwork& operator=(const DeviceNetwork&) = delete;

  // To the device, and back.
  virtual void write(std::span<const float> parameters, const Adam& adam) = 0;
  virtual void read(std::span<float> parameters, Adam& adam) const = 0;

  // Sets the gradient to what accumulate_gradient() would add to it, and returns the same error. A perceptron's samples
  // have no plan. Throws as accumulate_gradient() does.
  virtual double set_gradient(std::span<const GnnSample> samples) = 0;
  // The largest absolute value in the gradient, +inf where one is NaN; and the whole gradient.
  [[nodiscard]] virtual float largest_gradient() = 0;
  virtual void read_gradient(std::span<float> gradient) const = 0;
  // Step number `number` of Adam (the first is 1) with the gradient as it is.
  virtual void adam_step(const AdamOptions& options, std::int64_t number) = 0;

  // q[i * num_states + a] = Q_phi(a | prefix of sample i) of its variable; targets are ignored.
  virtual void q_values(std::span<const GnnSample> samples, std::span<float> q) = 0;
};

// Post: the device has the network's parameters, and Adam's state at its beginning. Throws kArgument for kCpu and for
// kCuda where the library was built without CUDA, kIo where there is no GPU or it fails.
std::unique_ptr<DeviceNetwork> make_device_network(const Mlp& network, Device device);
std::unique_ptr<DeviceNetwork> make_device_network(const Gnn& network, Device device);

}  // namespace treesample
