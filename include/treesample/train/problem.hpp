// The inference problems that training works on: random instances of a family, one or many model files, possibly with
// random evidence (the paper's amortised posterior inference, the same model with other observations, section 3.3), or
// the models of a generator.
//
// A problem is identified by its number: the same options and number give the same problem everywhere. So workers and
// learner, on one machine or on many, need to exchange nothing else.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "treesample/families/family.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/nn/network_value.hpp"
#include "treesample/space/search_space.hpp"

namespace treesample {

// Bounds of the targets of one level, relative to its offset (src/train/target_range.hpp has the reasons).
struct TargetRange {
  double low = 0.0;
  double high = 0.0;
};

struct Problem {
  std::uint64_t id = 0;
  FactorGraph graph;
  std::vector<std::string> factor_kinds;
  SearchSpace space;                       // `tree`, because the values that are learned are those of whole prefixes
  std::vector<double> offsets;             // per level: networks predict Q relative to this (independent_values)
  std::vector<TargetRange> target_ranges;  // per level: targets from other machines must lie within this
  std::optional<GnnPlan> plan;             // for graph networks
};

// A model for a number from 0 to 2^31 - 1: always the same for the same number. Several threads may call it at once.
using ModelGenerator = std::function<FactorGraph(std::uint64_t number)>;

struct ProblemOptions {
  std::string family = "factor-graphs-2";
  Reading reading = Reading::kLetter;
  std::map<std::string, double> values = {};  // fields of the family: "n", "k", ...
  // A model file instead of a family: its text and the extension of its name (".uai", ".bif"). It is the text and not a
  // path, so that workers on other machines do not need the file.
  std::string model_text = {};
  std::string model_format = {};
  // Several model files, each with text and extension. Problem i is model i modulo their number. Only for graph
  // networks.
  std::vector<std::pair<std::string, std::string>> models = {};
  // An endless supply of models, with a new number for each problem. The name is for messages, and must be the same if
  // a run is resumed. Only for graph networks, and not for workers on other machines.
  ModelGenerator generator = {};
  std::string generator_name = {};
  // Names of variables of the model or models that are observed. Their states are those of a sample of the model, a new
  // one for each problem. A problem is then the model conditioned on them, as with `infer --evidence`. Only for graph
  // networks.
  std::vector<std::string> evidence_variables = {};
  OrderKind order = OrderKind::kGiven;
  bool is_single_graph = false;  // every problem is instance 0 (the paper's non-transfer setting)
  std::uint64_t seed = 0;

  [[nodiscard]] bool has_models() const { return !model_text.empty() || !models.empty() || generator; }
  [[nodiscard]] bool is_single() const {
    return is_single_graph || (!model_text.empty() && evidence_variables.empty());
  }
  // Throws Error (kArgument) for options that do not go together.
  void validate() const;
};

// Problems from this number on are never trained on.
inline constexpr std::uint64_t kFirstTestProblem = std::uint64_t{1} << 32;

class ProblemSource {
 public:
  // Throws kArgument and kParse for options that give no problem.
  explicit ProblemSource(ProblemOptions options);

  // The kinds of factors for which a graph network for these problems has parameters. In FACTOR GRAPHS 2, the kinds
  // describe the factors completely; factors of all other models are read through their tables.
  [[nodiscard]] std::vector<std::string> network_kinds() const;
  // The number of variables of the first problem; a new perceptron is made for this number.
  [[nodiscard]] int num_variables() const { return first_->graph.num_variables(); }
  // The largest number of states in all models, in the first problem of a family, or in the first few of a generator.
  [[nodiscard]] int max_states() const;

  // From now on problems are made with a plan for this network. Throws kArgument if it does not fit.
  void plan_for(const Network& network);
  // May be called by several threads at once.
  [[nodiscard]] std::shared_ptr<const Problem> problem(std::uint64_t id) const;

 private:
  struct KnownModel;
  [[nodiscard]] std::shared_ptr<Problem> make(std::uint64_t id) const;
  [[nodiscard]] FactorGraph observed(const KnownModel& model, std::uint64_t id) const;
  [[nodiscard]] FactorGraph generated(std::uint64_t id) const;
  void read_models();
  void add_plan(Problem& problem) const;

  ProblemOptions options_;
  std::optional<GnnOptions> gnn_options_;
  std::vector<std::shared_ptr<const KnownModel>> models_;
  std::shared_ptr<const Problem> first_;
};

}  // namespace treesample
