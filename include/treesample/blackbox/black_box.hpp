// A target whose functions are expensive: which configurations to evaluate next, and what their values say.
//
//   BlackBox box(domain);                      or of a graph with functions, whose tables are known
//   for (const Assignment& x : box.ask(8)) box.tell(x, evaluate(x));
//   box.answer()                               P_X, log Z, marginals, the best configuration
//
// Every value teaches, whoever asked for it. Elsewhere a surrogate of each function guesses
// (blackbox/surrogate.hpp), and
//
//   P_X(x) = gamma_hat(x) / Z_X where x was evaluated,  exp(guess of log gamma_hat(x)) / Z_X elsewhere.
//
// Nothing is evaluated here: a run, a queue or a laboratory does that, and tells.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "treesample/blackbox/domain.hpp"
#include "treesample/blackbox/surrogate.hpp"
#include "treesample/model/approximation.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/stop.hpp"
#include "treesample/surrogate/sampled_errors.hpp"

namespace treesample {

struct BlackBoxOptions {
  std::uint64_t seed = 0;
  bool wants_best = false;  // only the configuration of the largest value is looked for
  // Noise of which nothing is said is looked for: two of the first hundred configurations are asked a second time, and
  // where the values differ, there is noise. Repeats that somebody else has told count as well.
  Noise noise = {};
  bool looks_for_noise = true;
  bool can_repeat = true;             // false: nothing is asked a second time, whatever the noise
  MakeSurrogate make_surrogate = {};  // what guesses; empty: a portfolio (blackbox/portfolio.hpp)
  // Ways of proposing (BlackBox::proposers) and members of the portfolio that are left out, by name.
  std::vector<std::string> without = {};
  double confidence = 0.95;  // of the interval in BlackBoxAnswer::errors
  // Domains of more configurations are not enumerated: P_X is then made of learned terms, which elimination sums, and
  // of the configurations where a search on the surrogates found most of the mass.
  static constexpr double kMostEnumerated = 1 << 20;
  double most_enumerated = kMostEnumerated;

  // Throws Error (kArgument) naming the field, its value and what is allowed.
  void validate() const;
};

struct BlackBoxAnswer {
  std::shared_ptr<const Approximation> approximation;  // P_X; null where nothing is possible
  double log_z = 0.0;                                  // of P_X: an estimate
  double log_known = 0.0;                              // the log sum over the evaluated configurations
  double log_spread = 0.0;            // how far the mass of all others may be off: a standard deviation of its log
  Marginals marginals = {};           // of P_X
  std::optional<Configuration> best;  // of those that were evaluated; where there is noise, by its mean
  bool is_exact = false;              // everything was evaluated, without noise
  // Certified bounds of log Z, by what was evaluated: the upper one is +inf unless that is everything; with noise there
  // are none.
  double log_lower = -std::numeric_limits<double>::infinity();
  double log_upper = std::numeric_limits<double>::infinity();
  double best_error = 0.0;  // by which the log density of `best` may be off by rounding
  // From configurations that ask_check drew, where some were told.
  std::optional<SampledErrors> errors = {};
  Noise noise = {};             // as given, or as found; the standard deviation is then the fitted one
  std::int64_t num_failed = 0;  // configurations
  std::string why_failed = {};  // the last one
  // Sentences for whoever reads the answer: noise that was found, failures.
  std::vector<std::string> remarks = {};
};

// What was told, one value of one function after the other.
struct ToldValue {
  int factor = 0;
  std::vector<int> states;      // of its scope
  std::optional<double> value;  // none: it failed
  std::string why = {};         // it failed
};

class BlackBox {
 public:
  // Domains of more configurations are not enumerated, unless the options say otherwise.
  static constexpr double kMostEnumerated = BlackBoxOptions::kMostEnumerated;

  // One black box, a function of all variables.
  explicit BlackBox(const Domain& domain, BlackBoxOptions options = {});
  // The functions of the graph are the black boxes, each over its own scope; they are not called.
  explicit BlackBox(FactorGraph graph, BlackBoxOptions options = {});
  ~BlackBox();
  BlackBox(BlackBox&&) noexcept;
  BlackBox& operator=(BlackBox&&) noexcept;

  // At most n configurations to evaluate; fewer, or none, where nothing is left. They are different from each other and
  // from all that were asked for or told before, but for those that are repeated because of noise. They may be told in
  // any order, or never.
  std::vector<Assignment> ask(int n, const ShouldStop& should_stop = {});
  // The same, for errors: n draws from what is now believed of all configurations that were not told (answer().errors).
  // A configuration that is drawn twice is returned once. To be told before more is asked for.
  std::vector<Assignment> ask_check(int n, const ShouldStop& should_stop = {});
  // The value of the only function. Throws Error (kArgument) where there are several, and for a configuration that the
  // domain does not have; (kNumeric) for NaN and +inf. The same value told again changes nothing. Another value at the
  // same configuration is noise; where noise is excluded (looks_for_noise is false), Error (kArgument).
  void tell(std::span<const int> x, double value);
  // A value of one function, given by its factor, at states of its scope. Wherever it comes from, it counts.
  void tell_function(int factor, std::span<const int> states, double value);
  // The function has no value there: it failed. Configurations that contain these states do not belong to the target.
  // Where it fails is learned, but nothing is learned from it about the values.
  void tell_function_failed(int factor, std::span<const int> states, std::string_view why = {});
  // All functions were told at this configuration, or the first ones in vain: one was -inf or failed. Only then the
  // proposer that asked for it learns what came of it.
  void tell_done(std::span<const int> x);
  // The only function failed there.
  void tell_failed(std::span<const int> x, std::string_view why = {});

  [[nodiscard]] BlackBoxAnswer answer(const ShouldStop& should_stop = {});
  // Values and failures, of the function that has the most; repeats count.
  [[nodiscard]] std::int64_t num_told() const;
  [[nodiscard]] std::vector<ToldValue> told() const;
  // The best configuration that was told, without learning anything.
  [[nodiscard]] std::optional<Configuration> best() const;

  // Everything that happened, as JSON.
  [[nodiscard]] std::string save() const;
  // Of a box to which nothing has happened: does all of it once more, so that it goes on with the same bits as the box
  // that was saved, where the options are the same. Throws Error (kParse) where the text is not such a text, and
  // (kArgument) where it belongs to another model.
  void load(std::string_view text);

  // Whether the domain can be enumerated.
  static bool can_enumerate(const FactorGraph& graph);
  // The ways of proposing, and how many configurations came from each.
  [[nodiscard]] std::vector<std::pair<std::string, std::int64_t>> proposers() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace treesample
