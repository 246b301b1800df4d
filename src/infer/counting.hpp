// Counting as a method of its own, and before a search.
#pragma once

#include <memory>

#include "infer/methods.hpp"
#include "treesample/count/count.hpp"

namespace treesample {

// Whether the zeros of its tables are many enough to try.
bool wants_counting(const FactorGraph& graph);

// Until this share of the time limit.
CountResult count_within(const Task& task, double end);
// The same search, written down; null when there is no time or no room for that.
std::shared_ptr<const Circuit> circuit_within(const Task& task, double end);
// Of a count that is solved: log Z and, where a circuit is done by `end`, everything else.
void set_counted(Draft& draft, const CountResult& counted, const Task& task, double end);

}  // namespace treesample
