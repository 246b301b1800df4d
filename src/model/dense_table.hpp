// Algebra on dense log-domain tables: products of tables with different scopes, and sums over one variable, without
// ever storing the product.
//
// A product over a large scope is visited in blocks of consecutive entries that fit into the fastest cache. The scope
// of each table in the product is part of the large one; model/table_index.hpp computes where its entries are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/table_index.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

// A table that lives elsewhere, and must outlive this view.
struct TableView {
  std::span<const int> scope;
  const double* values = nullptr;
  double shift = 0.0;  // is subtracted from every entry in a product
};

// Product of the numbers of states. The caller must know that it fits into the type.
std::size_t num_table_entries(const FactorGraph& graph, std::span<const int> scope);

class BlockWalk {
 public:
  // The walk begins at the first block.
  BlockWalk(const FactorGraph& graph, std::span<const int> scope);

  // Registers a table over a subset of the scope, in any order of variables; returns its id, counted from 0. Call it
  // before next().
  int add_table(std::span<const int> scope);

  [[nodiscard]] std::size_t block_size() const { return block_size_; }
  [[nodiscard]] std::size_t num_blocks() const { return num_blocks_; }
  // Position of the block's first entry in the large table.
  [[nodiscard]] std::size_t first_entry() const { return first_entry_; }
  // Moves to the next block. After the last one it returns false and is back at the first block.
  bool next();
  // Moves to the block of this number, from 0 on.
  void seek(std::size_t block);
  // The same, and quicker if that is the next block.
  void move_to(std::size_t block);
  // The position of the first entry of the table that belongs to this block. Blocks with equal offsets use the same
  // entries of the table; blocks with different offsets share none.
  [[nodiscard]] std::size_t offset(int id) const { return tables_[id].offset; }
  // The variables that have one state within a block; the last one changes fastest from block to block.
  [[nodiscard]] std::span<const int> outer_scope() const { return {scope_.data(), num_outer_}; }
  [[nodiscard]] bool has_outer(int id, std::size_t place) const { return tables_[id].place.outer_strides[place] != 0; }
  // The number of entries of the table that belong to a block. They are consecutive if the table's variables have the
  // order of the scope.
  [[nodiscard]] std::size_t inner_size(int id) const;
  [[nodiscard]] const FactorGraph& graph() const { return graph_; }

  // A registered table that takes part in a sum.
  struct Term {
    int id = 0;
    const double* values = nullptr;
    double shift = 0.0;
  };
  // block[i] = constant + the entry of one table + the entry of another. The bits are the same as for setting the
  // constant and adding twice.
  void set_sum(double constant, const Term& one, const Term& other, std::span<double> block) const;
  // block[i] += the entry of the table that belongs to entry i of the block, minus the shift.
  void add(int id, const double* values, std::span<double> block, double shift = 0.0) const {
    add_at(tables_[id].offset, id, values, block, shift);
  }
  // block[i] *= the entry of the table.
  void multiply(int id, const double* values, std::span<double> block) const;
  // The reverse: every entry of the block is added to the table entry that it belongs to.
  void accumulate(int id, std::span<const double> block, double* values) const {
    accumulate_at(tables_[id].offset, id, block, values);
  }
  // The same with the maximum in place of the sum.
  void accumulate_max(int id, std::span<const double> block, double* values) const {
    accumulate_max_at(tables_[id].offset, id, block, values);
  }
  // The same three for a block with this offset(), wherever the walk stands.
  void add_at(std::size_t offset, int id, const double* values, std::span<double> block, double shift = 0.0) const;
  void accumulate_at(std::size_t offset, int id, std::span<const double> block, double* values) const;
  void accumulate_max_at(std::size_t offset, int id, std::span<const double> block, double* values) const;

 private:
  struct Table {
    TablePlace place;
    std::size_t offset = 0;
  };

  const FactorGraph& graph_;
  std::vector<int> scope_;
  std::size_t num_outer_ = 0;
  std::size_t block_size_ = 1, num_blocks_ = 1;
  std::size_t first_entry_ = 0;
  std::vector<int> outer_states_;
  std::vector<Table> tables_;
};

// Adds a table over `scope` into one over a subset of it: sums[x_part] += the sum of all entries that agree with
// x_part.
void add_sums(const FactorGraph& graph, std::span<const int> scope, const double* values, std::span<const int> part,
              double* sums);

// Some of the scopes that were passed in, and their union in the order of the large scope.
struct ScopeGroup {
  std::vector<int> scope;
  std::vector<int> members;
};

// Partitions subsets of `scope` so that the union of each group stays small. One pass over a small table per group
// instead of one per member saves most passes over the large table.
std::vector<ScopeGroup> group_scopes(const FactorGraph& graph, std::span<const int> scope,
                                     const std::vector<std::span<const int>>& subsets);

// The sum of tables (a product of potentials), block by block, over a scope that contains all of theirs.
class TableProduct {
 public:
  TableProduct(const FactorGraph& graph, std::span<const int> scope, const std::vector<TableView>& tables);

  // The caller moves the walk, and may register further tables.
  BlockWalk& walk() { return walk_; }
  // block = constant + the sum of the tables at the block where the walk stands.
  void fill(double constant, std::span<double> block) const { fill(walk_, constant, block); }
  // The same at the position of another walk: for a thread that has its own copy.
  void fill(const BlockWalk& walk, double constant, std::span<double> block) const;

 private:
  BlockWalk walk_;
  std::vector<std::vector<double>> combined_;  // one small table for each group of several tables
  std::vector<BlockWalk::Term> terms_;         // in walk_
};

// out[r] = weight * log of the sum of exp(entry / weight) over the num_states consecutive entries of
// row r. The weight is not 0, and positive when entries are -inf. Overwrites the block.
void log_sum_rows(std::span<double> block, int num_states, double weight, double* out);

}  // namespace treesample
