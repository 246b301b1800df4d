// Samples of the part of Z that boxes leave open. The limits they give hold at a stated confidence.
#pragma once

#include <functional>
#include <optional>

#include "monotone/box_tree.hpp"
#include "monotone/monotone_functions.hpp"
#include "treesample/monotone/box_search.hpp"

namespace treesample {

struct BoxSamplesSetup {
  double confidence = 0.95;
  std::uint64_t seed = 0;
  std::function<bool()> is_over;       // asked after every sample
  std::function<void()> wait;          // waits for answers of the queue, and hands them to the functions
  std::function<double()> calls_left;  // calls that the budget still allows; may be infinite
};

// Draws until the queue can pay for no more calls, or is_over. Returns none if there was not even one sample, or if
// nothing is open. The tree does not change.
std::optional<BoxSamples> sample_boxes(const BoxTree& tree, const MonotoneFunctions& functions, Caller& caller,
                                       const BoxSamplesSetup& setup);

}  // namespace treesample
