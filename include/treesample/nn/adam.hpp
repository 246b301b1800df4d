// Adam (Kingma and Ba 2014), the optimiser of the paper's networks:
//
//     m <- beta1 m + (1 - beta1) g              m_hat = m / (1 - beta1^t)
//     v <- beta2 v + (1 - beta2) g^2            v_hat = v / (1 - beta2^t)
//     w <- w - learning_rate m_hat / (sqrt(v_hat) + epsilon)
#pragma once

#include <cstdint>
#include <span>

#include "treesample/nn/parameters.hpp"

namespace treesample {

struct AdamOptions {
  double learning_rate = 3e-4;  // as in the paper
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
};

// The state is public, so that a checkpoint can store it.
struct Adam {
  AdamOptions options;
  std::int64_t num_steps = 0;  // t
  FloatBuffer first_moment;    // m, as long as the parameters
  FloatBuffer second_moment;   // v

  // Throws kArgument for options outside their ranges.
  Adam(const AdamOptions& adam_options, std::size_t num_parameters);

  // One step with the gradient g of the parameters w. Both must lie in memory aligned to 64 bytes (a FloatBuffer).
  void step(std::span<float> parameters, std::span<const float> gradient);
};

}  // namespace treesample
