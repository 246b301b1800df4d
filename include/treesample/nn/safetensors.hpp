// The safetensors format: 8 bytes (little-endian) with the length of the header, a JSON header with type, shape and
// position of every tensor, then the raw tensors. Only float32 tensors are used here. "Metadata" is the header's map
// from strings to strings.
//
// The reader trusts nothing. It checks lengths and positions against the file and against limits before it allocates
// memory, and the tensors must fill the data without gaps or overlaps, as the format demands.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "treesample/nn/parameters.hpp"

namespace treesample {

struct TensorFile {
  std::map<std::string, std::string> metadata;
  std::vector<NamedTensor> tensors;
};

inline constexpr std::size_t kMaxTensorHeaderBytes = std::size_t{1} << 24;

// The bytes of a file. Tensors keep their order. Throws kArgument for two tensors of the same name, for the name
// "__metadata__", and for values that do not fit the shape.
std::string write_safetensors(const TensorFile& file);

// Throws kParse naming `source` (the file), the place and what is wrong.
TensorFile parse_safetensors(std::string_view bytes, const std::string& source);

}  // namespace treesample
