// The answer of a black box (blackbox/black_box.hpp) in the form that `infer` gives: what is certified, estimated, or a
// guess, for pages, JSON and Python.
#pragma once

#include "treesample/blackbox/black_box.hpp"
#include "treesample/infer/answer.hpp"

namespace treesample {

// Of a box after answer().
Answer as_answer(const BlackBox& box, const BlackBoxAnswer& found);

}  // namespace treesample
