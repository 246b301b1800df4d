// A factor whose values a UM-Bridge server computes (protocol 1.0, over HTTP). The description says which numbers the
// server gets for which states, and what its output means. In a model file these are fields of a program
// (docs/model_file.md):
//
//   {"umbridge": "http://localhost:4242", "model": "forward", "inputs": [["depth", "width", 9.81]],
//    "numbers": {"depth": [0.5, 1, 2]}, "output": [0, 0], "transform": "minus", "scale": 0.5, "config": {"level": 1}}
#pragma once

#include <string>
#include <vector>

namespace treesample {

struct UmBridgeDescription {
  // One entry of an input vector.
  struct Input {
    int variable = -1;            // index in the model, or -1 for a constant
    std::vector<double> numbers;  // one for each state, or the constant
  };
  // The log-value is `scale` times y, log y or -y, where y is the chosen entry of the output.
  enum class Transform { kNone, kLog, kMinus };

  std::string url;  // http://host[:port][/path]
  std::string model;
  std::vector<std::vector<Input>> inputs;  // empty: one vector with the states of the factor's scope, in its order
  int output_vector = 0;
  int output_entry = 0;
  Transform transform = Transform::kNone;
  double scale = 1.0;
  std::string config = "{}";  // JSON, passed to the server unchanged
};

}  // namespace treesample
