// The methods that experiments compare, behind one call: run on a model, then evaluate.
//
// Every outcome is exact where it can be: particles by their merged atoms, a search with the uniform prior
// by one pass over its store (evaluate/divergence.hpp). Only where neither holds is it estimated.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "treesample/baselines/resampling.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/space/budget.hpp"
#include "treesample/space/order.hpp"
#include "treesample/space/search_space.hpp"
#include "treesample/tree/tree_sample.hpp"

namespace treesample::experiments {

enum class Method {
  kSis,
  kSmc,
  kGibbs,
  kBp,
  kTree,     // the paper's search
  kMass,     // the search for opaque factors: unresolved mass, calibrated values
  kElbo,     // the paper's with leaf values that know the pending factors, see elbo_value.hpp
  kUniform,  // P_X of a search that spends nothing
  kGraph,    // the search with equal sub-problems merged
  kAndOr,    // and independent components split
};
inline constexpr Method kAllMethods[] = {Method::kSis,   Method::kSmc,  Method::kGibbs, Method::kBp,
                                         Method::kTree,  Method::kMass, Method::kElbo,  Method::kUniform,
                                         Method::kGraph, Method::kAndOr};

// Word of command lines and files ("sis", "tree", ...), and name in tables ("SIS", "TS", ...).
const char* word_of(Method method);
const char* title_of(Method method);
// Its colour in every figure, an index of the palette in plot.hpp.
int color_of(Method method);
// All words, with commas between them.
std::string all_method_words();
// Throws Error (kArgument) naming the allowed words.
Method parse_method(const std::string& option, const std::string& word);

// A method with its settings; each reads only its own fields.
struct MethodSetting {
  Method method = Method::kTree;
  // Of the searches, SIS and SMC; graph takes the cheapest of all but `degree`.
  OrderKind order = OrderKind::kGiven;
  TieRule ties = TieRule::kLowest;
  double c = 1.0;
  double ess_threshold = 0.5;
  ResamplingScheme resampling = ResamplingScheme::kSystematic;
  int num_sweeps = 10;   // N_gibbs
  int num_messages = 5;  // N_message

  // The tuned part as text, "c=0.5", "t=0.25 resampling=systematic"; empty for SIS, uniform and the mass rule.
  [[nodiscard]] std::string tuned_text() const;
};

struct Outcome {
  double energy = 0.0;          // E_P[sum psi]
  double entropy = 0.0;         // H[P_X]
  bool has_divergence = true;   // false: energy, entropy and delta_kl are not known
  double delta_kl = 0.0;        // +inf when P_X gives mass to an impossible configuration, or is empty
  double delta_kl_error = 0.0;  // standard error; 0 when exact
  std::optional<double> log_z;  // the method's own estimate; Gibbs and BP by decimation have none
  double num_evaluations = 0.0;
  double num_calls = 0.0;  // of functions, by the method's own count
  double seconds = 0.0;    // of the method alone
};

struct MethodRun {
  std::int64_t budget = 10'000;
  BudgetUnit unit = BudgetUnit::kReward;
  std::uint64_t seed = 0;
  std::function<bool()> is_interrupted = [] { return false; };
  // For outcomes that are not exact. Evaluating them calls the functions of a model, once for each function and sample
  // and beyond the budget; with fewer than two of them such a model's outcome has no divergence.
  int num_samples = 10'000;
};

// Whether the outcome on a model with functions is estimated from samples: of the searches.
bool has_sampled_outcome(Method method);

// None when it was interrupted. Throws what the methods throw: kArgument for a budget that does not pay for
// one particle, or for BP on a model with function factors; and the error of a function that failed.
std::optional<Outcome> run_method(const FactorGraph& graph, const MethodSetting& setting, const MethodRun& run);

}  // namespace treesample::experiments
