#include "treesample/math/vector_math.hpp"

#include "math/dispatched.hpp"
#include "math/vector_kernels.hpp"

namespace treesample {

TS_DISPATCHED void exp_each(std::span<double> values) {
  double* const data = values.data();
  const std::size_t count = values.size();
  for (std::size_t i = 0; i < count; ++i) data[i] = exp_one(data[i]);
}

TS_DISPATCHED void log_each(std::span<double> values) {
  double* const data = values.data();
  const std::size_t count = values.size();
  for (std::size_t i = 0; i < count; ++i) data[i] = log_one(data[i]);
}

}  // namespace treesample
