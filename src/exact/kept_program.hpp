// What a kept elimination does: tables, where they are in memory, and the buckets in their order. It never changes, and
// copies of a KeptElimination share it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "treesample/exact/kept_elimination.hpp"

namespace treesample {

// One variable is summed out.
struct KeptBucket {
  // Tables over the same few variables are multiplied first.
  struct Group {
    int table = 0;
    std::vector<int> members;
    std::vector<std::vector<std::uint32_t>> places = {};  // by member and entry of the product
  };
  struct Operand {
    int table = 0;
    std::vector<std::uint32_t> offsets;  // by block
    std::size_t state_stride = 0;
    std::size_t repeat = 1;   // BlockInput::repeat
    std::size_t scratch = 0;  // then, where room for two runs begins
  };

  int message = 0;
  std::size_t num_states = 1, num_blocks = 1, run = 1;
  std::vector<int> inputs;
  std::vector<Group> groups;
  std::vector<Operand> runs, constants;
  std::size_t exponents = 0;  // where those of its message begin
};

inline constexpr const char* kKeptElimination = "KeptElimination";  // for messages

struct KeptProgram {
  using Group = KeptBucket::Group;
  using Operand = KeptBucket::Operand;
  using Bucket = KeptBucket;
  // A factor, weights, a message, or a product of some of these.
  struct Table {
    std::vector<int> scope;  // variables of `shape` in the order of removal; the last one is the fastest
    std::size_t size = 1;    // entries, for one lane
    bool by_lane = false;    // has an entry for each lane
    bool is_wanted = false;  // its derivatives are needed
    std::size_t values = 0, adjoints = 0, extents = 0;  // where its numbers begin
  };
  // A table with the entries of a factor; where variables are observed, a part of them.
  struct Leaf {
    int table = 0;
    int factor = 0;
    std::vector<std::uint32_t> places =
        {};  // the entry of the factor, by entry of the table; observed states come on top
    std::vector<std::pair<int, std::size_t>> cuts = {};  // place in `observed`, and the step from state to state
    std::vector<double> whole = {};                      // the factor's entries, of one with cuts
  };

  KeptProgram(const FactorGraph& graph, const KeptOptions& options);

  [[nodiscard]] std::size_t lanes_of(const Table& table) const {
    return table.by_lane ? static_cast<std::size_t>(num_lanes) : 1;
  }

  [[nodiscard]] bool is_message(int table) const { return is_message_[table] != 0; }

  int num_lanes = 1;
  FactorGraph shape;             // of the variables that are summed out, without factors
  std::vector<int> variable_of;  // of the model, by variable of `shape`
  std::vector<int> order;        // of the variables of `shape`
  std::vector<int> observed;     // variables of the model
  std::vector<int> observed_at;  // by variable of the model: its place in `observed`, or -1
  std::vector<Table> tables;
  std::vector<Leaf> leaves;
  std::vector<int> leaf_of_factor;                       // by factor of the model, -1 for those without
  std::vector<int> weights_of;                           // by variable of the model: its table of weights, or -1
  std::vector<int> asked_tables;                         // by place in options.asked
  std::vector<std::vector<std::uint32_t>> asked_places;  // the entry of the table, by entry of what was asked
  std::vector<Bucket> buckets;                           // in the order of removal
  std::vector<int> roots;                                // tables without variables, whose product is Z
  double log_constant = 0.0, log_constant_error = 0.0;
  double rounding = 0.0;  // relative, of all sums and products
  double num_entries = 0.0;
  std::size_t num_values = 0, num_leaf_adjoints = 0, num_adjoints = 0, num_extents = 0, num_exponents = 0,
              num_scratch = 0;

 private:
  void add_variables(const FactorGraph& graph, const KeptOptions& options, const ModelPart& part);
  int add_table(std::vector<int> scope, bool by_lane, bool is_wanted);
  void add_factor(const FactorGraph& graph, int factor, bool is_parameter);
  int add_weights(std::vector<int> scope);
  void find_order(const FactorGraph& graph, const KeptOptions& options);
  void sort_scopes(const FactorGraph& graph, const KeptOptions& options);
  void add_buckets();
  void choose_lanes(const KeptOptions& options);
  void make_operands(Bucket& bucket, int v);
  void make_lane_operands(Bucket& bucket, int v);
  void make_block_operands(Bucket& bucket, int v);
  void add_group(Bucket& bucket, std::vector<int> members, std::vector<int> scope, std::vector<int>& direct);
  void add_operands(Bucket& bucket, int v, const std::vector<int>& direct, std::size_t num_outer);
  void place_numbers();
  void place_adjoints();
  [[nodiscard]] std::size_t room_of(const Table& table) const;
  [[nodiscard]] std::size_t size_of(const std::vector<int>& scope) const;
  [[nodiscard]] std::vector<int> united(const std::vector<int>& a, const std::vector<int>& b) const;

  std::vector<int> time_;  // of removal, by variable of `shape`
  std::vector<int> local_of_;
  std::vector<char> is_message_;  // by table
};

// The entries of a table with these strides along a scope, by entry of a table over the scope.
std::vector<std::uint32_t> places_of(const FactorGraph& shape, const std::vector<std::size_t>& strides,
                                     const std::vector<int>& scope);

}  // namespace treesample
