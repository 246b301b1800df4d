// Trained networks as leaf values: Q_phi of the tree search and the proposal of SMC.
//
//   Q_phi_n(a | x_<n) = offset(n) + network(a | x_<n, variable of n)
//   offset(n)         = log_states_below(n) + sum over the factors m of level n and below of log mean exp psi_m
//
// The offset is the value that Q_n would have if the remaining factors were independent; it does not depend on the
// prefix or the action. The squared error that training minimises is the paper's; only the parametrisation differs. The
// network need not learn the tens of nats between the first and the last level. Most of them come from factors that its
// read-out cannot see (4 iterations reach 4 edges far). Without the offset the error stayed at 30 to 40 nats^2 on
// FACTOR GRAPHS 2 (1.2 with it), and a search mixed values of different levels that did not agree: after 600 episodes
// it was no better than without a network.
//
// A network values prefixes, so it needs a space whose pseudo tree is a path (`tree`, `graph`). It accepts any order of
// the variables, but it was trained on one order and is only as good with that one.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "treesample/nn/gnn.hpp"
#include "treesample/nn/mlp.hpp"
#include "treesample/value/leaf_value.hpp"

namespace treesample {

using Network = std::variant<Mlp, Gnn>;

// The plan of a graph network for one graph; none for a perceptron. Throws kArgument if the network does not fit the
// graph (variables, states, kinds of factors, see GnnPlan).
std::optional<GnnPlan> plan_network(const Network& network, const FactorGraph& graph,
                                    std::span<const std::string> factor_kinds);

// The offset above for each level, for a path space. Reads each table once. A factor that is a function, or is -inf
// everywhere, adds 0.
std::vector<double> independent_values(const FactorGraph& graph, const SearchSpace& space);

// Several threads may use it at once: the network and the plan do not change, and each thread has its own working
// memory.
class NetworkValue final : public LeafValue {
 public:
  // `plan` must come from plan_network for this network and the graph of `space`. Throws kArgument if the pseudo tree
  // of the space branches.
  NetworkValue(std::shared_ptr<const Network> network, const std::optional<GnnPlan>& plan, const FactorGraph& graph,
               const SearchSpace& space);

  void q_values(int level, std::span<const int> prefixes, int count, std::span<double> q) const override;

 private:
  struct Target {
    int variable = 0;
    int num_states = 1;
    double offset = 0.0;
  };
  void run_network(int variable, std::span<const int> prefixes, std::span<float> out) const;

  std::shared_ptr<const Network> network_;
  std::optional<GnnEvaluator> evaluator_;
  std::vector<Target> targets_;  // by level
  int row_size_ = 0;             // outputs of the network per prefix
};

// One kind per factor, recognised by content, for models that were read from files:
//
//   "not"       a table {0, s, s, 0} over two binary variables, s != 0
//   "majority"  binary variables, s != 0 where at least half of them (or: more than half) are in state 1
//               and 0 elsewhere
//   "table"     everything else
//
// The first two are the factors of FACTOR GRAPHS 2 (families/factor_graphs_2.hpp) with any scale, in both readings.
// Values may be off by 1e-9 max(1, |s|), because files hold decimal numbers. A network that knows "table" but not these
// kinds reads such factors through their tables.
std::vector<std::string> detect_factor_kinds(const FactorGraph& graph);
// The kinds other than "table". A network that knows all of them needs no tables.
std::vector<std::string> described_factor_kinds();

// Loads a network from a file and prepares it for this model. Kinds of factors that are not given are detected. Throws
// kIo and kParse for a bad file, kArgument (naming the file) if it does not fit the model or the space.
std::shared_ptr<const NetworkValue> load_network_value(const std::filesystem::path& path, const FactorGraph& graph,
                                                       std::span<const std::string> factor_kinds,
                                                       const SearchSpace& space);

}  // namespace treesample
