// One random case of the mixer: a small model, what was observed, and what is asked of `infer` with which options. A
// case is plain data, so that it can be made smaller and written to a file.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "treesample/infer/infer.hpp"
#include "treesample/math/random.hpp"

namespace treesample::mixer {

struct MixedFactor {
  // A noisy function gives another value each time, a failing one throws for one entry of five.
  enum class Kind { kTable, kFunction, kBoundedFunction, kMonotoneFunction, kNoisyFunction, kFailingFunction };

  std::vector<int> scope;
  std::vector<double> log_values;  // row-major, the last variable fastest
  Kind kind = Kind::kTable;
  std::vector<Direction> directions = {};  // of a monotone function
};

struct MixedCase {
  std::string family;
  std::vector<int> num_states;
  std::vector<MixedFactor> factors;
  Evidence evidence;
  SoftEvidence soft_evidence;
  std::vector<std::pair<std::string, std::string>> options;  // of the table of options, as people type them
  std::string format;              // the model comes from a file whose name ends so; empty: from memory
  std::vector<int> order, slices;  // of elimination, from a file; none where `order` is empty
  // program, tell, session, do or formula: by one of the doors beside infer (doors.hpp, kept_doors.hpp), where choices
  // follow from the seed.
  std::string door;
  std::uint64_t door_seed = 0;
  std::vector<Evidence> cases;  // asked one after the other, with the evidence; none: one question

  [[nodiscard]] bool has(MixedFactor::Kind kind) const;
  [[nodiscard]] bool has_option(std::string_view name) const;
  // What infer() gets.
  [[nodiscard]] Model model() const;
  // Throws Error (kArgument) for texts that an option does not take.
  [[nodiscard]] InferRequest request() const;
  // To be read by people, and by reading_of().
  [[nodiscard]] std::string text() const;
};

// The case of this number in the sequence of a seed.
MixedCase random_case(std::uint64_t seed, std::int64_t number);
// Throws Error (kParse) for what text() did not write.
MixedCase reading_of(const std::string& text);

// The cases that are a step smaller than this one: without an option, an observation or a factor, with a factor as a
// table, with rounder numbers.
std::vector<MixedCase> smaller_cases(const MixedCase& original);

}  // namespace treesample::mixer
