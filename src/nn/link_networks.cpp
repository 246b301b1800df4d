// Hands the reader of networks over to the factory of leaf values.
#include "treesample/nn/network_value.hpp"
#include "value/network_loader.hpp"

// The symbol that the targets of CMake and pkg-config name.
extern "C" const bool treesample_train_is_linked;
const bool treesample_train_is_linked = [] {
  treesample::link_network_loader([](const std::filesystem::path& path, const treesample::FactorGraph& graph,
                                     const treesample::SearchSpace& space) {
    return std::shared_ptr<const treesample::LeafValue>(treesample::load_network_value(path, graph, {}, space));
  });
  return true;
}();
