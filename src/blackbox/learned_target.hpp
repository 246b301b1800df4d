// The density of a target with black boxes, as far as it is known: its tables exactly; its functions by the values that
// were told, and by a surrogate of each function, over its own scope, elsewhere.
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

#include "treesample/blackbox/domain.hpp"
#include "treesample/blackbox/surrogate.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

using MakeSurrogate = std::function<std::unique_ptr<Surrogate>(const Domain&)>;

class LearnedTarget {
 public:
  // `levels` are those of the variables, as in Domain. Throws kArgument where the graph has no function.
  LearnedTarget(FactorGraph graph, const std::vector<std::vector<double>>& levels, const MakeSurrogate& make);

  [[nodiscard]] const FactorGraph& graph() const { return graph_; }
  [[nodiscard]] const Domain& domain() const { return domain_; }
  // The factors of the graph that are functions.
  [[nodiscard]] std::vector<int> functions() const;

  // A value of a function at states of its scope. Where the same states were told
  // before, the mean of both counts. Throws kArgument and kNumeric as ToldValues::add.
  void tell(int function, std::span<const int> states, double value);
  // The function has failed there: the configuration counts as impossible, and nothing is learned from it as a value.
  void tell_failed(int function, std::span<const int> states);
  // The log density of the tables alone, and of a configuration where all functions are known.
  [[nodiscard]] double tables_alone(std::span<const int> x) const { return tables_.log_density(x); }
  [[nodiscard]] std::optional<double> known(std::span<const int> x) const;
  // Values that were told more than once and differ: the variance of one evaluation. None where there are no such.
  [[nodiscard]] std::optional<double> noise_variance() const;

  void fit(const ShouldStop& should_stop);
  // Log densities at these configurations: known where they are known.
  void predict(std::span<const int> rows, std::span<Prediction> out) const;
  // Adds the predicted means of all functions over the whole domain, the last variable changing fastest.
  void add_means(std::span<double> means) const;

 private:
  struct Part {
    int factor = 0;
    std::vector<int> scope;
    ToldValues told;
    std::unordered_map<std::string, std::vector<std::size_t>> places;  // in `told`, by states
    std::unordered_set<std::string> failed;
    std::unique_ptr<Surrogate> surrogate;
    std::size_t num_learned = 0;
    bool is_fitted = false;
  };
  [[nodiscard]] Assignment whole(const Part& part, std::span<const int> states) const;
  [[nodiscard]] Part& part_of(int function);
  static std::string key(std::span<const int> states) {
    return {reinterpret_cast<const char*>(states.data()), states.size_bytes()};
  }
  [[nodiscard]] static std::optional<double> value_at(const Part& part, std::span<const int> states);
  void states_of(const Part& part, std::span<const int> x, std::vector<int>& states) const;

  FactorGraph graph_, tables_;
  Domain domain_;
  std::vector<Part> parts_;
  bool tells_tables_ =
      false;  // of one function of all variables: surrogates learn where its product with the tables is
};

}  // namespace treesample
