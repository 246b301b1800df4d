#include "exact/conflict.hpp"

#include <utility>

#include "treesample/exact/find_configuration.hpp"

namespace treesample {
namespace {

// Leaves out each element of the list without which the rest is still impossible.
template <typename T, typename IsImpossible>
void leave_out(std::vector<T>& list, const IsImpossible& is_impossible) {
  for (std::size_t i = 0; i < list.size();) {
    const T taken = list[i];
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
    if (is_impossible()) continue;
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(i), taken);
    ++i;
  }
}

}  // namespace

Observations conflict_of(const FactorGraph& model, Observations observed, const ShouldStop& should_stop) {
  Observations left = std::move(observed);
  // What is not decided in time counts as possible, so that too many observations are named rather than too few.
  const auto is_impossible = [&](ConfigurationFinder& finder) {
    FindOptions find;
    find.given = left.states;
    find.is_improved = false;
    find.should_stop = should_stop;
    return !should_stop() && finder.find(find).outcome == FindOutcome::kImpossible;
  };
  leave_out(left.soft, [&] {
    const FactorGraph graph = with_soft_evidence(model, left.soft);
    ConfigurationFinder finder(graph);
    return is_impossible(finder);
  });
  const FactorGraph graph = with_soft_evidence(model, left.soft);
  ConfigurationFinder finder(graph);
  leave_out(left.states, [&] { return is_impossible(finder); });
  return left;
}

}  // namespace treesample
