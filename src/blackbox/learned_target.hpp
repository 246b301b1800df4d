// The density of a target with black boxes, as far as it is known: its tables exactly; its functions by the values that
// were told, and by a surrogate of each function, over its own scope, elsewhere. Where a function fails or is -inf,
// a model of its own guesses (blackbox/possibility.hpp), and the density is
//
//   exp(guess of the value) P(possible).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "blackbox/possibility.hpp"
#include "surrogate/difference_estimate.hpp"
#include "treesample/blackbox/domain.hpp"
#include "treesample/blackbox/surrogate.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

class LearnedTarget {
 public:
  // Throws kArgument where the graph has no function.
  LearnedTarget(FactorGraph graph, MakeSurrogate make, const Noise& noise);

  [[nodiscard]] const FactorGraph& graph() const { return graph_; }
  [[nodiscard]] const Domain& domain() const { return domain_; }
  // The factors of the graph that are functions.
  [[nodiscard]] std::vector<int> functions() const;

  // A value of a function at states of its scope. False where nothing is new: without noise, the same value was told
  // before. Throws kArgument and kNumeric as ToldValues::add, and kArgument for another value at the same states where
  // there is no noise, unless `may_differ`.
  bool tell(int function, std::span<const int> states, double value, bool may_differ);
  // The configuration with these states of a function of all variables.
  [[nodiscard]] Assignment whole(int function, std::span<const int> states) const;
  // Values and failures, of the function that has the most.
  [[nodiscard]] std::int64_t num_told() const;
  // The function has failed there: it has no value, and nothing is learned about values.
  void tell_failed(int function, std::span<const int> states);
  // Throws Error unless there is such a function with such states, and the value is allowed.
  void check(int function, std::span<const int> states, double value);
  // Whether a function has failed at this configuration.
  [[nodiscard]] bool has_failed(std::span<const int> x) const;
  // The log density of the tables alone, and of a configuration where all functions are known.
  [[nodiscard]] double tables_alone(std::span<const int> x) const { return tables_.log_density(x); }
  [[nodiscard]] std::optional<double> known(std::span<const int> x) const;
  // Why nothing can be said of how far guesses are off; empty where something can.
  [[nodiscard]] std::string why_no_error() const;
  // Values of the last quarter and what was foreseen before they were told: the end of `foreseen`.
  // Earlier fits foresaw them. Where the last one predicts all of them nearly exactly, each without itself, it has
  // found the function, and its errors count.
  [[nodiscard]] std::vector<Foreseen> recently_foreseen(const std::vector<Foreseen>& foreseen) const;
  // By how much the sum of the factors may be off by rounding there. Where all functions are known and nothing is -inf.
  [[nodiscard]] double rounding(std::span<const int> x) const;
  // The mean variance of one evaluation, from values that were told more than once and differ; none where there are no
  // such.
  [[nodiscard]] std::optional<double> noise_variance() const;
  [[nodiscard]] const Noise& noise() const { return noise_; }
  // Of one evaluation: as it was given, or from repeats; 0 without noise.
  [[nodiscard]] double noise_sd() const;
  // From now on values are noisy: all surrogates are made again.
  void set_noise(const Noise& noise);

  void fit(const ShouldStop& should_stop);
  // Log densities at these configurations, as if they were not known.
  void predict(std::span<const int> rows, std::span<Prediction> out) const;
  // What is believed there: true values where functions are known, and without noise; means of guesses elsewhere.
  void believe(std::span<const int> rows, std::span<double> out) const;
  // What can be summed over everything, as tables: those of the model, functions of few states as they are believed,
  // and of the others the terms of their surrogates, the strongest ones where elimination takes more than
  // `most_entries` bucket entries for all (src/blackbox/summable_guess.cpp).
  [[nodiscard]] FactorGraph summable(double most_entries) const;
  // The tables of the model, without its functions.
  [[nodiscard]] const FactorGraph& tables() const { return tables_; }
  // The means of guesses at all configurations that differ from x in one variable at most, as
  // Surrogate::predict_neighbours.
  void predict_neighbours(std::span<const int> x, std::span<double> means) const;
  // The log densities at all of them, where each function is one drawn from what its surrogate believes. It refers to
  // the target, and is of no use after the next fit or value.
  [[nodiscard]] std::unique_ptr<DrawnFunction> draw(Random& random) const;
  // Adds the log densities of all functions over the whole domain, the last variable changing fastest: values where
  // they were told, guesses elsewhere. is_known is 1 where all functions are known. Noisy values are guessed as well.
  void add_all(std::span<double> log_densities, std::vector<unsigned char>& is_known) const;

 private:
  class Drawn;
  struct Part {
    int factor = 0;
    std::vector<int> scope;
    ToldValues told;
    std::unordered_map<std::string, std::vector<std::size_t>> places;  // in `told`, by states
    std::unordered_set<std::string> failed;
    std::vector<int> failed_states;  // the same, one after the other
    std::unique_ptr<Surrogate> surrogate;
    std::unique_ptr<Possibility> possibility;
    std::size_t num_learned = 0;  // values and failures
    bool is_fitted = false;
    bool has_repeats = false;  // the same states were told more than once
  };
  [[nodiscard]] Part& part_of(int function);
  static std::string key(std::span<const int> states) {
    return {reinterpret_cast<const char*>(states.data()), states.size_bytes()};
  }
  [[nodiscard]] static std::optional<double> value_at(const Part& part, std::span<const int> states);
  // How far guesses can be trusted, for the function where that is least: the share of the mass that was told which is
  // far above its prediction without itself. Where others like that are, no guess can tell.
  [[nodiscard]] double surprise_share() const;
  // Whether all possible values of a function are equal, so that nothing is known of where others may lie.
  [[nodiscard]] bool is_featureless() const;
  [[nodiscard]] std::vector<double> believed_table(const Part& part) const;
  // Guesses of the values where there are none: of what was told -inf, then of failures.
  [[nodiscard]] static std::vector<double> impossible_guesses(const Part& part);
  void add_possible(const Part& part, std::vector<double>& own, std::vector<unsigned char>& is_known) const;
  template <typename Ask>
  void sum_neighbours(std::span<const int> x, std::span<double> out, const Ask& ask) const;
  void states_of(const Part& part, std::span<const int> x, std::vector<int>& states) const;

  MakeSurrogate make_;
  Noise noise_;
  FactorGraph graph_, tables_;
  Domain domain_;
  std::vector<Part> parts_;
  bool tells_tables_ =
      false;  // of one function of all variables: surrogates learn where its product with the tables is
};

}  // namespace treesample
