// Tables that are products: if the rest of a table does not depend on a variable, the variable can have its own table.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace treesample {

struct SplitTable {
  std::vector<double> own;   // by state of the variable
  std::vector<double> rest;  // entries of the other variables, in their order
  double error = 0.0;        // own + rest differ from the table by at most this
};

// log T(x) = own(x_v) + rest(others) for all entries, including zeros, up to rounding. None if this does not hold.
// `num_states` are those of the scope, the last variable fastest.
std::optional<SplitTable> split_off(std::span<const int> num_states, std::span<const double> log_values,
                                    std::size_t position);

}  // namespace treesample
