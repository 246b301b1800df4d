// A model cut into slices: some variables fixed to one of their joint states (EliminationPlan).
//
//   Z = sum over slices s of Z_s,      p(x_v) = sum over s of (Z_s / Z) p_s(x_v)
//
// States that a slice makes impossible are removed from it (reduce/simplify.hpp): its tables are smaller than planned,
// and many slices of a model with zeros are impossible and cost nothing.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "exact/elimination_pass.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/reduce/evidence.hpp"
#include "treesample/reduce/reduced_model.hpp"

namespace treesample {

struct Slice {
  ReducedModel model;
  std::vector<int> order;                       // of its variables
  std::shared_ptr<const EliminationPass> pass;  // null when the slice is impossible
  LogBounds log_z;
  double estimate = 0.0;  // of log_z
};

// The part of a model in which some variables have the states of `fixed`, and the order of its remaining variables.
struct SlicedModel {
  ReducedModel model;
  std::vector<int> order;
  double log_error = 0.0;  // bound on the error of the log density of a configuration
  bool is_impossible = false;
};
SlicedModel cut_slice(const FactorGraph& graph, const Evidence& fixed, const std::vector<int>& order);
// The states of the fixed variables in slice number `index`.
Evidence slice_states(const FactorGraph& graph, const EliminationPlan& plan, std::size_t index);

// Eliminates the part of the model in which the variables of `fixed` have these states; the order is of all variables.
Slice run_slice(const FactorGraph& graph, const Evidence& fixed, const std::vector<int>& order,
                const PassOptions& options, EntryWatch& watch);

class Slices {
 public:
  Slices(const FactorGraph& graph, EliminationPlan plan) : graph_(graph), plan_(std::move(plan)) {}

  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(plan_.num_slices); }
  [[nodiscard]] const EliminationPlan& plan() const { return plan_; }
  // Eliminates one slice. Planned entries that it turns out not to have count as done.
  [[nodiscard]] Slice run(std::size_t index, const PassOptions& options, EntryWatch& watch) const;

 private:
  const FactorGraph& graph_;
  EliminationPlan plan_;
};

// A sum of numbers that are known by bounds on their logarithms.
class LogSum {
 public:
  void add(const LogBounds& log_value, double estimate);
  // Rounded outward.
  [[nodiscard]] LogBounds bounds() const;
  [[nodiscard]] double estimate() const { return estimate_; }

 private:
  LogBounds sum_{kNegInf, kNegInf};
  double estimate_ = kNegInf, count_ = 0.0, magnitude_ = 0.0;
};

// The mean of the marginals of slices, with weights Z_s.
class MarginalSum {
 public:
  explicit MarginalSum(const FactorGraph& graph);
  // The probabilities of all variables, one after the other; not used where log_z is -inf.
  void add(double log_z, std::span<const double> probabilities);
  [[nodiscard]] Marginals marginals() const;

 private:
  std::vector<int> num_states_;
  std::vector<double> sum_;
  double largest_ = kNegInf;
};
// As add() takes them.
std::vector<double> flat(const Marginals& marginals);

}  // namespace treesample
