// Replaces src/nn, src/train and src/value/network_value.cpp if the library is built without networks.
#include "treesample/error.hpp"
#include "treesample/value/network_value.hpp"

namespace treesample {

std::shared_ptr<const NetworkValue> load_network_value(const std::filesystem::path& path, const FactorGraph&,
                                                       std::span<const std::string>, const SearchSpace&) {
  throw Error(ErrorCode::kArgument, path.string() + ": the library was built without networks (TREESAMPLE_NETWORKS)");
}

}  // namespace treesample
