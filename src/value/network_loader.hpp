// Networks as leaf values. They are in the library treesample-train, which hands over what reads them before main()
// begins (nn/link_networks.cpp); its targets of CMake and pkg-config name a symbol of that file, so that a static link
// cannot drop it.
#pragma once

#include <filesystem>
#include <memory>

#include "treesample/value/leaf_value.hpp"

namespace treesample {

using NetworkLoader = std::shared_ptr<const LeafValue> (*)(const std::filesystem::path& path, const FactorGraph& graph,
                                                           const SearchSpace& space);

// Null unless the library is linked.
NetworkLoader network_loader();
void link_network_loader(NetworkLoader linked);

}  // namespace treesample
