// How often each entry of some tables is expected to be used, given data with missing values: what learning needs.
//
// With x the configuration and e(r) what is known of it in row r,
//
//   log likelihood   = sum over r of weight(r) log Z(e(r))
//   count of entry   = sum over r of weight(r) P(x agrees with the entry | e(r))
//                    = the derivative of the log likelihood with respect to the logarithm of the entry.
//
// Equal rows are counted together, and rows without missing values need no inference. All others share one kept
// elimination (exact/kept_elimination.hpp) of the whole model.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "treesample/model/factor_graph.hpp"
#include "treesample/stop.hpp"

namespace treesample {

struct ExpectedCountsOptions {
  int threads = 1;
  double order_work = 1e7;
  double most_entries = 1e9;
  double most_bytes = 4e9;
  std::uint64_t seed = 0;
};

class ExpectedCounts {
 public:
  // `rows` have a state for each variable of the model, or -1 where it is missing; `weights` one number from 0 on per
  // row, or none, which is 1 for all. The entries of the factors in `parameters`, one factor after the other, are what
  // count() is about. Throws Error: kArgument naming the row for a state that a variable does not have, for bad
  // weights, and for functions; kResource where the limits of the options do not suffice.
  ExpectedCounts(const FactorGraph& graph, std::span<const int> rows, std::span<const double> weights,
                 const std::vector<int>& parameters, const ExpectedCountsOptions& options = {});
  ~ExpectedCounts();
  ExpectedCounts(const ExpectedCounts&) = delete;
  ExpectedCounts& operator=(const ExpectedCounts&) = delete;

  [[nodiscard]] std::size_t num_entries() const;        // of all parameters
  [[nodiscard]] std::size_t num_distinct_rows() const;  // with missing values

  // Returns the log likelihood with these tables, and sets the counts. Throws Error (kArgument) naming a row that is
  // impossible with them. The same bits for any number of threads.
  double count(std::span<const double> log_tables, std::span<double> counts, const ShouldStop& should_stop = {});

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace treesample
