// Noisy-MAX (with two states: noisy-OR): each cause produces a degree of the effect by itself, and so does the leak,
// which stands for causes that are not in the model; the effect is the strongest of them. (Diez, UAI 1993)
#pragma once

#include <vector>

namespace treesample {

struct NoisyMax {
  int num_states = 0;  // of the effect: from the strongest degree to none
  std::vector<int> parent_states = {};
  // For each parent and each of its states, then for the leak: the logarithms of the probabilities of the degrees.
  std::vector<double> log_columns = {};
};

// The conditional table: the effect's states vary fastest, then those of the last parent.
std::vector<double> noisy_max_table(const NoisyMax& noisy);

}  // namespace treesample
