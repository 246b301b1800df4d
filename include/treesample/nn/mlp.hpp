// The paper's first value function: a multi-layer perceptron over one fixed set of variables.
//
// Input: the prefix, one-hot (num_variables x num_states entries, 0 for variables that are not assigned), and the
// variable whose Q-values are asked for, one-hot. Output: num_states Q-values.
//
// The variable is an input; the alternative would be num_variables x num_states outputs. As an input, every sample
// trains every weight of the output layer, and a batch is one matrix product whatever its variables. In the paper's
// fixed order the prefix already determines the variable, so the function class is the paper's. In spaces where the
// prefix does not determine it (`andor`), the network still knows the variable.
//
// Cost: the one-hot layer adds one row of weights per assigned variable. The time for a single state is that of reading
// the weights (0.85 MB with the paper's sizes); about half of them meet a 0 and are skipped.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "treesample/nn/loss.hpp"
#include "treesample/nn/parameters.hpp"

namespace treesample {

class Random;

struct MlpOptions {
  int num_variables = 0;
  int num_states = 2;                              // the largest number of states of a variable
  std::vector<int> hidden = {256, 256, 256, 256};  // widths of the ReLU layers, multiples of 16

  // Throws kArgument.
  void validate() const;
};

// One regression example: Q(. | prefix) of one variable. Entries of `target` that are -inf are left out of the error:
// no finite output can reach them, and the search finds such states by itself.
struct MlpSample {
  std::span<const int> states;  // one per variable; -1 if it is not assigned
  int variable = 0;
  std::span<const float> target;     // at most num_states
  std::span<const float> high = {};  // as many entries, if targets are intervals that begin at `target`
  Loss loss = Loss::kSquared;
  BellmanTerm bellman = {};
};

// Working memory of one thread; grows on use and can be shared by networks of any size.
class MlpScratch {
 public:
  MlpScratch();
  ~MlpScratch();
  MlpScratch(MlpScratch&&) noexcept;
  MlpScratch& operator=(MlpScratch&&) noexcept;
  struct Memory;
  [[nodiscard]] Memory& memory() { return *memory_; }

 private:
  std::unique_ptr<Memory> memory_;
};

// Const functions may be called by several threads at once, each with its own scratch.
class Mlp {
 public:
  Mlp(MlpOptions options, Random& random);

  [[nodiscard]] const MlpOptions& options() const { return options_; }
  [[nodiscard]] const Parameters& parameters() const { return parameters_; }
  [[nodiscard]] Parameters& parameters() { return parameters_; }

  // q[r * num_states + a] = Q_phi(a | prefix r) of `variable`, for the rows of num_variables states in
  // `states` (-1: not assigned). A batch gives the same bits as its rows one by one.
  void q_values(int variable, std::span<const int> states, MlpScratch& scratch, std::span<float> q) const;

  // Adds the gradient of (1 / B) sum over the B samples and over a of (Q_phi(a) - target(a))^2 to
  // `gradient` (aligned, as long as the parameters) and returns that error.
  double accumulate_gradient(std::span<const MlpSample> samples, MlpScratch& scratch, std::span<float> gradient) const;

  // For a loss of all rows together. The rows and `q` are those of q_values(); `differentiate` writes the derivative of
  // the loss with respect to each entry of q into `g`, which is 0 at first. Adds the gradient of the loss with respect
  // to the parameters to `gradient` (aligned, as long as the parameters).
  using LossGradient = std::function<void(std::span<const float> q, std::span<float> g)>;
  void accumulate_gradient(int variable, std::span<const int> states, const LossGradient& differentiate,
                           MlpScratch& scratch, std::span<float> gradient) const;

 private:
  struct Layer {
    std::size_t weight = 0;
    std::size_t bias = 0;
    int rows = 0;
    int columns = 0;
  };
  void forward(MlpScratch::Memory& memory) const;
  void backward(MlpScratch::Memory& memory, std::span<float> gradient) const;

  MlpOptions options_;
  Parameters parameters_;
  std::vector<Layer> layers_;
};

}  // namespace treesample
