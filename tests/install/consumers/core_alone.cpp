// Without treesample-calls and treesample-train, what they have is refused by name, and functions are searched.
#include <iostream>
#include <string>
#include <treesample/treesample.hpp>

namespace {

template <class Work>
bool is_refused(const char* library, const Work& work) {
  try {
    work();
  } catch (const treesample::Error& error) {
    std::cout << error.what() << "\n";
    return std::string(error.what()).find(library) != std::string::npos;
  }
  return false;
}

}  // namespace

int main() {
  treesample::FactorGraph graph;
  graph.add_variable(2);
  graph.add_factor(treesample::Factor::function({0}, [](std::span<const int> states) { return 1.0 * states[0]; }));
  const bool is_searched = treesample::infer(graph).log_z.has_value();
  const bool has_no_method = is_refused(
      "treesample-calls", [&] { treesample::infer(graph, {}, {}, {.method = treesample::Method::kMonotone}); });
  const std::vector<int> order = {0};
  const treesample::SearchSpace space = make_search_space(graph, order, treesample::SpaceKind::kTree);
  const bool has_no_networks = is_refused("treesample-train", [&] {
    make_leaf_value({.kind = treesample::LeafKind::kNetwork, .path = "n.safetensors"}, graph, space);
  });
  return is_searched && has_no_method && has_no_networks ? 0 : 1;
}
