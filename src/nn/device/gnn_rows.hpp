// A minibatch of a graph network as rows (nn/device/flat.hpp).
//
// The first rows are the edges after iteration 1, which depend only on class and state and are shared by all samples
// (edge_first of nn/gnn_tables.hpp). The others are those of the samples' cones, in the order of their steps.
#pragma once

#include <span>

#include "nn/device/flat.hpp"
#include "treesample/nn/gnn.hpp"

namespace treesample::nn {

// Pre: the samples are checked.
GnnRows make_gnn_rows(const GnnOptions& options, std::span<const GnnSample> samples);

// Inverted lists: the readers of i are the positions in the lists that contain i, in ascending order. `begin` has an
// entry per list, then the end.
struct Readers {
  std::vector<int> begin, readers;
};
Readers invert_lists(std::span<const int> begin, std::span<const int> entries, int num_values);

}  // namespace treesample::nn
