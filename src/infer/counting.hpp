// Counting as a method of its own, and before a search.
#pragma once

#include <memory>
#include <optional>

#include "infer/methods.hpp"
#include "treesample/count/count.hpp"

namespace treesample {

// Whether the tables have enough zeros to try counting.
struct Zeros {
  bool are_many = false;
  bool are_all = false;     // most tables say nothing else
  double hard_share = 0.0;  // of the tables: those that do
};
Zeros zeros_of(const FactorGraph& graph);
inline bool wants_counting(const FactorGraph& graph) {
  const Zeros zeros = zeros_of(graph);
  return zeros.are_many || zeros.are_all;
}

// Chooses counting for a model of clauses that are too long or too many for tables, with which all other methods work.
bool choose_clauses(Plan& plan, const FactorGraph& graph);

// The predicted time of elimination; 0 where it is not known.
double elimination_seconds(const Plan& plan);
// True when more than log Z is asked for.
bool wants_more(const Question& question);

// The time for a count, in seconds from now: trial_seconds in any case, and up to `seconds` as long as the share that
// is done promises an end by then.
struct CountTime {
  double trial_seconds = 0.0;
  double seconds = 0.0;
  double optimism = 1.0;  // the remaining branches may be this many times faster
};
// The time until this share of the time limit.
CountTime count_time(const Run& run, double end);

// A count that is planned to take so long, with half of the memory.
Counter make_counter(const Task& task, double seconds, CountOptions options = {});
CountResult count_within(const Task& task, const CountTime& time);
// The same, and keeps a circuit of the whole model where it fits.
CountResult compile_within(const Task& task, const CountTime& time);
// Sets log Z and everything else that is asked, from a circuit of the task's model.
void set_compiled(Draft& draft, const std::shared_ptr<const Circuit>& circuit, const Task& task);
// Sets log Z from a solved count and, where a circuit is finished in time, everything else.
void set_counted(Draft& draft, const CountResult& counted, const Task& task, const CountTime& time);

}  // namespace treesample
