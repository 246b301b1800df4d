// Certified bounds of log Z of a grid within half a second, and an error that can be caught.
#include <iostream>
#include <treesample/treesample.hpp>

namespace ts = treesample;

int main() {
  ts::FactorGraph graph;
  constexpr int kSide = 12;
  for (int v = 0; v < kSide * kSide; ++v) graph.add_variable(2);
  for (int v = 0; v < kSide * kSide; ++v) {
    if (v % kSide + 1 < kSide) graph.add_table({v, v + 1}, {0.7, -0.3, -0.3, 0.4});
    if (v + kSide < kSide * kSide) graph.add_table({v, v + kSide}, {-0.2, 0.5, 0.1, -0.6});
  }
  const ts::Answer searched =
      ts::infer(graph, {}, {.seconds = 0.5}, {.method = ts::Method::kSearch, .select = ts::SelectRule::kGap});
  std::cout << "log Z in [" << *searched.lower << ", " << *searched.upper << "]: " << searched.method << "\n";
  try {
    graph.add_variable(0);
    return 1;
  } catch (const ts::Error& error) {
    std::cout << error.what() << "\n";
  }
  const ts::Answer exact = ts::infer(graph, {}, {}, {.method = ts::Method::kExact});
  return *searched.lower <= *exact.upper && *exact.lower <= *searched.upper ? 0 : 1;
}
