// Runs the instances of an experiment on all cores, and stores each finished one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "run_store.hpp"

namespace treesample::experiments {

struct RunProgress {
  int num_finished = 0;  // including those of earlier runs
  int num_instances = 0;
  double under_way = 0.0;           // what is done of unfinished instances, added up; 0 where nobody counts it
  double remaining_seconds = -1.0;  // below 0 as long as it is not known
};

struct RunControl {
  int num_threads = 0;  // 0: one per core
  // Called after every instance, never by two threads at once.
  std::function<void(const RunProgress&)> show_progress = {};
  // Called often, by several threads.
  std::function<bool()> is_interrupted = [] { return false; };
};

// Computes numbers that depend on the key alone, so that neither the number of threads nor an interruption can change
// them. None if the computation was interrupted.
using Compute = std::function<std::optional<Numbers>(int instance)>;

// Calls work(i) once for each i below `count`, in ascending order, on several threads (0: one per core). No call begins
// after one has returned false or thrown; the first exception is rethrown when all threads have ended.
void parallel_for(int count, int num_threads, const std::function<bool(int)>& work);

// The numbers of all keys, in their order: taken from the store, or computed and stored. None if the run was
// interrupted; everything that was finished until then is in the store.
std::optional<std::vector<Numbers>> run_instances(RunStore& store, const std::vector<std::string>& keys,
                                                  const Compute& compute, const RunControl& control);

}  // namespace treesample::experiments
