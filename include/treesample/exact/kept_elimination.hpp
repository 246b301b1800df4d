// An elimination that is kept: orders, tables and the places of their entries are made once. Then evidence is set and
// taken back and tables are changed, and log Z and its derivatives are computed again, which takes microseconds for
// small models: only messages that depend on what has changed are summed again.
//
// With the buckets of exact/elimination.hpp, in(v) their inputs and Z the product of the messages without variables,
//
//   up      m_v(x_sep)         = sum over x_v of prod in(v)
//   down    d log Z / d t(x_t) = sum over the rest of the bucket of d log Z / d m_v(x_sep) prod (in(v) without t)
//
// for each input t, so that there is no division and zeros need no special care. An entry times its derivative is its
// probability: for a table of weights over the states of a variable that is the marginal of the variable, for a factor
// the expected number of times that its entry is used.
//
// Many cases are computed at once, one in each lane: a table that depends on the case has an entry for each of them,
// side by side, and the innermost loops run over the cases. Tables that do not depend on it are multiplied only once.
//
// Tables hold numbers, scaled by a power of two for each table and lane. Where products of them may have lost digits,
// is_lossy() says so; exact/elimination.hpp has passes that do not.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "treesample/math/log_bounds.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/reduce/model_part.hpp"

namespace treesample {

struct KeptOptions {
  // The part of the model that is computed; none: all of it.
  std::optional<ModelPart> part = {};
  // Variables whose states will always be known: they are cut out of all tables. set_state() gives the states.
  std::vector<int> observed = {};
  // Variables whose states have weights, which are 1 at first and are set by set_weights().
  std::vector<int> weighted = {};
  // Joint distributions that are asked for, each of different variables that are not in `observed`.
  std::vector<std::vector<int>> asked = {};
  // Factors of which expected counts are asked for, and whose tables can be set.
  std::vector<int> parameters = {};
  int lanes = 1;                // cases at once; 0: as many as the size of the tables makes good
  double order_work = 1e6;      // for the order: EliminationOptions::order_work
  std::vector<int> order = {};  // of the model's variables, if it is known already; others may be missing or too many
  double most_entries = 1e9;    // of all buckets
  double most_bytes = 1e9;      // of all tables
  std::uint64_t seed = 0;
};

struct KeptProgram;
struct KeptBucket;

class KeptElimination {
 public:
  // Throws Error: kArgument for unknown or repeated variables and for functions, kResource where the limits of the
  // options do not suffice.
  KeptElimination(const FactorGraph& graph, const KeptOptions& options);

  [[nodiscard]] int num_lanes() const;
  [[nodiscard]] double num_entries() const;  // of all buckets, for one case
  [[nodiscard]] std::size_t bytes() const;
  // The order of elimination, in terms of the model.
  [[nodiscard]] std::vector<int> order() const;

  // ---- what is known. A lane that nothing is set for has the state 0 of each observed variable, and weights of 1.
  void set_state(int lane, int variable, int state);
  void set_weights(int lane, int variable, std::span<const double> weights);  // numbers >= 0, one per state
  // The same for one state with the weight 1, all others having 0.
  void set_only_state(int lane, int variable, int state);
  // The logarithms of the entries of a factor of `parameters`.
  void set_table(int factor, std::span<const double> log_values);

  // ---- log Z
  // Sums what has changed.
  void run_up();
  // After run_up(). -inf where nothing is possible.
  [[nodiscard]] double log_z(int lane) const;
  // Certified unless the lane is_lossy().
  [[nodiscard]] LogBounds bounds(int lane) const;
  [[nodiscard]] bool is_lossy(int lane) const;

  // ---- derivatives, of the sum over lanes of weight times log Z; without weights, all are 1. Lanes where nothing is
  // possible, and those of weight 0, do not count.
  void run_down(std::span<const double> lane_weights = {});
  // After run_down(): the joint distribution of options.asked[index] times the weight of the lane, the last variable
  // fastest.
  void asked(int index, int lane, std::span<double> probabilities) const;
  // The number of times that each entry of a factor of `parameters` is expected to be used: the derivative with respect
  // to its logarithm, summed over lanes.
  void add_counts(int factor, std::span<double> counts) const;

 private:
  using Bucket = KeptBucket;
  void take_leaf(const KeptProgram& program, std::size_t leaf, std::span<const double> log_values,
                 std::span<const std::uint32_t> places, std::span<double> out);
  void sum_constants();
  void refresh_leaves();
  void sum_bucket(const Bucket& bucket);
  void normalise(const Bucket& bucket);
  void note_losses(const Bucket& bucket);
  void find_log_z();
  void clear_adjoint(int table);
  void bucket_down(const Bucket& bucket);

  std::shared_ptr<const KeptProgram> program_;
  std::vector<double> values_, adjoints_;        // of all tables
  std::vector<double> largest_, least_;          // by table and lane: of the entries above 0, or more and less
  std::vector<double> absolute_;                 // by table and lane: the error of an entry beyond the relative one
  std::vector<double> exponents_;                // by bucket and lane: the message times 2^exponent is what was summed
  std::vector<char> is_new_;                     // by table: changed since the last pass
  std::vector<double> log_maxima_, leaf_least_;  // by factor of the program
  std::vector<double> scratch_;
  std::vector<int> num_states_;       // by variable of the model
  std::vector<int> states_;           // by observed variable and lane
  std::vector<char> has_new_states_;  // by observed variable
  bool is_constant_new_ = false;
  double log_constant_ = 0.0, log_constant_error_ = 0.0, leaf_error_ = 0.0;
  std::vector<double> log_z_, log_z_error_;  // by lane
};

}  // namespace treesample
