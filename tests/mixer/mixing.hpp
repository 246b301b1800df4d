// Runs cases of a seed on several threads, and keeps what they promised.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "mixer/judge.hpp"

namespace treesample::mixer {

struct MixSettings {
  std::uint64_t seed = 1;
  std::int64_t first = 0, runs = 1000;
  double seconds = HUGE_VAL;
  int threads = 1;
  std::string out = ".";  // the folder of cases that break a promise
  std::string table;      // a file for the counts; they are written once a minute, too
  bool resumes = false;   // from the counts in that file
};

// Returns the counts of this run and, where it resumes, of those before. Where a case does not end, writes it and what
// was counted, and ends the process with 3: nothing can end a thread.
Tally mix(const MixSettings& settings);

// True if a promise was broken; intervals may miss as often as their confidence allows.
bool is_broken(const Tally& tally);

}  // namespace treesample::mixer
