#include "treesample/value/make_leaf_value.hpp"

#include <fmt/format.h>

#include "treesample/error.hpp"
#include "treesample/value/elbo_value.hpp"
#include "treesample/value/possible_value.hpp"
#include "value/network_loader.hpp"

namespace treesample {
namespace {

using Value = std::shared_ptr<const LeafValue>;

Value make_elbo(const FactorGraph& graph, const SearchSpace& space, const LeafValueOptions& options) {
  return product_value(graph, space,
                       options.mean_field_sweeps > 0
                           ? mean_field(graph, options.mean_field_sweeps, options.seed, options.should_settle)
                           : uniform_distributions(graph),
                       options.should_stop);
}

Value make_mini_bucket(const LeafChoice& choice, const FactorGraph& graph, const SearchSpace& space,
                       MiniBucketOptions options) {
  if (choice.i_bound) options.i_bound = *choice.i_bound;
  return std::make_shared<WeightedMiniBucket>(graph, space, options);
}

// Written once, before main() begins.
NetworkLoader& loader() {
  static NetworkLoader linked = nullptr;
  return linked;
}

}  // namespace

NetworkLoader network_loader() { return loader(); }
void link_network_loader(NetworkLoader linked) { loader() = linked; }

std::shared_ptr<const LeafValue> make_leaf_value(const LeafChoice& choice, const FactorGraph& graph,
                                                 const SearchSpace& space, const LeafValueOptions& options) {
  switch (choice.kind) {
    case LeafKind::kUniform:
      return std::make_shared<UniformValue>(space);
    case LeafKind::kMeans:
      return std::make_shared<ElboValue>(graph, space);
    case LeafKind::kElbo:
      return make_elbo(graph, space, options);
    case LeafKind::kMaxima:
      return maxima_value(graph, space, options.should_stop);
    case LeafKind::kMiniBucket:
      return make_mini_bucket(choice, graph, space, options.mini_bucket);
    case LeafKind::kNetwork:
      if (network_loader() == nullptr) {
        throw Error(ErrorCode::kArgument, "make_leaf_value: networks need the library treesample-train");
      }
      return without_impossible(graph, space, network_loader()(choice.path, graph, space), options.should_stop);
    case LeafKind::kCalibrated:
    case LeafKind::kProgram:
    case LeafKind::kFunction:
      break;
  }
  throw Error(ErrorCode::kArgument,
              fmt::format("make_leaf_value: '{}' is not made from a model alone", to_string(choice)));
}

}  // namespace treesample
