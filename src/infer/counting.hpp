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
// With a circuit of the whole, where that fits.
CountResult compiled_within(const Task& task, double end);
// The same, null when there is no time or no room for that.
std::shared_ptr<const Circuit> circuit_within(const Task& task, double end);
// What a circuit tells about its model, the task's: log Z, and what else is asked.
void set_compiled(Draft& draft, const std::shared_ptr<const Circuit>& circuit, const Task& task);
// Of a count that is solved: log Z and, where a circuit is done by `end`, everything else.
void set_counted(Draft& draft, const CountResult& counted, const Task& task, double end);

}  // namespace treesample
