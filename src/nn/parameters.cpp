#include "treesample/nn/parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "treesample/error.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

constexpr double kLargestBias = 0.1;

std::size_t entry(const Parameters::Tensor& tensor, int row, int column) {
  const auto panel = static_cast<std::size_t>(column / kPanel);
  return tensor.offset + (panel * static_cast<std::size_t>(tensor.rows) + static_cast<std::size_t>(row)) * kPanel +
         static_cast<std::size_t>(column % kPanel);
}

std::vector<std::int64_t> shape_of(const Parameters::Tensor& tensor) {
  if (tensor.is_bias) return {tensor.columns};
  return {tensor.rows, tensor.columns};
}

double cut_off_normal(Random& random) {
  double z = random.normal();
  while (std::abs(z) > 2.0) z = random.normal();
  return z;
}

}  // namespace

void check_aligned(std::string_view function, std::span<const float> array) {
  constexpr auto kAlignment = static_cast<std::uintptr_t>(CacheLineAllocator<float>::kAlignment);
  check_argument(reinterpret_cast<std::uintptr_t>(array.data()) % kAlignment == 0, function,
                 fmt::format("an array is not aligned to {} bytes (a FloatBuffer is)", kAlignment));
}

void check_prefix(std::string_view function, std::span<const int> states, int num_states) {
  int lowest = -1;
  int highest = -1;
  for (const int state : states) {
    lowest = std::min(lowest, state);
    highest = std::max(highest, state);
  }
  check_range(function, "state", lowest, -1, num_states - 1);
  check_range(function, "state", highest, -1, num_states - 1);
}

Parameters::Tensor& Parameters::append(std::string name, int rows, int columns) {
  tensors_.push_back({.name = std::move(name), .rows = rows, .columns = columns, .offset = values_.size()});
  const int panels = (columns + kPanel - 1) / kPanel;
  values_.resize(values_.size() + static_cast<std::size_t>(panels) * static_cast<std::size_t>(rows) * kPanel, 0.0F);
  return tensors_.back();
}

std::size_t Parameters::add_weight(std::string name, int rows, int columns, int num_active, Random& random) {
  const Tensor& tensor = append(std::move(name), rows, columns);
  const double scale = 1.0 / std::sqrt(num_active);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) values_[entry(tensor, r, c)] = static_cast<float>(scale * cut_off_normal(random));
  }
  return tensor.offset;
}

std::size_t Parameters::add_bias(std::string name, int columns, Random& random) {
  Tensor& tensor = append(std::move(name), 1, columns);
  tensor.is_bias = true;
  for (int c = 0; c < columns; ++c) {
    values_[entry(tensor, 0, c)] = static_cast<float>(kLargestBias * (2.0 * random.uniform() - 1.0));
  }
  return tensor.offset;
}

std::vector<NamedTensor> Parameters::to_tensors(std::span<const float> array) const {
  check_argument(array.size() == size(), "Parameters::to_tensors",
                 fmt::format("the array has {} entries, the parameters have {}", array.size(), size()));
  std::vector<NamedTensor> result;
  for (const Tensor& tensor : tensors_) {
    NamedTensor& plain = result.emplace_back(NamedTensor{.name = tensor.name, .shape = shape_of(tensor), .values = {}});
    for (int r = 0; r < tensor.rows; ++r) {
      for (int c = 0; c < tensor.columns; ++c) {
        const float value = array[entry(tensor, r, c)];
        if (!std::isfinite(value)) {
          throw Error(ErrorCode::kNumeric, fmt::format("tensor '{}': entry {} is {}: only finite numbers are kept",
                                                       tensor.name, plain.values.size(), value));
        }
        plain.values.push_back(value);
      }
    }
  }
  return result;
}

void Parameters::assign(std::span<float> array, std::span<const NamedTensor> tensors, const std::string& source) const {
  check_argument(array.size() == size(), "Parameters::assign",
                 fmt::format("the array has {} entries, the parameters have {}", array.size(), size()));
  const auto fail = [&source](const std::string& message) {
    throw Error(ErrorCode::kParse, fmt::format("{}: {}", source, message));
  };
  std::map<std::string_view, const NamedTensor*> by_name;
  for (const NamedTensor& tensor : tensors) by_name[tensor.name] = &tensor;
  for (const Tensor& tensor : tensors_) {
    const auto found = by_name.find(tensor.name);
    if (found == by_name.end()) fail(fmt::format("tensor '{}' is missing", tensor.name));
    const NamedTensor& plain = *found->second;
    if (plain.shape != shape_of(tensor)) {
      fail(fmt::format("tensor '{}' has shape {}, expected is {}", tensor.name, plain.shape, shape_of(tensor)));
    }
    std::size_t next = 0;
    for (int r = 0; r < tensor.rows; ++r) {
      for (int c = 0; c < tensor.columns; ++c, ++next) {
        const float value = plain.values[next];
        if (!std::isfinite(value)) fail(fmt::format("tensor '{}': entry {} is {}", tensor.name, next, value));
        array[entry(tensor, r, c)] = value;
      }
    }
    by_name.erase(found);
  }
  if (!by_name.empty()) fail(fmt::format("tensor '{}' is not part of this network", by_name.begin()->first));
}

}  // namespace treesample
