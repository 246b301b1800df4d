// Networks as files: safetensors with metadata that says what to build.
//
// Metadata (all values are strings):
//   format             "treesample-network"
//   format_version     "1"
//   library_version    of the library that wrote the file
//   architecture       "mlp" or "gnn"
//   num_states         K
//   num_variables      mlp: N
//   hidden             mlp: widths of the hidden layers, a JSON array
//   kinds, iterations  gnn: kinds of factors, a JSON array; number of iterations
//   global_after       gnn with a global value: the iteration that it is read after
// and whatever the writer adds (training options, episodes, ...). Tensors are named after their block
// and layer ("edge.not.to_factor.layer0.weight") and have the shape [inputs, outputs].
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "treesample/nn/gnn.hpp"
#include "treesample/nn/mlp.hpp"
#include "treesample/nn/safetensors.hpp"

namespace treesample {

using Metadata = std::map<std::string, std::string>;

struct NetworkFile {
  std::variant<Mlp, Gnn> network;
  Metadata metadata;  // everything that the file contains, including the keys above
};

// The content of a file: save_network writes it, and processes exchange it. Throws kArgument if `extra` has one of the
// keys above.
TensorFile network_tensors(const Mlp& network, const Metadata& extra = {});
TensorFile network_tensors(const Gnn& network, const Metadata& extra = {});
// Throws kParse naming `source` and the metadata key or the tensor that is wrong.
NetworkFile parse_network(const TensorFile& file, const std::string& source);

// Replaces the file in one step; throws kIo.
void save_network(const std::filesystem::path& path, const TensorFile& network);
NetworkFile load_network(const std::filesystem::path& path);

}  // namespace treesample
