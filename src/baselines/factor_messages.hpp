// All outgoing messages of one factor at once.
#pragma once

#include <span>
#include <vector>

namespace treesample {

class FactorMessages {
 public:
  // table: row-major over dims, last fastest, in the log domain. incoming[i] and outgoing[i] hold dims[i] log-values.
  // Writes, not normalised,
  //
  //   outgoing[i](x_i) = log sum over the other x_j of exp(table(x) + sum over j != i of incoming[j](x_j)).
  //
  // The scope is halved: summing out one half leaves a table over the other half, with about the square root of the
  // size, and so on down to single variables. That takes 2 exponentials per entry, whatever the number of variables;
  // computing one message after the other would take one per entry and variable.
  void compute(std::span<const double> table, std::span<const int> dims, std::span<const double* const> incoming,
               std::span<double* const> outgoing);

 private:
  void halve(const double* table, std::size_t first, std::size_t last, std::size_t depth);

  // The data that one call of halve keeps during its recursive calls.
  struct Workspace {
    std::vector<double> messages;  // sums of the incoming messages of a half, over its configurations
    std::vector<double> rest;      // the table over the other half
  };
  std::span<const int> dims_;
  std::span<const double* const> incoming_;
  std::span<double* const> outgoing_;
  std::vector<Workspace> workspaces_;  // by depth
  std::vector<double> terms_;
  std::vector<double> largest_;
};

}  // namespace treesample
