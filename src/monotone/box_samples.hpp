// Samples of the part of Z that boxes leave open, with limits that hold at a stated confidence.
#pragma once

#include <functional>
#include <optional>

#include "monotone/box_tree.hpp"
#include "monotone/call_queue.hpp"
#include "monotone/monotone_functions.hpp"
#include "treesample/monotone/box_search.hpp"

namespace treesample {

struct BoxSamplesSetup {
  double confidence = 0.95;
  std::uint64_t seed = 0;
  std::function<bool()> is_over;       // asked after every sample
  std::function<void()> wait;          // for answers of the queue, which it hands to the functions
  std::function<double()> calls_left;  // of the budget; may be infinite
};

// Draws until the queue can pay no more, or is_over. Nothing when there was not even one sample, or nothing is open.
// The tree does not change.
std::optional<BoxSamples> sample_boxes(const BoxTree& tree, const MonotoneFunctions& functions, CallQueue& queue,
                                       const BoxSamplesSetup& setup);

}  // namespace treesample
