// Counting as a method of its own, and before a search.
#pragma once

#include <memory>
#include <optional>

#include "infer/methods.hpp"
#include "treesample/count/count.hpp"

namespace treesample {

// Whether the zeros of its tables are many enough to try.
struct Zeros {
  bool are_many = false;
  bool are_all = false;  // that most tables say
};
Zeros zeros_of(const FactorGraph& graph);
inline bool wants_counting(const FactorGraph& graph) {
  const Zeros zeros = zeros_of(graph);
  return zeros.are_many || zeros.are_all;
}

// What elimination is predicted to take; 0 where that is not known.
double elimination_seconds(const Plan& plan);
// Everything that is asked, by counting where it is quicker than elimination, which costs little more when it is not:
// nothing then.
std::optional<Draft> count_instead(const Task& task);

// Whether more than log Z is asked.
bool wants_more(const Question& question);

// Counting beside the search with bounds, on two threads.
Draft run_portfolio(const Task& task);
Draft run_gap_search(const Task& task);

// From now on: this many seconds in any case, and on to the last one as long as the share that is done promises an end
// by then.
struct CountTime {
  double trial_seconds = 0.0;
  double seconds = 0.0;
  double optimism = 1.0;  // the branches that are left may be this many times quicker
};
// Until these shares of the time limit.
CountTime count_time(const Run& run, double trial_end, double end);

CountResult count_within(const Task& task, const CountTime& time);
// With a circuit of the whole, where that fits.
CountResult compile_within(const Task& task, const CountTime& time);
// What a circuit tells about its model, the task's: log Z, and what else is asked.
void set_compiled(Draft& draft, const std::shared_ptr<const Circuit>& circuit, const Task& task);
// Of a count that is solved: log Z and, where a circuit is done within the time, everything else.
void set_counted(Draft& draft, const CountResult& counted, const Task& task, const CountTime& time);

}  // namespace treesample
