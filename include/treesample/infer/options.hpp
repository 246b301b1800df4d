// What `infer` can be asked and told, and the one table of its options.
//
// Everything may be left open: the plan chooses what is not given (infer/plan.hpp). Options are declared in the table:
// flags of the command line and their help, keywords, validation, remarks on options that a method does not use and the
// record in an answer are all made from it. A new option is a field here and a row there (src/infer/option_table.cpp).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "treesample/baselines/gibbs.hpp"
#include "treesample/baselines/smc.hpp"
#include "treesample/infer/question.hpp"
#include "treesample/search/search.hpp"
#include "treesample/space/answer_order.hpp"
#include "treesample/space/limits.hpp"
#include "treesample/space/search_space.hpp"
#include "treesample/tree/tree_sample.hpp"
#include "treesample/value/function_value.hpp"
#include "treesample/value/leaf_choice.hpp"

namespace treesample {

class Executor;

enum class Method {
  kTree,    // the paper's tree search: the rule q-uct in the space tree
  kSearch,  // the search: with bounds (rule gap), by mass, or with q-uct in graph or andor
  kExact,   // variable elimination
  kCount,   // for models with many zeros
  kSis,
  kSmc,
  kGibbs,
  kBp,
  kMetropolis,
  kFrequencies,  // only the best configuration, for functions
  kLearned,      // functions over many variables, learned from the values that were paid for
  kMonotone,     // functions that are declared monotone: bounds from boxes
  kAis,          // annealed importance sampling
};

// The distribution from which the search with bounds draws samples.
enum class SampleSource {
  kLower,      // P_L: its divergence from the target is certified
  kUpper,      // P_U: importance weights are bounded
  kRejection,  // exact samples, by rejection from P_U
};

// How the values of a network enter the tree search.
enum class NetworkValues {
  kTelescoped,  // made to agree between levels, with the root's value from samples (value/telescoped_value.hpp)
  kAbsolute,    // as they are: the paper's text
};

// What a tree search does when its memory is full.
enum class WhenFull {
  kRebuild,  // the tree is compiled into Q_phi and built again with it (tree/rebuilt_search.hpp)
  kStop,
};

struct InferOptions {
  std::optional<Method> method = {};
  std::optional<SelectRule> select = {};
  std::optional<SpaceKind> space = {};
  std::optional<OrderKind> order = {};
  std::optional<std::int64_t> restarts = {};
  std::optional<LeafChoice> leaf = {};
  std::optional<NetworkValues> network_values = {};
  std::optional<std::int64_t> root_samples = {};
  std::optional<WhenFull> when_full = {};
  std::optional<BudgetUnit> budget_unit = {};
  std::optional<double> c = {};
  std::optional<double> epsilon = {};
  std::optional<BonusScale> bonus = {};
  std::optional<TieRule> ties = {};
  std::optional<double> confidence = {};
  std::optional<SampleSource> sampler = {};
  std::optional<std::int64_t> max_tries = {};
  std::optional<double> ess_threshold = {};
  std::optional<ResamplingScheme> resampling = {};
  std::optional<std::int64_t> sweeps = {};
  std::optional<GibbsMode> gibbs_mode = {};
  std::optional<std::int64_t> burn_in = {};
  std::optional<std::int64_t> messages = {};
  std::optional<double> damping = {};
  std::optional<std::int64_t> temperatures = {};  // of annealed importance sampling
  std::optional<std::int64_t> importance = {};
  std::optional<double> error_share = {};    // of the calls of a learned model, for samples that tell its errors
  std::optional<std::string> noise = {};     // of the values of functions: look, no, yes, or its standard deviation
  std::optional<std::int64_t> workers = {};  // of the model's programs, as given when the model was read
  std::optional<AnswerOrder> answer_order = {};
  std::optional<bool> trace = {};    // bounds and estimate over time are wanted, which takes a search
  std::optional<bool> compile = {};  // a circuit of the model is wanted, which takes counting
  std::optional<bool> simplify = {};
  std::optional<std::string> resume = {};      // file that keeps finished slices of elimination
  std::optional<std::string> order_file = {};  // of elimination (io/order_file.hpp); read when infer begins
  std::optional<std::string> slices = {};      // "A..B": of elimination, only these, into the file `resume`
  std::uint64_t seed = 0;
  // Elimination removes the variables of the model in this order, first removed first, skipping those that evidence and
  // simplification have removed. Empty: an order is looked for. (No row of the table.)
  std::vector<int> elimination_order = {};
  std::vector<int> slice_variables = {};  // for this order, the variables that are fixed in slices; none: by need
  // Q_phi of the caller, in terms of the model: the leaf values of the searches and particle filters. Variables
  // are searched in the given order and in the space graph, and nothing is simplified. (No row of the table.)
  ValueFunction value_function = {};
  // Who computes slices of elimination, for log Z, marginals and the most probable configuration: threads of this
  // process where it is null. The memory of the limits is then that of each of its workers. (No row of the table.)
  std::shared_ptr<Executor> executor = {};
  // A remark for each option that was given by a name or word of earlier versions (set_option). (No row of the table.)
  std::vector<std::string> old_words = {};
};

// All that the table is about.
struct InferRequest {
  Question question = {};
  Limits limits = {};
  InferOptions options = {};

  // Throws Error (kArgument) naming an option, its value and what is allowed, or an option that excludes it.
  void validate() const;
  // The same for many cases (infer/cases.hpp): each has a row in a table, which not every result fits into.
  void validate_for_cases() const;
};

// One option as a program may offer and explain it.
struct OptionInfo {
  std::string name;  // with dashes between words
  std::string help;
  std::string meta;          // placeholder for the value: N, X, SIZE, FILE, or the words separated by bars
  std::string initial;       // the default; empty: decided by the plan
  bool is_common = false;    // one of those that most people need
  bool is_repeated = false;  // may be given several times, and each adds to it
  std::string old_name;      // of earlier versions, which is accepted too; empty: none
};
const std::vector<OptionInfo>& infer_options();
// Throws Error (kArgument) for an unknown name.
const OptionInfo& infer_option(std::string_view name);

// From text, as people type it: 1e6 is a whole number, 4G a size. Throws Error (kArgument) naming the option, the text
// and what is allowed. What has another name or word now is accepted, and noted in InferOptions::old_words.
void set_option(InferRequest& request, std::string_view name, std::string_view text);
// The value as text; empty where the option is left open.
std::string option_text(const InferRequest& request, std::string_view name);

// The tree search or the search.
constexpr bool is_a_search(Method method) { return method == Method::kTree || method == Method::kSearch; }

const char* to_string(Method method);
const char* to_string(SelectRule rule);
const char* to_string(SpaceKind kind);
const char* to_string(OrderKind kind);

}  // namespace treesample
