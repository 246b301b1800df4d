// The methods as tables, figures and command lines name them: ways to infer with some options set.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "treesample/infer/infer.hpp"

namespace treesample::experiments {

// The number of a row of contenders(). Names are for those that experiments treat in a way of their own; a row at the
// end needs none.
enum class Contender {
  kSis,
  kSmc,
  kGibbs,
  kBp,
  kTree,        // the paper's search
  kMass,        // the search by unresolved mass
  kElbo,        // the paper's search with values that know the pending factors
  kElboStates,  // the same with a bonus of (N - n) log K and random ties: no constant of the factors matters
  kUniform,     // P_X of a search that spends nothing
  kGraph,       // equal sub-problems merged
  kAndOr,       // and independent components split
  kAis,         // annealed importance sampling
  kLearned,     // functions learned from the values that were asked
  kMetropolis,
  kFrequencies,  // of the best quarter: for the best configuration alone
};

// An option that is tuned, and the values that are tried.
struct Tuned {
  const char* option;
  std::vector<const char*> values;
};

// One row for each; a method that is to appear in comparisons is added here.
struct ContenderRow {
  const char* word;   // of command lines and files
  const char* title;  // in tables
  int color;          // in every figure, an index of the palette in plot.hpp
  InferOptions options;
  std::vector<Tuned> tuned = {};
  bool has_particles = false;     // its outcome is known exactly, whatever the model
  bool is_beyond_paper = false;  // no part of the paper's experiments
  Contender contender = {};       // its number
};
const std::vector<ContenderRow>& contenders();
// Of the paper's experiments.
std::vector<Contender> all_contenders();
const ContenderRow& row_of(Contender contender);
inline const char* word_of(Contender contender) { return row_of(contender).word; }
inline const char* title_of(Contender contender) { return row_of(contender).title; }
inline int color_of(Contender contender) { return row_of(contender).color; }
// All words, with commas between them.
std::string all_method_words();
// Throws Error (kArgument) naming the allowed words.
Contender parse_method(const std::string& option, const std::string& word);

// A contender with its settings.
struct MethodSetting {
  MethodSetting() : MethodSetting(Contender::kTree) {}
  explicit MethodSetting(Contender which) : contender(which), options(row_of(which).options) {}

  // What of these the contender leaves open.
  void take(const InferOptions& given);
  // The tuned part as text, "c=0.5", "ess-threshold=0.25 resampling=systematic"; empty where nothing is tuned.
  [[nodiscard]] std::string tuned_text() const;
  // One of the tuned options. Throws Error (kArgument) for any other, or a value that is not allowed.
  void set_tuned(const std::string& option, const std::string& value);

  Contender contender;
  InferOptions options;
};

struct Outcome {
  double energy = 0.0;          // E_P[sum psi]
  double entropy = 0.0;         // H[P_X]
  bool has_divergence = true;   // false: energy, entropy and delta_kl are not known
  double delta_kl = 0.0;        // +inf when P_X gives mass to an impossible configuration, or is empty
  double delta_kl_error = 0.0;  // standard error; 0 when exact
  std::optional<double> log_z;  // the method's own estimate; Gibbs and BP by decimation have none
  std::optional<double> best;   // the largest log density that it met, where that was asked; -inf: nothing possible
  bool is_best_optimal = false;
  double num_evaluations = 0.0;
  double num_calls = 0.0;  // of functions, by the method's own count
  double seconds = 0.0;    // of the method alone
};

struct MethodRun {
  std::int64_t budget = 10'000;
  BudgetUnit unit = BudgetUnit::kReward;
  std::uint64_t seed = 0;
  Aim aim = Aim::kAll;  // kBest: there is no divergence
  std::function<bool()> is_interrupted = [] { return false; };
  // For outcomes that are not exact. Evaluating them calls the functions of a model, once for each function and sample
  // and beyond the budget; with fewer than two of them such a model's outcome has no divergence.
  int num_samples = 10'000;
};

// None when it was interrupted. Throws what infer() throws: kArgument for a budget that does not pay for one particle,
// or for BP on a model with function factors; and the error of a function that failed.
std::optional<Outcome> run_method(const FactorGraph& graph, const MethodSetting& setting, const MethodRun& run);

}  // namespace treesample::experiments
