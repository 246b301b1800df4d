// What an answer promises, against enumeration with 113 bits.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "mixer/mixed_case.hpp"

namespace treesample::mixer {

// How often each promise was made, and broken.
struct Tally {
  struct Count {
    std::int64_t made = 0, broken = 0;
  };
  std::map<std::string, Count> promises;
  std::map<std::string, std::int64_t> refusals;  // by what was refused

  void add(const Tally& other);
  // A Markdown table.
  [[nodiscard]] std::string text() const;
};

// A line for each promise of an answer that does not hold.
std::vector<std::string> broken_in(const Answer& answer, const MixedCase& asked, const InferRequest& request,
                                   Tally& tally);

// Asks `infer`, counts what the answer promises, and returns a line for each promise that does not hold. An error that
// names an option is a refusal, which keeps a promise, too.
std::vector<std::string> broken_promises(const MixedCase& asked, Tally& tally);

}  // namespace treesample::mixer
