// The paper's section 4.1 as this project runs it: four families, two readings, and a setting for each method.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "method.hpp"
#include "treesample/families/family.hpp"

namespace treesample::experiments {

inline const std::vector<std::string> kPaperFamilies = {"chain", "permuted-chain", "factor-graphs-1",
                                                        "factor-graphs-2"};
inline constexpr Reading kReadings[] = {Reading::kLetter, Reading::kBest};
const char* to_string(Reading reading);

// One column of the paper's Table 1 in one reading.
struct Problem {
  std::string family;
  Reading reading = Reading::kLetter;
};
// All eight problems, "chain/letter" first.
std::vector<Problem> paper_problems();
std::string to_string(const Problem& problem);
FactorGraph problem_model(const Problem& problem, std::uint64_t seed, int instance);

// Instances of a run and of its tuning never coincide: the seeds of a command line are below 2^63, those of tuning
// above.
std::uint64_t tuning_seed(std::uint64_t seed);

// The seed of a method. It depends only on the names, not on the order in which things are run.
std::uint64_t method_seed(std::uint64_t seed, const std::string& key, Contender method);

// Tuned settings as a small text with one line "family reading method name=value ..." for each; "#" begins a comment.
// Settings that a line does not mention are fixed by the paper or the reading:
// - order: `degree` on factor-graphs-1, as in the paper, otherwise the given one; min-fill for graph and andor;
// - ties: lowest action in the literal reading, random in the best one;
// - resampling: the paper does not name the scheme; multinomial in the literal reading, tuned in the best one.
class Hyperparameters {
 public:
  // Throws Error (kParse) naming `source` and the line.
  Hyperparameters(std::string_view text, const std::string& source);
  // The settings of the repository, compiled into the program.
  static Hyperparameters built_in();

  // Throws Error (kArgument) if the text has no line for it. SIS, uniform and the mass rule need none.
  [[nodiscard]] MethodSetting setting(const Problem& problem, Contender method) const;
  // The text without comments and in canonical form; it is part of a run's fingerprint.
  [[nodiscard]] std::string text() const;

 private:
  std::map<std::string, MethodSetting> settings_;  // by "family reading method"
};

// Order, ties and resampling as above; the tuned fields still have their defaults.
MethodSetting untuned_setting(const Problem& problem, Contender method);

}  // namespace treesample::experiments
