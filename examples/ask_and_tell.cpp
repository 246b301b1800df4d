// A user's own loop around a black box: a plate of 12 experiments at a time, whose answers come in any order, or which
// fail.
#include <cstdio>

#include "treesample/treesample.hpp"

namespace {

// Stands for a laboratory: measures the logarithm of a yield, unless the experiment fails.
bool measure(const treesample::Assignment& x, double& value) {
  const int metal = x[0], temperature = x[1], solvent = x[2];
  value = 0.25 - 0.4 * (temperature - 5) * (temperature - 5) + 0.8 * (metal == 2) - 0.5 * (solvent == metal);
  return !(temperature > 6 && solvent == 3);  // it boils
}

}  // namespace

int main() {
  treesample::FactorGraph graph;
  const int metal = graph.add_variable({.num_states = 3, .name = "metal"});
  const int temperature =
      graph.add_variable({.num_states = 9, .name = "temperature", .levels = {20, 30, 40, 50, 60, 70, 80, 90, 100}});
  const int solvent = graph.add_variable({.num_states = 4, .name = "solvent"});
  graph.add_table({solvent}, {0.0, 0.0, -0.7, -0.7});  // known beforehand
  const auto never_called = [](std::span<const int>) { return 0.0; };
  graph.add_factor(treesample::Factor::function({metal, temperature, solvent}, never_called));

  treesample::BlackBox box(graph, {.seed = 1});
  for (int plate = 0; plate < 4; ++plate) {
    const bool is_last = plate == 3;  // the last plate is drawn at random, so that the answer knows its error
    for (const treesample::Assignment& x : is_last ? box.ask_check(12) : box.ask(12)) {
      double value = 0.0;
      if (measure(x, value)) {
        box.tell(x, value);
      } else {
        box.tell_failed(x, "it boils");
      }
    }
  }
  const treesample::Answer answer = treesample::as_answer(box, box.answer());
  std::printf("the best of %lld values told: metal %d, temperature %d, solvent %d\n",
              static_cast<long long>(box.num_told()), answer.best->x[metal], answer.best->x[temperature],
              answer.best->x[solvent]);
  std::printf("log Z = %.1f, at least %.1f\n", *answer.log_z, *answer.lower);
  std::printf("P(metal = 2) = %.1f\n", answer.marginals[metal][2]);
}
