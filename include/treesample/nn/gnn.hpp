// The paper's second value function: a graph network (Battaglia et al. 2018) on the factor graph.
//
// Nodes: one per variable (features: its state one-hot, 0 when not assigned, and 16 hidden ones) and one per factor (16
// hidden features; "table" factors also an encoding of their table). Edges: two per (factor, variable of its scope),
// one each way, with 16 features. Hidden and edge features begin at 0. One iteration updates all edges, then all nodes:
//
//     edge  <- f(edge, variable node, factor node)    f: one per {to factor, to variable} x kind
//     node  <- g(sum of incoming edges, node)         g: one for variables, one per kind of factor
//
// with f, g perceptrons of three hidden ReLU layers of 16 and a linear output of 16. The one-hot state and the encoding
// stay inputs in every iteration. After 4 iterations a linear layer on the hidden features of the variable asked for
// gives its Q-values. The paper reads out at x_n for the values of x_{n+1}; we read at the variable to be assigned
// next, which needs no order and whose node sees the relevant factors (two neighbours in the order need not share any).
//
// With `global_after` = t > 0 a global value is added to all Q-values: w . (sum over the variables of their hidden
// features after iteration t). It is not in the paper. Most of the error is in the value that all states of a variable
// share, and this depends on factors farther away than the read-out sees. The value is a sum over variables because log
// Z of independent parts is a sum too.
//
// Evaluation is pruned and still exact. Only the nodes and edges on which the read-out depends are computed
// (src/nn/gnn_cone.hpp). Terms that depend only on the parameters and one state come from tables
// (src/nn/gnn_tables.hpp).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "treesample/nn/gnn_plan.hpp"
#include "treesample/nn/loss.hpp"
#include "treesample/nn/parameters.hpp"

namespace treesample {

class Random;

namespace nn {
struct GnnMemory;
struct GnnTables;
}  // namespace nn

class Gnn {
 public:
  Gnn(GnnOptions options, Random& random);

  [[nodiscard]] const GnnOptions& options() const { return options_; }
  [[nodiscard]] const Parameters& parameters() const { return parameters_; }
  [[nodiscard]] Parameters& parameters() { return parameters_; }

  // Offsets of one block in the parameters. The rows of the first weight are, in this order, the
  // hidden inputs in panels of 16, the one-hot state, the encoding.
  struct Block {
    std::size_t weight = 0;
    std::size_t one_hot = 0;
    std::size_t encoding = 0;
    std::size_t bias = 0;
    std::size_t tail = 0;  // the three further layers
    int in_panels = 0;
    bool has_one_hot = false;
    bool has_encoding = false;
  };
  [[nodiscard]] const Block& block(int index) const { return blocks_[index]; }
  [[nodiscard]] std::size_t readout_weight() const { return readout_weight_; }
  [[nodiscard]] std::size_t readout_bias() const { return readout_bias_; }
  [[nodiscard]] std::size_t global_weight() const { return global_weight_; }

 private:
  void add_block(const std::string& name, const Block& shape, Random& random);

  GnnOptions options_;
  Parameters parameters_;
  std::vector<Block> blocks_;  // in the order of src/nn/gnn_cone.hpp
  std::size_t readout_weight_ = 0;
  std::size_t readout_bias_ = 0;
  std::size_t global_weight_ = 0;  // only with options().global_after
};

// Working memory of one thread; grows on use and can be shared by networks and graphs of any size.
class GnnScratch {
 public:
  GnnScratch();
  ~GnnScratch();
  GnnScratch(GnnScratch&&) noexcept;
  GnnScratch& operator=(GnnScratch&&) noexcept;
  [[nodiscard]] nn::GnnMemory& memory() { return *memory_; }

 private:
  std::unique_ptr<nn::GnnMemory> memory_;
};

// A network on a graph, ready for evaluation by several threads at once, each with its own scratch. The network must
// not change while it is used here, because the tables would no longer match it.
class GnnEvaluator {
 public:
  // Throws kArgument if the plan was made for other options.
  GnnEvaluator(std::shared_ptr<const Gnn> network, GnnPlan plan);

  // q[r * num_states + a] = Q_phi(a | prefix r) of `variable`, for rows of num_variables states in `states` (-1: not
  // assigned). For a variable with fewer states, only its first entries mean anything. A batch gives the same bits as
  // its rows one by one.
  void q_values(int variable, std::span<const int> states, GnnScratch& scratch, std::span<float> q) const;

 private:
  std::shared_ptr<const Gnn> network_;
  GnnPlan plan_;
  std::shared_ptr<const nn::GnnTables> tables_;
};

// One regression example: Q(. | prefix) of one variable. Entries of `target` that are -inf are left out of the error:
// no finite output can reach them, and the search finds such states by itself.
struct GnnSample {
  const GnnPlan* plan = nullptr;  // samples of one batch may come from different graphs
  std::span<const int> states;    // one per variable; -1 if it is not assigned
  int variable = 0;
  std::span<const float> target;     // at most num_states
  std::span<const float> high = {};  // as many entries, if targets are intervals that begin at `target`
  Loss loss = Loss::kSquared;
  BellmanTerm bellman = {};
};

// Adds the gradient of the mean loss of the samples to `gradient` (aligned, as long as the parameters) and returns that
// loss. For the squared loss it is (1 / B) sum over all B samples and over a of (Q_phi(a) - target(a))^2.
double accumulate_gradient(const Gnn& network, std::span<const GnnSample> samples, GnnScratch& scratch,
                           std::span<float> gradient);

}  // namespace treesample
