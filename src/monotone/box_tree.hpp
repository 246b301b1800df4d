// Boxes that are cut in two again and again, each with the mass of the tables in it and bounds of the functions' sum.
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

#include "monotone/box.hpp"
#include "monotone/log_sum_tree.hpp"
#include "monotone/table_masses.hpp"
#include "treesample/math/log_bounds.hpp"

namespace treesample {

class BoxTree {
 public:
  struct Node {
    int parent = -1;
    int variable = -1, cut = 0;  // cut in two: the first child has the states below `cut`
    int children = -1;           // the first child; -1 for a leaf
    double log_mass = 0.0;
    double lower = 0.0, upper = 0.0;  // of the sum of the functions, anywhere in the box

    [[nodiscard]] bool is_leaf() const { return children < 0; }
    [[nodiscard]] bool is_decided() const { return lower >= upper || log_mass == kNegInf; }
    // log(mass (exp(upper) - exp(lower))): the unknown part of Z.
    [[nodiscard]] double log_gap() const;
  };

  BoxTree(const FactorGraph& graph, const TableMasses& masses);

  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  [[nodiscard]] const FactorGraph& graph() const { return *graph_; }
  [[nodiscard]] const TableMasses& masses() const { return *masses_; }
  [[nodiscard]] Box box(int node) const;
  // The leaf that contains a configuration.
  [[nodiscard]] int leaf(std::span<const int> x) const;
  [[nodiscard]] std::size_t bytes() const { return nodes_.size() * kBytesPerNode; }

  // Removes and returns the waiting leaf with the largest gap; none if all are decided.
  std::optional<int> next();
  // Makes a leaf wait for its turn, unless it is decided.
  void wait(int leaf);
  // Narrows the bounds; they never get wider. `magnitude` is that of the numbers whose sums they are.
  void tighten(int leaf, double lower, double upper, double magnitude);
  // Cuts a leaf in two; the two parts wait.
  void split(int leaf, int variable, int cut);

  // Bounds of log Z up to rounding, and that rounding.
  [[nodiscard]] LogBounds bounds() const { return {lower_.total(), upper_.total()}; }
  [[nodiscard]] double rounding() const;

 private:
  static constexpr std::size_t kBytesPerNode = sizeof(Node) + 8 * sizeof(double) + 32;
  struct Waiting {
    double log_gap;
    int node;
    bool operator<(const Waiting& other) const {
      return log_gap != other.log_gap ? log_gap < other.log_gap : node > other.node;
    }
  };
  void count(int leaf);

  const FactorGraph* graph_;
  const TableMasses* masses_;
  std::vector<Node> nodes_;
  std::vector<int> place_of_;  // of leaves, in the sums
  int num_places_ = 0;
  std::priority_queue<Waiting> waiting_;
  LogSumTree lower_, upper_;
  double magnitude_ = 1.0;
};

}  // namespace treesample
