// A Bayesian network while a file is read that declares variables and gives each of them one table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "source_text.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

// All messages point into the source: kParse as "file:line: ...", with the line of `offset`.
class NetworkDraft {
 public:
  explicit NetworkDraft(SourceText source);

  // Returns the index. Refuses a name that is taken, a state that is named twice, and too many or no states.
  int declare(std::string name, std::vector<std::string> states, std::size_t offset);
  // Refuses a name that was not declared.
  [[nodiscard]] int find(std::string_view name, std::size_t offset) const;
  // The number of combinations of the parents' states. Refuses a table that is too large for a model, or for a file of
  // this size: so a short file cannot take all memory.
  std::size_t begin_table(int child, const std::vector<int>& parents, std::size_t offset);
  // The child's states vary fastest, then those of the last parent. Refuses a second table for the same variable.
  void define(int child, std::vector<int> parents, std::vector<double> log_values, std::size_t offset);
  // A decision: it has no table.
  void leave_open(int variable) { has_table_[variable] = 1; }
  // Refuses a variable without a table.
  FactorGraph finish(std::size_t offset);

  [[nodiscard]] const FactorGraph& graph() const { return graph_; }
  [[nodiscard]] const SourceText& source() const { return source_; }
  [[nodiscard]] std::string shown(int variable) const;
  // A logarithm, or kParse for a token that is no finite number of at least 0.
  [[nodiscard]] double log_of(std::string_view token, std::size_t offset) const;
  [[noreturn]] void fail(std::size_t offset, std::string_view message) const;

 private:
  SourceText source_;
  FactorGraph graph_;
  std::unordered_map<std::string, int> variables_;
  std::vector<char> has_table_;  // per variable
  std::int64_t entries_left_;
};

}  // namespace treesample
