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
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "treesample/blackbox/domain.hpp"
#include "treesample/blackbox/grid_approximation.hpp"
#include "treesample/blackbox/surrogate.hpp"
#include "treesample/model/approximation.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/stop.hpp"

namespace treesample {

struct BlackBoxOptions {
  std::uint64_t seed = 0;
  bool wants_best = false;  // only the configuration of the largest value is looked for
  // What guesses; empty: a Gaussian process.
  std::function<std::unique_ptr<Surrogate>(const Domain&)> make_surrogate = {};
  std::vector<std::string> without = {};  // ways of proposing (BlackBox::proposers) that are left out
};

struct BlackBoxAnswer {
  std::shared_ptr<const GridApproximation> approximation;  // P_X
  double log_z = 0.0;                                      // of P_X: an estimate
  double log_known = 0.0;                                  // the log sum over the evaluated configurations
  double log_spread = 0.0;            // how far the mass of all others may be off: a standard deviation of its log
  Marginals marginals = {};           // of P_X
  std::optional<Configuration> best;  // of those that were evaluated
  bool is_exact = false;              // everything was evaluated
  std::vector<double> prediction_errors = {};  // of values that were told after the first fit: value minus guess
};

class BlackBox {
 public:
  // Domains of more configurations than this are not enumerated.
  static constexpr double kMostEnumerated = 1 << 20;

  // One black box, a function of all variables.
  explicit BlackBox(const Domain& domain, BlackBoxOptions options = {});
  // The functions of the graph are the black boxes, each over its own scope; they are not called. `levels` as in
  // Domain.
  BlackBox(FactorGraph graph, const std::vector<std::vector<double>>& levels, BlackBoxOptions options = {});
  ~BlackBox();
  BlackBox(BlackBox&&) noexcept;
  BlackBox& operator=(BlackBox&&) noexcept;

  // At most n different configurations to evaluate, none of which was asked for or told before; fewer, or none, where
  // nothing is left. They may be told in any order, or never.
  std::vector<Assignment> ask(int n, const ShouldStop& should_stop = {});
  // The value of the only function. Throws Error (kArgument) where there are several, and for a configuration that the
  // domain does not have; (kNumeric) for NaN and +inf.
  void tell(std::span<const int> x, double value);
  // A value of one function, given by its factor, at states of its scope.
  void tell_function(int factor, std::span<const int> states, double value);
  // All functions were told at this configuration, or the first ones in vain: one was -inf.
  void tell_done(std::span<const int> x);
  // The only function failed there: that configuration counts as impossible.
  void tell_failed(std::span<const int> x);

  [[nodiscard]] BlackBoxAnswer answer(const ShouldStop& should_stop = {});
  [[nodiscard]] std::int64_t num_told() const;
  // Whether the domain can be enumerated.
  static bool can_enumerate(const FactorGraph& graph);
  // The ways of proposing, and how many configurations came from each.
  [[nodiscard]] std::vector<std::pair<std::string, std::int64_t>> proposers() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace treesample
