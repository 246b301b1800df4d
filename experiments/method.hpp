// The methods by the names of tables, figures and command lines: ways to infer with some options set.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "treesample/infer/infer.hpp"

namespace treesample::experiments {

// The number of a row of contenders(). Only methods that experiments treat specially need a name here; a row at the end
// needs none.
enum class Contender {
  kSis,
  kSmc,
  kGibbs,
  kBp,
  kTree,        // the paper's search
  kMass,        // the search with the rule `mass`
  kElbo,        // the paper's search with leaf values that include the pending factors
  kElboStates,  // the same with a bonus of (N - n) log K and random ties, so that constants of factors have no effect
  kUniform,     // P_X of a search that spends nothing
  kGraph,       // equal sub-problems are merged
  kAndOr,       // and independent components are split
  kLearned,     // functions are learned from the values that were evaluated
  kMetropolis,
  kFrequencies,  // frequencies in the best quarter: for the best configuration alone
};

// An option that is tuned, and the values to try.
struct Tuned {
  const char* option;
  std::vector<const char*> values;
};

// There is one row for each method. To add a method to comparisons, add a row here.
struct ContenderRow {
  const char* word;   // in command lines and files
  const char* title;  // in tables
  int color;          // in every figure: an index of the palette in plot.hpp
  InferOptions options;
  std::vector<Tuned> tuned = {};
  bool has_particles = false;     // true if its outcome is known exactly, whatever the model
  bool is_for_functions = false;  // true if it is not part of the paper's experiments
  Contender contender = {};       // its number
};
const std::vector<ContenderRow>& contenders();
// The contenders of the paper's experiments.
std::vector<Contender> all_contenders();
const ContenderRow& row_of(Contender contender);
inline const char* word_of(Contender contender) { return row_of(contender).word; }
inline const char* title_of(Contender contender) { return row_of(contender).title; }
inline int color_of(Contender contender) { return row_of(contender).color; }
// All words, separated by commas.
std::string all_method_words();
// Throws Error (kArgument) naming the allowed words.
Contender parse_method(const std::string& option, const std::string& word);

// A contender with its settings.
struct MethodSetting {
  MethodSetting() : MethodSetting(Contender::kTree) {}
  explicit MethodSetting(Contender which) : contender(which), options(row_of(which).options) {}

  // Takes from `given` the options that the contender does not set.
  void take(const InferOptions& given);
  // The tuned options as text: "c=0.5", "ess-threshold=0.25 resampling=systematic". Empty if nothing is tuned.
  [[nodiscard]] std::string tuned_text() const;
  // Sets one of the tuned options. Throws Error (kArgument) for any other option, and for a value that is not allowed.
  void set_tuned(const std::string& option, const std::string& value);

  Contender contender;
  InferOptions options;
};

struct Outcome {
  double energy = 0.0;          // E_P[sum psi]
  double entropy = 0.0;         // H[P_X]
  bool has_divergence = true;   // if false, energy, entropy and delta_kl are not known
  double delta_kl = 0.0;        // +inf if P_X gives mass to an impossible configuration, or is empty
  double delta_kl_error = 0.0;  // standard error; 0 if exact
  std::optional<double> log_z;  // the method's own estimate; Gibbs and BP by decimation have none
  std::optional<double> best;   // largest log density it met, if asked for; -inf if nothing possible was met
  bool is_best_optimal = false;
  double num_evaluations = 0.0;
  double num_calls = 0.0;  // calls of functions, as the method counts them
  double seconds = 0.0;    // of the method alone
};

struct MethodRun {
  std::int64_t budget = 10'000;
  BudgetUnit unit = BudgetUnit::kReward;
  std::uint64_t seed = 0;
  Aim aim = Aim::kAll;  // with kBest there is no divergence
  std::function<bool()> is_interrupted = [] { return false; };
  // For outcomes that are not exact. Evaluating these samples calls the functions of a model beyond the budget, once
  // for each function and sample. With fewer than two samples, the outcome of such a model has no divergence.
  int num_samples = 10'000;
};

// None if it was interrupted. Throws what infer() throws: kArgument for a budget that does not pay for one particle, or
// for BP on a model with function factors; and the error of a function that failed.
std::optional<Outcome> run_method(const FactorGraph& graph, const MethodSetting& setting, const MethodRun& run);

}  // namespace treesample::experiments
