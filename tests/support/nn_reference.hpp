// The networks in plain double precision: every node and edge in every iteration, no tables, no panels. The values of
// the fast versions are compared with these, and their gradients with finite differences of these.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "nn/table_encoding.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/nn/gnn_plan.hpp"
#include "treesample/nn/mlp.hpp"
#include "treesample/nn/parameters.hpp"

namespace treesample::test {

using Vector = std::vector<double>;

// The tensors of a network by name, row-major. Entries can be changed for finite differences.
class ReferenceTensors {
 public:
  explicit ReferenceTensors(const std::vector<NamedTensor>& tensors) {
    for (const NamedTensor& tensor : tensors) values_[tensor.name].assign(tensor.values.begin(), tensor.values.end());
  }
  Vector& operator[](const std::string& name) { return values_.at(name); }
  [[nodiscard]] const Vector& values(const std::string& name) const { return values_.at(name); }

  // x W + b of the layer `name`.
  [[nodiscard]] Vector affine(const std::string& name, const Vector& x) const {
    Vector y = values_.at(name + ".bias");
    const Vector& weight = values_.at(name + ".weight");
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (std::size_t j = 0; j < y.size(); ++j) y[j] += x[i] * weight[i * y.size() + j];
    }
    return y;
  }

  // Layers name0, name1, ...: ReLU after all except the last.
  [[nodiscard]] Vector perceptron(const std::string& name, Vector x, int num_layers) const {
    for (int l = 0; l < num_layers; ++l) {
      x = affine(name + std::to_string(l), x);
      if (l + 1 == num_layers) break;
      for (double& value : x) value = value > 0.0 ? value : 0.0;
    }
    return x;
  }

 private:
  std::map<std::string, Vector> values_;
};

inline Vector reference_mlp(const ReferenceTensors& tensors, const MlpOptions& options, std::span<const int> states,
                            int variable) {
  Vector x(static_cast<std::size_t>(options.num_variables * (options.num_states + 1)), 0.0);
  for (int v = 0; v < options.num_variables; ++v) {
    if (states[v] >= 0) x[v * options.num_states + states[v]] = 1.0;
  }
  x[options.num_variables * options.num_states + variable] = 1.0;
  return tensors.perceptron("layer", x, static_cast<int>(options.hidden.size()) + 1);
}

// A graph with the kind of each factor, in the form that the network takes.
struct KindedGraph {
  FactorGraph graph;
  std::vector<std::string> kinds;
};

inline Vector concatenate(std::initializer_list<Vector> parts) {
  Vector all;
  for (const Vector& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

inline Vector reference_gnn(const ReferenceTensors& tensors, const GnnOptions& options, const KindedGraph& model,
                            std::span<const int> states, int variable) {
  constexpr int kLayers = 4;
  const FactorGraph& graph = model.graph;
  const auto plain = [](const nn::Encoding& code) { return Vector(code.begin(), code.end()); };
  std::vector<Vector> state(static_cast<std::size_t>(graph.num_variables()), Vector(options.num_states, 0.0));
  for (int v = 0; v < graph.num_variables(); ++v) {
    if (states[v] >= 0) state[v][states[v]] = 1.0;
  }
  std::vector<Vector> variables(static_cast<std::size_t>(graph.num_variables()), Vector(16, 0.0));
  std::vector<Vector> factors(static_cast<std::size_t>(graph.num_factors()), Vector(16, 0.0));
  struct Link {
    int factor, variable;
    Vector to_factor = Vector(16, 0.0), to_variable = Vector(16, 0.0), code = {};
  };
  std::vector<Link> links;
  for (int m = 0; m < graph.num_factors(); ++m) {
    const Factor& factor = graph.factor(m);
    const bool is_table = model.kinds[m] == kTableKind;
    for (int i = 0; i < static_cast<int>(factor.scope().size()); ++i) {
      links.push_back({.factor = m, .variable = factor.scope()[i]});
      if (is_table) links.back().code = plain(nn::encode_edge(graph, factor, i));
    }
  }
  double global_value = 0.0;
  for (int t = 0; t < options.iterations; ++t) {
    std::vector<Vector> into_variable(variables.size(), Vector(16, 0.0));
    std::vector<Vector> into_factor(factors.size(), Vector(16, 0.0));
    for (Link& link : links) {
      const std::string name = "edge." + model.kinds[link.factor];
      const Vector ends =
          concatenate({variables[link.variable], factors[link.factor], state[link.variable], link.code});
      link.to_factor = tensors.perceptron(name + ".to_factor.layer", concatenate({link.to_factor, ends}), kLayers);
      link.to_variable =
          tensors.perceptron(name + ".to_variable.layer", concatenate({link.to_variable, ends}), kLayers);
      for (int i = 0; i < 16; ++i) {
        into_factor[link.factor][i] += link.to_factor[i];
        into_variable[link.variable][i] += link.to_variable[i];
      }
    }
    for (std::size_t v = 0; v < variables.size(); ++v) {
      variables[v] =
          tensors.perceptron("node.variable.layer", concatenate({into_variable[v], variables[v], state[v]}), kLayers);
    }
    for (std::size_t m = 0; m < factors.size(); ++m) {
      const bool is_table = model.kinds[m] == kTableKind;
      const Vector code = is_table ? plain(nn::encode_table(graph, graph.factor(static_cast<int>(m)))) : Vector();
      factors[m] = tensors.perceptron("node.factor." + model.kinds[m] + ".layer",
                                      concatenate({into_factor[m], factors[m], code}), kLayers);
    }
    if (t + 1 != options.global_after) continue;
    for (const Vector& features : variables) {
      for (int i = 0; i < 16; ++i) global_value += features[i] * tensors.values("global.weight")[i];
    }
  }
  Vector q = tensors.affine("readout", variables[variable]);
  for (double& value : q) value += global_value;
  return q;
}

}  // namespace treesample::test
